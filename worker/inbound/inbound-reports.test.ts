import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { sql } from '../../shared/database/sql.ts';
import { recordTransactionalResults } from '../../shared/domain/emails/delivery-results.ts';
import { bounceSelectionSchema, undoBounces } from '../../shared/domain/emails/undo-bounces.ts';
import { query } from '../../tests/support/rows.ts';
import { dsn, startTestInbound, type TestInbound } from '../../tests/support/inbound.ts';

let inbound: TestInbound;
beforeAll(async () => {
  inbound = await startTestInbound();
});
afterAll(() => inbound.stop());

const sentMail: TestInbound['sentMail'] = (options) => inbound.sentMail(options);
const stateOf: TestInbound['stateOf'] = (mail) => inbound.stateOf(mail);
const deliver: TestInbound['deliver'] = (...message) => inbound.deliver(...message);

describe('a delivery report', () => {
  it('about several recipients counts for the one that the email went to', async () => {
    const [dead, alive, forwarded] = [await sentMail(), await sentMail(), await sentMail()];
    const groups = (address: string, status: string): string =>
      `Final-Recipient: rfc822; ${address}\r\nAction: failed\r\nStatus: ${status}\r\n\r\n`;
    const about = (...recipients: [string, string][]): string =>
      dsn({ action: 'expanded', status: '2.0.0' }).replace(
        'Final-Recipient: rfc822; somebody',
        `${recipients.map(([address, status]) => groups(address, status)).join('')}Final-Recipient: rfc822; somebody`,
      );
    await deliver(inbound.verp.returnPath(dead.emailId), about(['x@y.test', '5.2.2'], [dead.address, '5.1.1']));
    await deliver(inbound.verp.returnPath(alive.emailId), about(['x@y.test', '5.1.1'], [alive.address, '5.2.2']));
    await deliver(inbound.verp.returnPath(forwarded.emailId), about(['x@y.test', '5.1.1'], ['z@y.test', '5.7.1']));
    const written = await sentMail();
    const rewritten = sql`update email set to_address = 'reader@bücher.test' where id = ${written.emailId}`;
    await query(inbound.database.orm.em.fork(), rewritten);
    const report = about(['x@y.test', '5.2.2'], ['Reader@XN--bcher-kva.test', '5.1.1']);
    await deliver(inbound.verp.returnPath(written.emailId), report);
    expect((await stateOf(written)).status).toBe('BOUNCED');
    expect((await stateOf(dead)).status).toBe('BOUNCED');
    expect(await stateOf(alive)).toMatchObject({ status: 'SENT', subscribed: true, events: ['email.bounce'] });
    expect(await stateOf(forwarded)).toMatchObject({ status: 'SENT', subscribed: true, events: ['email.bounce'] });
  });

  it.each<[string, string, string, object]>([
    ['ours got the email', 'delivered', 'ours', { status: 'DELIVERED', events: ['email.delivery'] }],
    ['ours still waits', 'delayed', 'ours', { status: 'SENT', events: [] }],
    ['another one got it', 'relayed', 'z@y.test', { status: 'DELIVERED', events: ['email.delivery'] }],
    ['another one still waits', 'delayed', 'z@y.test', { status: 'SENT', events: [] }],
  ])('of a dead address among several counts for nobody when %s', async (_name, action, other, state) => {
    const mail = await sentMail();
    const group = `Final-Recipient: rfc822; x@y.test\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n`;
    const recipient = other === 'ours' ? mail.address : other;
    const report = dsn({ recipient, action, status: action === 'delayed' ? '4.4.1' : '2.0.0', diagnostic: '' });
    const named = report.replace('Final-Recipient', `${group}Final-Recipient`);
    await deliver(inbound.verp.returnPath(mail.emailId), named);
    expect(await stateOf(mail)).toMatchObject({ ...state, subscribed: true, suppression: undefined });
  });

  it('about several dead recipients is quoted with the words about ours', async () => {
    const mail = await sentMail();
    const group = `Final-Recipient: rfc822; x@y.test\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n`;
    const report = dsn({ recipient: mail.address, diagnostic: 'smtp; 550 5.1.1 Ours is unknown' });
    await deliver(inbound.verp.returnPath(mail.emailId), report.replace('Final-Recipient', `${group}Final-Recipient`));
    expect((await stateOf(mail)).data).toContainEqual(
      expect.objectContaining({ bounceType: 'hard', diagnostic: '550 5.1.1 Ours is unknown' }),
    );
  });

  it('of failure keeps its words when it arrives before the sending is recorded', async () => {
    const mail = await sentMail();
    const em = inbound.database.orm.em.fork();
    const claimToken = uuidV7();
    const { emailId } = mail;
    await query(
      em,
      sql`update email set status = 'SENDING', claim_token = ${claimToken}, error = 'deferred' where id = ${emailId}`,
    );
    await deliver(inbound.verp.returnPath(emailId), dsn());
    const sent = { emailId, verdict: 'sent', subject: null, error: null } as const;
    await recordTransactionalResults(em, inbound.projectId, claimToken, [sent], [10]);
    const [row] = await query(em, sql`select status, error from email where id = ${emailId}`);
    expect(row).toEqual({ status: 'BOUNCED', error: '550 5.1.1 No such user' });
    const selection = { since: new Date(Date.now() - 60_000).toISOString(), words: 'no such user' };
    await undoBounces(em, inbound.projectId, bounceSelectionSchema.parse(selection));
    expect(await stateOf(mail)).toMatchObject({ status: 'BOUNCED', subscribed: true, suppression: undefined });
  });
});
