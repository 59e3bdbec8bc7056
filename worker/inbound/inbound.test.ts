import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { v7 as uuidV7 } from 'uuid';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { ContactEntity } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from '../../shared/domain/emails/email.entity.ts';
import { EventEntity } from '../../shared/domain/events/event.entity.ts';
import { recordTransactionalResults } from '../../shared/domain/emails/delivery-results.ts';
import { createProject } from '../../shared/domain/projects/projects.ts';
import { query, sql } from '../../shared/domain/sql.ts';
import { listSuppressions } from '../../shared/domain/suppressions/suppressions.ts';
import { createLinkSigner } from '../../shared/platform/links.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import { createVerp } from '../../shared/platform/mail/verp.ts';
import { createTestDatabase, type TestDatabase } from '../../shared/testing/database.ts';
import { eventually } from '../../shared/testing/eventually.ts';
import { createInboundMail } from './inbound-mail.ts';
import { startInboundServer, type InboundServer } from './inbound-server.ts';

const DOMAIN = 'in.everpost.test';
const appSecret = 'a secret of at least 32 characters';
const verp = createVerp({ appSecret, domain: DOMAIN });
const links = createLinkSigner({ appSecret, publicUrl: 'https://e.test' });
const logger = createLogger({ level: 'silent', name: 'test' });

let database: TestDatabase;
let server: InboundServer;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({
    project: { id: projectId },
  } = await createProject(database.orm.em.fork(), 'Test'));
  const mail = createInboundMail({
    orm: database.orm,
    logger,
    links,
    verp,
    domain: DOMAIN,
    wakeDispatcher: () => undefined,
  });
  server = await startInboundServer({ port: 0, domain: DOMAIN, mail, logger });
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

interface Sent {
  emailId: string;
  contactId: string;
  campaignId: string;
  address: string;
}

async function sentMail(replyTo?: string): Promise<Sent> {
  const em = database.orm.em.fork();
  const [contactId, campaignId, emailId] = [uuidV7(), uuidV7(), uuidV7()];
  const address = `${emailId}@mail.test`;
  em.create(ContactEntity, { id: contactId, projectId, email: address, subscribed: true, data: {} });
  em.create(CampaignEntity, {
    ...{
      id: campaignId,
      projectId,
      name: 'N',
      subject: 'News',
      body: 'B',
      from: 'news@example.com',
      type: 'MARKETING',
    },
    ...{ status: 'SENT', audienceType: 'ALL', totalRecipients: 1, sentCount: 1, replyTo },
  });
  em.create(EmailEntity, {
    ...{ id: emailId, projectId, contactId, campaignId, campaignSeq: 1, toAddress: address, status: 'SENT' },
    createdAt: new Date(),
  });
  await em.flush();
  return { emailId, contactId, campaignId, address };
}

async function stateOf({ emailId, campaignId, contactId, address }: Sent) {
  const em = database.orm.em.fork();
  const email = await em.findOneOrFail(EmailEntity, { id: emailId });
  const campaign = await em.findOneOrFail(CampaignEntity, { id: campaignId });
  const contact = await em.findOneOrFail(ContactEntity, { id: contactId });
  const events = await em.find(EventEntity, { contactId }, { orderBy: { createdAt: 'asc' } });
  return {
    status: email.status,
    counts: [campaign.deliveredCount, campaign.bouncedCount, campaign.complainedCount],
    subscribed: contact.subscribed,
    suppression: (await listSuppressions(em, projectId)).find((row) => row.email === address)?.reason,
    events: events.map((event) => event.name).sort(),
    data: events.map((event) => event.data),
  };
}

async function deliver(to: string | string[], raw: string | Buffer, from = '', { port } = server): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  try {
    const info = await transport.sendMail({ envelope: { from, to }, raw });
    return info.response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  } finally {
    transport.close();
  }
}

function dsn({
  action = 'failed',
  status = '5.1.1',
  diagnostic = 'smtp; 550 5.1.1 No such user',
  id = uuidV7(),
} = {}): string {
  return [
    'From: MAILER-DAEMON@mx.test',
    `Message-ID: <${id}@mx.test>`,
    'Subject: Undelivered Mail Returned to Sender',
    'Content-Type: multipart/report; report-type=delivery-status;',
    ' boundary="b1"',
    '',
    'ignored',
    '--b1',
    '',
    'Human words',
    '--b1',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.test',
    '',
    'Final-Recipient: rfc822; somebody@mail.test',
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: ${diagnostic}`,
    '',
    '--b1--',
    '',
  ].join('\r\n');
}

function complaint(evidence: string, type = 'abuse'): string {
  return [
    `Message-ID: <${uuidV7()}@fbl.test>`,
    'Content-Type: multipart/report; report-type=feedback-report; boundary=x',
    '',
    '--x',
    'Content-Type: text/plain',
    '',
    'This is a report',
    '--x',
    'Content-Type: message/feedback-report',
    '',
    `Feedback-Type: ${type}`,
    'User-Agent: Test/1',
    'Version: 1',
    '',
    '--x',
    'Content-Type: message/rfc822',
    '',
    evidence,
    '--x--',
    '',
  ].join('\r\n');
}

describe('a delivery report', () => {
  it('of a permanent failure bounces the mail once, suppresses the address and unsubscribes its contact', async () => {
    const mail = await sentMail();
    const report = dsn();
    const path = verp.returnPath(mail.emailId);
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
        ...{ emailId: mail.emailId, subject: 'News', from: 'news@example.com', to: mail.address },
        ...{ campaignId: mail.campaignId, bounceType: 'hard', diagnostic: '550 5.1.1 No such user' },
      }),
    );
  });

  it.each([
    ['a transient failure', { status: '4.2.2', diagnostic: 'smtp; 452 4.2.2 Mailbox full' }],
    ['a full mailbox', { status: '5.2.2', diagnostic: 'smtp; 552 5.2.2 Over quota' }],
    ['a policy', { status: '5.7.1', diagnostic: 'smtp; 550 5.7.1 Blocked' }],
  ])('of %s is recorded, once a report, and concludes nothing', async (_name, words) => {
    const mail = await sentMail();
    const report = dsn(words);
    for (const raw of [report, report, dsn(words)]) await deliver(verp.returnPath(mail.emailId), raw);
    const state = await stateOf(mail);
    expect(state).toMatchObject({
      ...{ status: 'SENT', counts: [0, 0, 0], subscribed: true, suppression: undefined },
      events: ['email.bounce', 'email.bounce'],
    });
    expect(state.data[0]).toMatchObject({ bounceType: 'soft' });
  });

  it.each(['delivered (to mailbox)', 'relayed', 'expanded'])(
    'of success (%s) moves the mail on, once; one of a delay does nothing',
    async (action) => {
      const mail = await sentMail();
      const path = verp.returnPath(mail.emailId);
      await deliver(path, dsn({ action: 'delayed', status: '4.4.1' }));
      expect(await stateOf(mail)).toMatchObject({ status: 'SENT', events: [] });
      for (let i = 0; i < 2; i++) await deliver(path, dsn({ action, status: '2.0.0' }));
      expect(await stateOf(mail)).toMatchObject({ status: 'DELIVERED', counts: [1, 0, 0], events: ['email.delivery'] });
    },
  );

  it('of success, with many others at the same time, counts each mail once', async () => {
    const first = await sentMail();
    const mails = [first];
    while (mails.length < 20) mails.push(await sentMail());
    const em = database.orm.em.fork();
    const { campaignId } = first;
    await query(
      em,
      sql`update email set campaign_id = ${campaignId}, campaign_seq = abs(hashtext(id::text)) where id = any(${mails.map(({ emailId }) => emailId)}::uuid[])`,
    );
    const receipt = dsn({ action: 'delivered', status: '2.0.0' });
    const paths = mails.map(({ emailId }) => verp.returnPath(emailId));
    // One mail is held, as by the statement that records its sending; the others do not wait for it.
    const holder = database.orm.em.fork();
    await holder.begin();
    await query(holder, sql`select from email where id = ${first.emailId} for update`);
    const replies = Promise.all([...paths, ...paths].map((path) => deliver(path, receipt)));
    try {
      await eventually(async () => {
        const [row] = await query<{ count: number }>(
          em,
          sql`select count(*) from email where campaign_id = ${campaignId} and status = 'DELIVERED'`,
        );
        return (row?.count ?? 0) > 0;
      });
    } finally {
      await holder.commit();
    }
    expect((await replies).every((reply) => reply.startsWith('250'))).toBe(true);
    const { deliveredCount } = await database.orm.em.fork().findOneOrFail(CampaignEntity, { id: campaignId });
    expect(deliveredCount).toBe(mails.length);
    for (const { contactId } of mails) {
      expect(await database.orm.em.fork().count(EventEntity, { contactId, name: 'email.delivery' })).toBe(1);
    }
  });

  it('of success that overtakes the record of the sending is not forgotten', async () => {
    const mail = await sentMail();
    const em = database.orm.em.fork();
    const claimToken = uuidV7();
    const { emailId } = mail;
    await query(em, sql`update email set status = 'SENDING', claim_token = ${claimToken} where id = ${emailId}`);
    await deliver(verp.returnPath(emailId), dsn({ action: 'delivered', status: '2.0.0' }));
    expect(await stateOf(mail)).toMatchObject({ status: 'SENDING', counts: [1, 0, 0], events: ['email.delivery'] });
    const sent = { emailId, verdict: 'sent', subject: null, error: null } as const;
    await recordTransactionalResults(em, projectId, claimToken, [sent], [10]);
    expect((await stateOf(mail)).status).toBe('DELIVERED');
  });

  it('comes back to the domain of the sender as well, in either spelling', async () => {
    for (const host of ['bounce.shop.test', 'bounce.xn--mnchen-3ya.test', 'BOUNCE.Shop.Test']) {
      const mail = await sentMail();
      expect(await deliver(verp.returnPath(mail.emailId, host), dsn())).toMatch(/^250/);
      expect((await stateOf(mail)).status).toBe('BOUNCED');
    }
  });
});

describe('a complaint', () => {
  it('to the return path counts once, and stops all mail', async () => {
    const mail = await sentMail();
    for (let i = 0; i < 2; i++)
      await deliver(verp.returnPath(mail.emailId), complaint('Subject: News'), 'fbl@isp.test');
    expect(await stateOf(mail)).toMatchObject({
      ...{ status: 'COMPLAINED', counts: [0, 0, 1], subscribed: false, suppression: 'COMPLAINT' },
      events: ['contact.unsubscribed', 'email.complaint'],
    });
  });

  it('to the mailbox of a feedback loop is believed for what the mail itself proves', async () => {
    const [byPath, byLink, forged] = [await sentMail(), await sentMail(), await sentMail()];
    const byOwnPath = await sentMail();
    const { unsubscribeUrl } = links.recipientUrls(byLink);
    await deliver(`complaints@${DOMAIN}`, complaint(`Return-Path: <${verp.returnPath(byPath.emailId)}>`));
    await deliver(`fbl@${DOMAIN}`, complaint(`X-Envelope: ${verp.returnPath(byOwnPath.emailId, 'bounce.shop.test')}`));
    await deliver(
      `fbl@${DOMAIN}`,
      complaint(`List-Unsubscribe: <${unsubscribeUrl.slice(0, 60)}\r\n ${unsubscribeUrl.slice(60)}>`),
    );
    await deliver(`abuse@${DOMAIN}`, complaint(`Message-ID: <${forged.emailId}@example.com>`));
    await deliver(verp.returnPath(forged.emailId), complaint('Subject: News', 'not-spam'));
    expect((await stateOf(byPath)).status).toBe('COMPLAINED');
    expect((await stateOf(byOwnPath)).status).toBe('COMPLAINED');
    expect((await stateOf(byLink)).status).toBe('COMPLAINED');
    expect((await stateOf(forged)).status).toBe('SENT');
  });
});

describe('an answer', () => {
  const answer = (lines: string[], id = uuidV7()) =>
    [`Message-ID: <${id}@home.test>`, 'From: Ada <ada@home.test>', ...lines, '', 'Thanks!'].join('\r\n');

  it('is an event of the mail it came back to, once, with its own words', async () => {
    const mail = await sentMail();
    const raw = answer(['Subject: =?utf-8?q?Re=3A_Gr=C3=BC=C3=9Fe?=']);
    for (let i = 0; i < 2; i++) await deliver(verp.returnPath(mail.emailId), raw, 'ada@home.test');
    const state = await stateOf(mail);
    expect(state.events).toEqual(['email.received']);
    expect(state.data[0]).toMatchObject({
      ...{ emailId: mail.emailId, subject: 'Re: Grüße', from: 'ada@home.test', to: verp.returnPath(mail.emailId) },
      receivedAt: expect.any(String),
    });
  });

  it('to an address that mail asked for answers at is found by the mail it names, or by its author', async () => {
    const address = `answers@${DOMAIN}`;
    const mail = await sentMail(`Answers@${DOMAIN}`);
    const other = await sentMail(address);
    await deliver(address, answer(['Subject: one', `In-Reply-To: <${mail.emailId}@example.com>`]), 'ada@home.test');
    await deliver(address, answer(['Subject: two']).replace('ada@home.test', other.address), other.address);
    await deliver(address, answer(['Subject: three']), 'stranger@home.test');
    expect((await stateOf(mail)).data).toEqual([expect.objectContaining({ subject: 'one', to: address })]);
    expect((await stateOf(other)).data).toEqual([expect.objectContaining({ subject: 'two', from: other.address })]);
  });

  it('of a machine is dropped', async () => {
    const mail = await sentMail();
    const path = verp.returnPath(mail.emailId);
    await deliver(path, answer(['Auto-Submitted: auto-replied', 'Subject: away']), 'ada@home.test');
    await deliver(path, answer(['Precedence: bulk']), 'ada@home.test');
    await deliver(path, answer(['Subject: failure notice']), '');
    expect((await stateOf(mail)).events).toEqual([]);
  });
});

describe('the listener', () => {
  it('takes nothing for addresses that were not given out, and relays nothing', async () => {
    const mail = await sentMail();
    const path = verp.returnPath(mail.emailId);
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

  it('refuses what is too large, and goes on', async () => {
    const mail = await sentMail();
    const path = verp.returnPath(mail.emailId);
    expect(await deliver(path, `Subject: x\r\n\r\n${'line of text\r\n'.repeat(90_000)}`)).toMatch(/^552/);
    expect(await deliver(path, dsn())).toMatch(/^250/);
    expect((await stateOf(mail)).status).toBe('BOUNCED');
  });

  it('survives hostile messages and changes nothing for them', async () => {
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
    const started = performance.now();
    for (const raw of hostile) await deliver(verp.returnPath(mail.emailId), raw);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(await stateOf(mail)).toMatchObject({ status: 'SENT', subscribed: true, events: [] });
  });

  async function startLimited(unprovenPerMinute: number): Promise<InboundServer> {
    const deps = { orm: database.orm, logger, links, verp, domain: DOMAIN };
    const mail = createInboundMail({ ...deps, wakeDispatcher: () => undefined });
    return startInboundServer({ port: 0, domain: DOMAIN, mail, logger, unprovenPerMinute });
  }

  it('refuses more connections from one address than it allows in a minute', async () => {
    const limited = await startLimited(2);
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
    // The minute may turn once in the middle.
    expect(greetings.filter((code) => code === '421').length).toBeGreaterThanOrEqual(1);
    expect(greetings[0]).toBe('220');
  });

  it('does not count among them what comes back to our mail, however many reports that is', async () => {
    const limited = await startLimited(2);
    const receipt = dsn({ action: 'delivered', status: '2.0.0' });
    const [first, ...others] = await Promise.all(Array.from({ length: 10 }, () => sentMail()));
    for (const { emailId } of [first!, ...others]) {
      expect(await deliver(verp.returnPath(emailId), receipt, '', limited)).toMatch(/^250/);
    }
    const strange: string[] = [];
    for (let i = 0; i < 4; i++) strange.push(await deliver(`abuse@${DOMAIN}`, complaint('none'), 'a@b.test', limited));
    await limited.close();
    expect(strange.filter((reply) => reply.startsWith('421')).length).toBeGreaterThanOrEqual(1);
  });
});
