import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../shared/platform/logger.ts';
import { createSmtpPool, type SmtpPool } from '../../shared/sending/transport/smtp-pool.ts';
import { answer, complaint, dsn, INBOUND_DOMAIN as DOMAIN, startTestInbound } from '../../tests/support/inbound.ts';
import { createSmtpSink, type SmtpSink } from '../../tests/support/smtp-sink.ts';
import type { InboundServer } from './inbound-server.ts';
import { createOperatorMail } from './operator-mail.ts';

const OPERATOR = 'ops@operator.test';
const PERSON = 'ada@home.test';
const FROM_PERSON = { from: PERSON, client: { address: '192.0.2.9', name: 'mx.home.test' } };
const logger = createLogger({ level: 'silent', name: 'test' });

let inbound: Awaited<ReturnType<typeof startTestInbound>>;
let sink: SmtpSink;
let pool: SmtpPool;
let server: InboundServer;
let nowMs = Date.now();
beforeAll(async () => {
  inbound = await startTestInbound();
  sink = await createSmtpSink();
  pool = createSmtpPool({ urls: [sink.url], maxConnections: 2, logger });
  server = await inbound.listen({}, { operatorMail: operatorMail() });
});
afterEach(() => {
  nowMs += 3_600_000;
  sink.clear();
});
afterAll(async () => {
  await server.close();
  await pool.close();
  await sink.close();
  await inbound.stop();
});

function operatorMail(options: { smtp?: Pick<SmtpPool, 'send'>; forwardMs?: number } = {}) {
  return createOperatorMail({ operator: OPERATOR, domain: DOMAIN, smtp: pool, logger, now: () => nowMs, ...options });
}

const write = (to: string | string[], raw: string, from = PERSON) => inbound.deliver(to, raw, from, server);

describe('email to the operator', () => {
  it.each([`postmaster@${DOMAIN}`, `ABUSE@${DOMAIN}`, `fbl@${DOMAIN}`, 'abuse@bounce.shop.test'])(
    'at %s is forwarded as it is, without an envelope sender',
    async (to) => {
      const raw = answer(['Subject: Confirm your feedback loop', 'X-Odd: \u00e4']);
      expect(await write(to, raw)).toMatch(/^250/);
      const [message] = await sink.waitForMessages(1);
      expect(message).toMatchObject({ from: '', to: [OPERATOR] });
      const text = message!.raw.toString();
      expect(text.trimEnd().endsWith(raw.trimEnd())).toBe(true);
      expect(text).toMatch(
        /^Received: from .* by in\.everpost\.test .*\r\nEverpost-Forwarded: in\.everpost\.test\r\nAuto-Submitted: /,
      );
    },
  );

  it('is forwarded once for several of these mailboxes, and separately from other recipients', async () => {
    expect(await write([`postmaster@${DOMAIN}`, `abuse@${DOMAIN}`], answer([]))).toMatch(/^250/);
    await sink.waitForMessages(1);
    const mail = await inbound.sentMail();
    const both = [`abuse@${DOMAIN}`, inbound.verp.returnPath(mail.emailId)];
    expect(await write(both, answer(['Subject: Both']))).toMatch(/^250/);
    await sink.waitForMessages(2);
    expect((await inbound.stateOf(mail)).events).toEqual([]);
  });

  it('is forwarded when a program has written it, such as an enrolment in a feedback loop', async () => {
    expect(await write(`abuse@${DOMAIN}`, answer(['Auto-Submitted: auto-generated']), 'noreply@fbl.test')).toMatch(
      /^250/,
    );
    const [message] = await sink.waitForMessages(1);
    expect(message!.raw.toString().match(/auto-submitted/gi)).toHaveLength(1);
  });

  it('is deferred while no server accepts it, and refused when the address of the operator does not exist', async () => {
    const to = `postmaster@${DOMAIN}`;
    sink.replyTo(OPERATOR, { code: 451, text: '4.3.0 Busy', stage: 'rcpt', times: 1 });
    expect(await write(to, answer([]))).toMatch(/^451/);
    sink.replyTo(OPERATOR, { code: 554, text: '5.7.1 Relaying denied', stage: 'rcpt', times: 1 });
    expect(await write(to, answer([]))).toMatch(/^451/);
    sink.replyTo(OPERATOR, { code: 550, text: '5.1.1 No such user', stage: 'rcpt', times: 1 });
    expect(await write(to, answer([]))).toMatch(/^554/);
    const silent = operatorMail({ smtp: { send: () => new Promise(() => undefined) }, forwardMs: 50 });
    expect(await silent.forward(Buffer.from(answer([])), FROM_PERSON)).toMatchObject({ code: 451 });
    const away = operatorMail({ smtp: { send: () => Promise.reject(new Error('away')) } });
    expect(await away.forward(Buffer.from(answer([])), FROM_PERSON)).toMatchObject({ code: 451 });
  });

  it('names the client that brought it', async () => {
    expect(await write(`abuse@${DOMAIN}`, answer([]))).toMatch(/^250/);
    const [message] = await sink.waitForMessages(1);
    expect(message!.raw.toString()).toMatch(/^Received: from \S+ \(\[127\.0\.0\.1\]\) by in\.everpost\.test/);
    const texts: string[] = [];
    const { forward } = operatorMail({
      smtp: {
        send: (_envelope, raw) => {
          texts.push(raw.toString());
          return Promise.resolve({ kind: 'accepted', reply: '250' });
        },
      },
    });
    const lying = { address: '2001:db8::1', name: 'x\r\nBcc: everybody@home.test' };
    await forward(Buffer.from(answer([])), { from: PERSON, client: lying });
    expect(texts[0]).toMatch(/^Received: from unknown \(\[IPv6:2001:db8::1\]\) by /);
  });

  it('is limited for each client, and deferred beyond that, while other clients go on', async () => {
    const { forward } = operatorMail({ smtp: { send: () => Promise.resolve({ kind: 'accepted', reply: '250' }) } });
    const bring = async (address: string) =>
      (await forward(Buffer.from(answer([])), { from: PERSON, client: { address, name: 'mx.test' } }))?.code;
    const replies: (number | undefined)[] = [];
    for (let n = 0; n < 40; n++) replies.push(await bring('192.0.2.1'));
    expect(replies.filter((code) => code === undefined)).toHaveLength(10);
    expect(replies.at(-1)).toBe(451);
    expect(await bring('192.0.2.2')).toBeUndefined();
    nowMs += 60_000;
    expect([await bring('192.0.2.1'), await bring('192.0.2.1')]).toEqual([undefined, 451]);
  });

  it('is refused when it is very large', async () => {
    expect(await write(`abuse@${DOMAIN}`, answer(['', 'line of text\r\n'.repeat(45_000)]))).toMatch(/^552/);
    expect(sink.messageCount()).toBe(0);
  });
});

describe('a loop', () => {
  const hops = Array.from({ length: 19 }, (_, n) => `Received: from a${n}.test by b${n}.test; now`);

  it.each<[string, string[], string?]>([
    ['what was forwarded here before', [`Everpost-Forwarded: ${DOMAIN}`]],
    ['what has passed very many servers', hops],
    ['what comes from here', [], `postmaster@${DOMAIN}`],
    ['what comes from another mailbox of the operator', [], 'abuse@bounce.shop.test'],
    ['a note of absence of the operator', ['Auto-Submitted: auto-replied'], OPERATOR],
  ])('is refused: %s', async (_name, lines, from = PERSON) => {
    expect(await write(`abuse@${DOMAIN}`, answer(lines), from)).toMatch(/^554 5\.4\.6/);
    expect(sink.messageCount()).toBe(0);
  });

  it('is refused when the header From has an address of the listener', async () => {
    const raw = answer([])
      .replace('ada@home.test>', `abuse@${DOMAIN}>`)
      .replace(/^From: .*$/m, `From: <abuse@${DOMAIN}>`);
    expect(await write(`abuse@${DOMAIN}`, raw)).toMatch(/^554 5\.4\.6/);
  });

  it('is not assumed when the operator writes, or another installation has forwarded a message', async () => {
    expect(await write(`abuse@${DOMAIN}`, answer(['Subject: Test']), OPERATOR)).toMatch(/^250/);
    expect(await write(`abuse@${DOMAIN}`, answer(['Everpost-Forwarded: other.test']), '')).toMatch(/^250/);
    await sink.waitForMessages(2);
  });
});

describe('reports to these mailboxes', () => {
  it('are recorded and not forwarded', async () => {
    const mail = await inbound.sentMail();
    const evidence = `Return-Path: <${inbound.verp.returnPath(mail.emailId)}>`;
    expect(await write(`abuse@${DOMAIN}`, complaint(evidence), 'fbl@isp.test')).toMatch(/^250/);
    expect(await write(`postmaster@${DOMAIN}`, dsn(), '')).toMatch(/^250/);
    expect((await inbound.stateOf(mail)).status).toBe('COMPLAINED');
    expect(sink.messageCount()).toBe(0);
  });

  it('are all that is accepted without an operator', async () => {
    const mail = await inbound.sentMail();
    expect(await inbound.deliver(`postmaster@${DOMAIN}`, answer([]), PERSON)).toMatch(/^550/);
    expect(await inbound.deliver('postmaster@bounce.shop.test', answer([]), PERSON)).toMatch(/^550/);
    expect(await inbound.deliver(`abuse@${DOMAIN}`, answer([]), PERSON)).toMatch(/^550/);
    const evidence = `Return-Path: <${inbound.verp.returnPath(mail.emailId)}>`;
    expect(await inbound.deliver(`abuse@${DOMAIN}`, complaint(evidence), 'fbl@isp.test')).toMatch(/^250/);
    expect((await inbound.stateOf(mail)).status).toBe('COMPLAINED');
  });
});
