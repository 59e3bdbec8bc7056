import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { EventEntity } from '../../tests/support/entities/event.entity.ts';
import { WORKER_LIMITS } from '../../shared/database/session-limits.ts';
import { createOrm } from '../../shared/domain/schema/orm.ts';
import { recordTransactionalResults } from '../../shared/domain/emails/delivery-results.ts';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { eventually } from '../../tests/support/eventually.ts';
import {
  answer,
  complaint,
  dsn,
  INBOUND_DOMAIN as DOMAIN,
  startTestInbound,
  type TestInbound,
} from '../../tests/support/inbound.ts';
import { createReportRecorder } from './inbound-reports.ts';

let inbound: TestInbound;
beforeAll(async () => {
  inbound = await startTestInbound();
});
afterAll(() => inbound.stop());

const sentMail: TestInbound['sentMail'] = (options) => inbound.sentMail(options);
const stateOf: TestInbound['stateOf'] = (mail) => inbound.stateOf(mail);
const deliver: TestInbound['deliver'] = (...args) => inbound.deliver(...args);

describe('a delivery report', () => {
  it('of a permanent failure bounces the email once, suppresses the address and unsubscribes its contact', async () => {
    const mail = await sentMail();
    const report = dsn();
    const path = inbound.verp.returnPath(mail.emailId);
    expect(await deliver(path, report)).toMatch(/^250/);
    expect(await deliver(path.toUpperCase(), report)).toMatch(/^250/);
    expect(await deliver(path, dsn())).toMatch(/^250/);
    const state = await stateOf(mail);
    expect(state).toMatchObject({
      status: 'BOUNCED',
      counts: [0, 1, 0],
      subscribed: false,
      suppression: 'HARD_BOUNCE',
      events: ['contact.unsubscribed', 'email.bounce'],
    });
    expect(state.data).toContainEqual(
      expect.objectContaining({
        emailId: mail.emailId,
        subject: 'News',
        from: 'news@example.com',
        to: mail.address,
        campaignId: mail.campaignId,
        bounceType: 'hard',
        diagnostic: '550 5.1.1 No such user',
      }),
    );
  });

  it.each([
    ['a transient failure', { status: '4.2.2', diagnostic: 'smtp; 452 4.2.2 Mailbox full' }],
    ['a full mailbox', { status: '5.2.2', diagnostic: 'smtp; 552 5.2.2 Over quota' }],
    ['a policy', { status: '5.7.1', diagnostic: 'smtp; 550 5.7.1 Blocked' }],
  ])('of %s is recorded once for each report, and changes nothing else', async (_name, words) => {
    const mail = await sentMail();
    const report = dsn(words);
    for (const raw of [report, report, dsn(words)]) await deliver(inbound.verp.returnPath(mail.emailId), raw);
    const state = await stateOf(mail);
    expect(state).toMatchObject({
      status: 'SENT',
      counts: [0, 0, 0],
      subscribed: true,
      suppression: undefined,
      events: ['email.bounce', 'email.bounce'],
    });
    expect(state.data[0]).toMatchObject({ bounceType: 'soft' });
  });

  it.each(['delivered (to mailbox)', 'relayed', 'expanded'])(
    'of success (%s) sets the email to DELIVERED once, and one of a delay changes nothing',
    async (action) => {
      const mail = await sentMail();
      const path = inbound.verp.returnPath(mail.emailId);
      await deliver(path, dsn({ action: 'delayed', status: '4.4.1' }));
      expect(await stateOf(mail)).toMatchObject({ status: 'SENT', events: [] });
      for (let i = 0; i < 2; i++) await deliver(path, dsn({ action, status: '2.0.0' }));
      expect(await stateOf(mail)).toMatchObject({ status: 'DELIVERED', counts: [1, 0, 0], events: ['email.delivery'] });
    },
  );

  it('of success counts each email once, with many others at the same time', async () => {
    const first = await sentMail();
    const mails = [first];
    while (mails.length < 20) mails.push(await sentMail());
    const em = inbound.database.orm.em.fork();
    const { campaignId } = first;
    await query(
      em,
      sql`update email set campaign_id = ${campaignId}, campaign_seq = abs(hashtext(id::text)) where id = any(${mails.map(({ emailId }) => emailId)}::uuid[])`,
    );
    const receipt = dsn({ action: 'delivered', status: '2.0.0' });
    const paths = mails.map(({ emailId }) => inbound.verp.returnPath(emailId));
    // One email is locked, as by the statement that records its sending. The others do not wait for it.
    const holder = inbound.database.orm.em.fork();
    await holder.begin();
    await query(holder, sql`select from email where id = ${first.emailId} for update`);
    const replies = Promise.all([...paths, ...paths].map((path) => deliver(path, receipt)));
    try {
      await eventually(async () => {
        const [row] = await query(
          em,
          sql`select count(*) from email where campaign_id = ${campaignId} and status = 'DELIVERED'`,
        );
        return (row?.count ?? 0) > 0;
      });
    } finally {
      await holder.commit();
    }
    expect((await replies).every((reply) => reply.startsWith('250'))).toBe(true);
    const { deliveredCount } = await inbound.database.orm.em.fork().findOneOrFail(CampaignEntity, { id: campaignId });
    expect(deliveredCount).toBe(mails.length);
    for (const { contactId } of mails) {
      expect(await inbound.database.orm.em.fork().count(EventEntity, { contactId, name: 'email.delivery' })).toBe(1);
    }
  });

  it('of success does not wait for the locked campaign of another project', async () => {
    const [held, other] = [await sentMail(), await sentMail()];
    const orm = await createOrm({
      databaseUrl: inbound.database.url,
      poolSize: 3,
      limits: { ...WORKER_LIMITS, lockMs: 100 },
    });
    const record = createReportRecorder(() => orm.em.fork());
    const receipt = [{ recipient: '', action: 'delivered', status: '2.0.0', diagnostic: '', remoteMta: '' }];
    const holder = inbound.database.orm.em.fork();
    await holder.begin();
    try {
      await query(holder, sql`select from campaign where id = ${held.campaignId} for update`);
      // Both arrive at once, so they are in one group.
      const replies = await Promise.allSettled([held, other].map(({ emailId }) => record(emailId, 'r', receipt)));
      expect(replies.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
      expect(await stateOf(other)).toMatchObject({ status: 'DELIVERED', counts: [1, 0, 0] });
    } finally {
      await holder.rollback();
      await orm.close();
    }
  });

  it('of success counts even if it arrives before the sending is recorded', async () => {
    const mail = await sentMail();
    const em = inbound.database.orm.em.fork();
    const claimToken = uuidV7();
    const { emailId } = mail;
    await query(em, sql`update email set status = 'SENDING', claim_token = ${claimToken} where id = ${emailId}`);
    await deliver(inbound.verp.returnPath(emailId), dsn({ action: 'delivered', status: '2.0.0' }));
    expect(await stateOf(mail)).toMatchObject({ status: 'SENDING', counts: [1, 0, 0], events: ['email.delivery'] });
    const sent = { emailId, verdict: 'sent', subject: null, error: null } as const;
    await recordTransactionalResults(em, inbound.projectId, claimToken, [sent], [10]);
    expect((await stateOf(mail)).status).toBe('DELIVERED');
  });

  it.each(['', 'x'])('with more text than is stored is recorded, wherever the text is cut (%p)', async (start) => {
    const mail = await sentMail();
    const path = inbound.verp.returnPath(mail.emailId);
    const words = `${start}${'\u{1f600}'.repeat(600)}`;
    expect(await deliver(path, answer([`Subject: ${words}`]), 'ada@home.test')).toMatch(/^250/);
    expect(await deliver(path, dsn({ diagnostic: `smtp; 550 5.1.1 No such user ${words}` }))).toMatch(/^250/);
    expect((await stateOf(mail)).events).toEqual(['contact.unsubscribed', 'email.bounce', 'email.received']);
  });

  it('stores with the email the rule that judged it, and what changed for the contact', async () => {
    const [first, second] = [await sentMail(), await sentMail()];
    const report = dsn().replace('Action:', 'Remote-MTA: dns; mx.home.test\r\nAction:');
    for (const mail of [first, second]) {
      const unit = inbound.database.orm.em.fork();
      if (mail === second) await query(unit, sql`update contact set subscribed = false where id = ${mail.contactId}`);
      await deliver(inbound.verp.returnPath(mail.emailId), report);
      const [row] = await query(unit, sql`select refusal from email where id = ${mail.emailId}`);
      expect(row?.refusal).toEqual({
        kind: 'hard',
        rule: 'no-such-user',
        server: 'mx.home.test',
        suppressed: true,
        unsubscribed: mail === first,
      });
    }
    expect((await stateOf(first)).data).toContainEqual(
      expect.objectContaining({ bounceType: 'hard', rule: 'no-such-user', server: 'mx.home.test' }),
    );
  });

  it('in free text is judged as well', async () => {
    const mail = await sentMail();
    const words =
      'Hi. This is the mail program at mx.test.\r\nYour message could not be delivered.\r\n\r\n550 5.1.1 No such user';
    await deliver(
      inbound.verp.returnPath(mail.emailId),
      `From: MAILER-DAEMON@mx.test\r\nSubject: failure notice\r\n\r\n${words}`,
    );
    expect(await stateOf(mail)).toMatchObject({ status: 'BOUNCED', subscribed: false, suppression: 'HARD_BOUNCE' });
  });

  it('is accepted at the sender domain as well, in either spelling', async () => {
    for (const host of ['bounce.shop.test', 'bounce.xn--mnchen-3ya.test', 'BOUNCE.Shop.Test']) {
      const mail = await sentMail();
      expect(await deliver(inbound.verp.returnPath(mail.emailId, host), dsn())).toMatch(/^250/);
      expect((await stateOf(mail)).status).toBe('BOUNCED');
    }
  });
});

describe('a complaint', () => {
  it('to the return path counts once, and stops all email', async () => {
    const mail = await sentMail();
    for (let i = 0; i < 2; i++)
      await deliver(inbound.verp.returnPath(mail.emailId), complaint('Subject: News'), 'fbl@isp.test');
    expect(await stateOf(mail)).toMatchObject({
      status: 'COMPLAINED',
      counts: [0, 0, 1],
      subscribed: false,
      suppression: 'COMPLAINT',
      events: ['contact.unsubscribed', 'email.complaint'],
    });
  });
});

describe('an unsubscribe request by email', () => {
  it('to the address in List-Unsubscribe ends the subscription and changes nothing else', async () => {
    const mail = await sentMail();
    const address = inbound.verp.unsubscribeAddress(mail.emailId);
    for (const to of [address, address.toUpperCase()]) {
      expect(
        await deliver(to, answer(['Subject: unsubscribe', 'Auto-Submitted: auto-generated']), 'ada@home.test'),
      ).toMatch(/^250/);
    }
    expect(await stateOf(mail)).toMatchObject({
      status: 'SENT',
      counts: [0, 0, 0],
      subscribed: false,
      suppression: undefined,
      events: ['contact.unsubscribed'],
    });
  });

  it('has no effect when it is a report, and is refused at an address that we did not sign', async () => {
    const mail = await sentMail();
    const address = inbound.verp.unsubscribeAddress(mail.emailId);
    const token = inbound.verp.returnPath(mail.emailId).slice('bounce+'.length);
    expect(await deliver(address, dsn())).toMatch(/^250/);
    const other = await inbound.listen();
    expect(await deliver(`unsubscribe+${token}`, answer([]), 'ada@home.test', other)).toMatch(/^550/);
    await other.close();
    expect(await stateOf(mail)).toMatchObject({ status: 'SENT', subscribed: true, events: [] });
  });
});

describe('a reply', () => {
  it('is recorded once as an event of its email, with its subject', async () => {
    const mail = await sentMail();
    const raw = answer(['Subject: =?utf-8?q?Re=3A_Gr=C3=BC=C3=9Fe?=']);
    for (let i = 0; i < 2; i++) await deliver(inbound.verp.returnPath(mail.emailId), raw, 'ada@home.test');
    const state = await stateOf(mail);
    expect(state.events).toEqual(['email.received']);
    expect(state.data[0]).toMatchObject({
      emailId: mail.emailId,
      subject: 'Re: Grüße',
      from: 'ada@home.test',
      to: inbound.verp.returnPath(mail.emailId),
      receivedAt: expect.any(String),
    });
  });

  it('of a program is dropped', async () => {
    const mail = await sentMail();
    const path = inbound.verp.returnPath(mail.emailId);
    await deliver(path, answer(['Auto-Submitted: auto-replied', 'Subject: away']), 'ada@home.test');
    await deliver(path, answer(['Precedence: bulk']), 'ada@home.test');
    await deliver(path, answer(['Subject: failure notice']), '');
    expect((await stateOf(mail)).events).toEqual([]);
  });
});

describe('the listener', () => {
  it('accepts no unknown address, and relays nothing', async () => {
    const mail = await sentMail();
    const path = inbound.verp.returnPath(mail.emailId);
    const altered = path.replace(/\+(.)/, (_match, first: string) => `+${first === 'a' ? 'b' : 'a'}`);
    for (const to of [
      `anybody@${DOMAIN}`,
      altered,
      'somebody@gmail.test',
      path.replace(DOMAIN, 'gmail.test'),
      altered.replace(DOMAIN, 'bounce.shop.test'),
      path.replace(DOMAIN, 'xbounce.shop.test'),
      'postmaster@bounce.shop.test',
      'abuse@bounce.shop.test',
      'somebody@bounce.shop.test',
      `bounce+@${DOMAIN}`,
    ]) {
      expect([to, await deliver(to, dsn(), 'x@y.test')]).toEqual([to, expect.stringMatching(/^550/)]);
    }
    expect((await stateOf(mail)).status).toBe('SENT');
  });

  it('refuses a message that is too large, and continues', async () => {
    const mail = await sentMail();
    const path = inbound.verp.returnPath(mail.emailId);
    expect(await deliver(path, `Subject: x\r\n\r\n${'line of text\r\n'.repeat(90_000)}`)).toMatch(/^552/);
    expect(await deliver(path, dsn())).toMatch(/^250/);
    expect((await stateOf(mail)).status).toBe('BOUNCED');
  });

  it('survives hostile messages and records nothing of them', async () => {
    const mail = await sentMail();
    const boundary = 'multipart/report; boundary=';
    const hostile: (string | Buffer)[] = [
      '\r\n',
      'x',
      Buffer.from([0, 255, 254, 13, 10, 0, 13, 10, 13, 10, 200]),
      `Content-Type: ${boundary}""\r\n\r\n--\r\n--`,
      `Content-Type: ${boundary}a\r\n\r\n${'--a\r\nContent-Type: multipart/mixed; boundary=a\r\n\r\n'.repeat(10_000)}`,
      `Content-Type: ${boundary}${'b'.repeat(5_000)}\r\n\r\n`,
      `From: ${'"<('.repeat(5_000)}\r\nContent-Type: ${';a="'.repeat(4_000)}\r\n\r\n`,
      `Subject: ${'=?utf-8?q?'.repeat(1_500)}\r\nAuto-Submitted: auto-replied\r\n\r\n`,
      `${'X: y\r\n z\r\n'.repeat(50_000)}\r\n`,
      dsn({ action: '\0'.repeat(20), status: '9'.repeat(900), diagnostic: '\0\r\n \ud800' }),
      dsn({ action: 'delayed' }).replace('Final-Recipient', `${'A: b\r\n\r\n'.repeat(30_000)}Final-Recipient`),
      complaint('Return-Path: <bounce+'.repeat(20_000), 'other'),
    ];
    const cpuMs = await cpuMsOf(async () => {
      for (const raw of hostile) await deliver(inbound.verp.returnPath(mail.emailId), raw);
    });
    expect(cpuMs).toBeLessThan(10_000);
    expect(await stateOf(mail)).toMatchObject({ status: 'SENT', subscribed: true, events: [] });
  });

  it('refuses connections of one client beyond the limit per minute', async () => {
    const limited = await inbound.listen({ unitsPerMinute: 2 });
    const greetings: string[] = [];
    for (let i = 0; i < 5; i++) {
      greetings.push(
        await new Promise<string>((resolve) => {
          const socket = connect(limited.port, '127.0.0.1', () => undefined);
          socket.once('data', (data) => {
            resolve(data.toString().slice(0, 3));
            socket.destroy();
          });
        }),
      );
    }
    await limited.close();
    // A new minute may begin once during the test.
    expect(greetings.filter((code) => code === '421').length).toBeGreaterThanOrEqual(1);
    expect(greetings[0]).toBe('220');
  });

  it('does not count connections with reports about our email, however many', async () => {
    const limited = await inbound.listen({ unitsPerMinute: 2 });
    const receipt = dsn({ action: 'delivered', status: '2.0.0' });
    const mails = await Promise.all(Array.from({ length: 10 }, () => sentMail()));
    for (const { emailId } of mails) {
      expect(await deliver(inbound.verp.returnPath(emailId), receipt, '', limited)).toMatch(/^250/);
    }
    const strange: string[] = [];
    for (let i = 0; i < 4; i++) strange.push(await deliver(`abuse@${DOMAIN}`, complaint('none'), 'a@b.test', limited));
    await limited.close();
    expect(strange.filter((reply) => reply.startsWith('421')).length).toBeGreaterThanOrEqual(1);
  });
});
