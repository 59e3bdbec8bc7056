import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import type { Submission } from '../api/submission/submission-server.ts';
import { sendToAll } from './support/campaigns.ts';
import { query } from './support/rows.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { logIn, startTestSubmission } from './support/submission.ts';

let stack: TestStack;
/** The relay that offers SMTPUTF8, beside the one of the stack, which does not. */
let able: SmtpSink;
let server: Submission & { port: number };
beforeAll(async () => {
  able = await createSmtpSink();
  stack = await startTestStack({
    config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000, DELIVERY_RETRY_SECONDS: [0.2] },
    sink: { utf8: false },
    moreRelays: [able.url],
  });
  server = await startTestSubmission(stack);
});
afterAll(async () => {
  await server.close();
  await stack.stop();
  await able.close();
});

const mail = (to: unknown, more: object = {}) => ({
  to,
  from: 'shop@example.com',
  subject: 'Grüße',
  body: '<p>Hi</p>',
  ...more,
});
const headerOf = (raw: Buffer): string => raw.toString().split('\r\n\r\n', 1)[0] ?? '';

async function arrived(address: string): Promise<string> {
  const found = () => [...stack.sink.messages(), ...able.messages()].find(({ to }) => to.includes(address));
  await eventually(() => Promise.resolve(found() !== undefined), 30_000);
  return headerOf(found()?.raw ?? Buffer.alloc(0));
}

/** The outcome of the newest email to an address. */
const outcomeOf = (address: string) =>
  eventually(async () => {
    const [email] = await query(
      stack.em(),
      sql`
        select status, error from email where to_address = ${address}
          and status not in ('PENDING', 'SENDING') order by id desc limit 1`,
    );
    return email ?? false;
  }, 30_000);

describe('with one relay of two that offers SMTPUTF8', () => {
  it('an email goes over that one, with the address as it is', async () => {
    for (const n of [1, 2, 3, 4]) {
      const { status } = await stack.api('POST', '/v1/send', {
        body: mail({ email: `jörg${n}@Bücher.test`, name: 'Jörg' }),
      });
      expect(status).toBe(200);
    }
    for (const n of [1, 2, 3, 4]) {
      expect(await arrived(`jörg${n}@bücher.test`)).toMatch(
        new RegExp(`^To: =\\?UTF-8\\?B\\?SsO2cmc=\\?= <jörg${n}@xn--bcher-kva\\.test>\\r$`, 'm'),
      );
      expect(await outcomeOf(`jörg${n}@bücher.test`)).toMatchObject({ status: 'SENT' });
    }
    expect(stack.sink.messages()).toEqual([]);
  });

  it('the copies of other recipients have an ASCII header, and go over any relay', async () => {
    const body = mail('ada@copy.test', { cc: [{ email: 'jörg@copy.test', name: 'Jörg' }] });
    expect((await stack.api('POST', '/v1/send', { body })).status).toBe(200);
    const [plain, own] = [await arrived('ada@copy.test'), await arrived('jörg@copy.test')];
    expect(plain).toMatch(/^Cc: =\?UTF-8\?B\?[A-Za-z0-9+/=]+\?= :;\r$/m);
    expect(own).toMatch(/^Cc: =\?UTF-8\?B\?SsO2cmc=\?= <jörg@copy\.test>\r$/m);
  });

  it('a campaign reaches everybody', async () => {
    const project = await stack.createProject();
    const names = ['ada', 'jörg', '用户', 'bo', 'संपर्क'];
    await query(
      stack.em(),
      sql`
        insert into contact (id, project_id, email, subscribed, created_at, updated_at)
        select everpost_uuid_v7(), ${project.project.id}, name || '@campaign.test', true, now(), now()
        from unnest(${names}::text[]) name`,
    );
    const campaign = await sendToAll(project);
    await eventually(async () => (await campaign.read()).status === 'SENT', 60_000);
    expect(await campaign.read()).toMatchObject({ sentCount: names.length });
    const all = [...stack.sink.messages(), ...able.messages()].flatMap(({ to }) => to);
    expect(all.filter((to) => to.endsWith('@campaign.test')).sort()).toEqual(
      names.map((name) => `${name}@campaign.test`).sort(),
    );
  });
});

describe('a submitted message', () => {
  const submitted = async (to: string[], header: string, declared = ' SMTPUTF8 BODY=8BITMIME') => {
    const client = await logIn(server.port, stack.keys.secretKey);
    expect(await client.ask(`MAIL FROM:<grüße@web.internal>${declared}`)).toMatch(/^250/);
    for (const address of to) expect(await client.ask(`RCPT TO:<${address}>`)).toMatch(/^250/);
    await client.ask('DATA');
    const from = 'From: Shop <hello@example.com>\r\n';
    expect(await client.ask(`${from}${header}\r\n\r\nHi\r\n.`)).toMatch(/^250/);
    await client.ask('QUIT');
  };

  it('with SMTPUTF8 keeps its header for all, so it goes where SMTPUTF8 is offered', async () => {
    await submitted(
      ['jörg@mail.test', 'bo@mail.test'],
      'To: Jörg <jörg@mail.test>, bo@mail.test\r\nSubject: Grüße an alle',
    );
    for (const address of ['jörg@mail.test', 'bo@mail.test']) {
      expect(await arrived(address)).toMatch(/^To: Jörg <jörg@mail\.test>, bo@mail\.test\r\nSubject: Grüße an alle/m);
    }
    expect(able.messages().filter(({ to }) => to.join().includes('@mail.test'))).toHaveLength(2);
  });

  it('is refused when its From has letters outside ASCII before the @, by a sentence that names the rule', async () => {
    const client = await logIn(server.port, stack.keys.secretKey);
    for (const line of ['MAIL FROM:<> SMTPUTF8', 'RCPT TO:<bo@mail.test>', 'DATA']) await client.ask(line);
    expect(await client.ask('From: jörg@example.com\r\n\r\nHi\r\n.')).toMatch(/^553 5\.6\.7 .*RFC 6531/);
  });

  it('with SMTPUTF8 and an ASCII header goes over any relay', async () => {
    await able.setUnavailable(true);
    await submitted(['plain@any.test'], 'Subject: plain');
    await arrived('plain@any.test');
    expect(stack.sink.recipientCounts().get('plain@any.test')).toBe(1);
    await able.setUnavailable(false);
  });
});

describe('without a relay that offers SMTPUTF8', () => {
  it('the email fails with a sentence, and neither its contact nor other mail is harmed', async () => {
    await able.setUnavailable(true);
    const { body } = await stack.api('POST', '/v1/send', { body: mail('späte@mail.test') });
    const waiting = await eventually(async () => {
      const found = (await stack.api('GET', `/emails/${body.data.emails[0].email}`)).body;
      return found.waiting ? found : false;
    }, 30_000);
    expect(waiting.status).toBe('PENDING');
    await able.setUnavailable(false);
    await arrived('späte@mail.test');

    const lone = await startTestStack({ sink: { utf8: false }, config: { DELIVERY_RETRY_SECONDS: [0.2] } });
    try {
      const sent = await lone.api('POST', '/v1/send', { body: mail(['jörg@mail.test', 'ada@mail.test']) });
      expect(sent.status).toBe(200);
      const emails = await eventually(async () => {
        const rows = await query(lone.em(), sql`select to_address as to, status, error from email order by to_address`);
        return rows.every(({ status }) => status !== 'PENDING' && status !== 'SENDING') && rows;
      }, 30_000);
      expect(emails).toEqual([
        { to: 'ada@mail.test', status: 'SENT', error: null },
        {
          to: 'jörg@mail.test',
          status: 'FAILED',
          error: expect.stringMatching(/^5\.6\.7 The email needs SMTPUTF8 \(RFC 6531\)/),
        },
      ]);
      expect(lone.sink.recipientCounts()).toEqual(new Map([['ada@mail.test', 1]]));
      expect(await query(lone.em(), sql`select from suppression`)).toEqual([]);
      expect(await query(lone.em(), sql`select from contact where not subscribed`)).toHaveLength(2);
    } finally {
      await lone.stop();
    }
  }, 120_000);
});
