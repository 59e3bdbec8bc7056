import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { useCleanUps } from '../../../tests/support/clean-ups.ts';
import { eventually } from '../../../tests/support/eventually.ts';
import { createRawSmtp } from '../../../tests/support/raw-smtp.ts';
import { createSmtpSink, type SmtpSink, type SmtpSinkOptions } from '../../../tests/support/smtp-sink.ts';
import { createSmtpPool, SmtpUnavailableError, type SmtpPool, type SmtpPoolOptions } from './smtp-pool.ts';

const RAW = Buffer.from('From: a@example.com\r\nTo: b@example.org\r\nSubject: Test\r\n\r\nHello\r\n.dot\r\n..\r\n');
const FROM = 'bounce@example.com';

const cleanUp = useCleanUps();

async function startSink(options?: SmtpSinkOptions): Promise<SmtpSink> {
  const sink = await createSmtpSink(options);
  cleanUp(() => sink.close());
  return sink;
}

function startPool(urls: string[], options: Partial<SmtpPoolOptions> = {}): { pool: SmtpPool; warnings: string[] } {
  const warnings: string[] = [];
  const logger = { warn: (fields: object, message: string) => warnings.push(`${message} ${JSON.stringify(fields)}`) };
  const pool = createSmtpPool({
    urls,
    maxConnections: 4,
    connectionTimeoutMs: 2000,
    replyTimeoutMs: 3000,
    ehloName: 'test.example.com',
    logger,
    ...options,
  });
  cleanUp(() => pool.close({ timeoutMs: 1000 }));
  return { pool, warnings };
}

async function startRawServer(answer: Parameters<typeof createRawSmtp>[0]) {
  const server = await createRawSmtp(answer);
  cleanUp(() => server.close());
  return server;
}

const closedPortUrl = async () => {
  const sink = await createSmtpSink();
  await sink.close();
  return sink.url;
};

async function untilSending(pool: SmtpPool, count: number): Promise<void> {
  while (pool.usage().sending < count) {
    await sleep(5);
  }
}

const untilUnconnected = (pool: SmtpPool) => eventually(async () => pool.usage().connections === 0);

async function failure(promise: Promise<unknown>): Promise<SmtpUnavailableError> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SmtpUnavailableError);
  return error as SmtpUnavailableError;
}

describe('a pool', () => {
  it('delivers every octet of a message', async () => {
    const sink = await startSink();
    const { pool } = startPool([sink.url]);
    const outcome = await pool.send({ from: FROM, to: 'b@example.org' }, RAW);
    expect(outcome).toMatchObject({ kind: 'accepted', reply: expect.stringMatching(/^250 /) });
    expect(sink.messages()).toMatchObject([{ from: FROM, to: ['b@example.org'], raw: RAW }]);
    expect((await sink.messages()[0]!.parsed()).subject).toBe('Test');
  });

  describe.each([true, false])('with pipelining %s', (pipelining) => {
    it.each([
      ['mail', 550, 'rejected'],
      ['mail', 451, 'deferred'],
      ['rcpt', 550, 'rejected'],
      ['rcpt', 450, 'deferred'],
      ['data', 554, 'rejected'],
      ['data', 452, 'deferred'],
    ] as const)('at %s takes %i for %s, and the connection works on', async (stage, code, kind) => {
      const sink = await startSink({ pipelining });
      const { pool } = startPool([sink.url], { maxConnections: 1 });
      const enhancedCode = `${String(code)[0]}.1.1`;
      sink.replyTo(stage === 'mail' ? FROM : 'b@example.org', { code, text: `${enhancedCode} no`, stage, times: 1 });
      const outcome = await pool.send({ from: FROM, to: 'b@example.org' }, RAW);
      const reply = `${code} ${enhancedCode} no`;
      const told = { server: '127.0.0.1', relay: `127.0.0.1:${sink.port}` };
      expect(outcome).toEqual({ kind, stage, replyCode: code, enhancedCode, reply, ...told });
      expect(await pool.send({ from: FROM, to: 'c@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
      expect(sink.connectionCount()).toBe(1);
      expect([...sink.recipientCounts()]).toEqual([['c@example.org', 1]]);
    });

    it.each(['mail', 'rcpt', 'data'] as const)('treats 421 at %s as an interruption', async (stage) => {
      const sink = await startSink({ pipelining });
      const { pool } = startPool([sink.url]);
      sink.replyTo(stage === 'mail' ? FROM : 'b@example.org', { code: 421, text: 'Not now', stage, times: 1 });
      const outcome = await pool.send({ from: FROM, to: 'b@example.org' }, RAW);
      expect(outcome).toMatchObject({ kind: 'interrupted', stage, mayHaveBeenAccepted: false });
      expect(outcome.reply).toContain('421 Not now');
      expect(await pool.send({ from: FROM, to: 'b@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
    });
  });

  it('refuses a message beyond the SIZE the server announces', async () => {
    const sink = await startSink({ size: 1000 });
    const { pool } = startPool([sink.url]);
    const outcome = await pool.send({ from: FROM, to: 'b@example.org' }, Buffer.alloc(1001, 'a\r\n'));
    expect(outcome).toMatchObject({
      kind: 'rejected',
      replyCode: 552,
      enhancedCode: '5.3.4',
      reply: expect.stringContaining('1001 bytes, more than the 1000 bytes'),
    });
    expect(await pool.send({ from: FROM, to: 'b@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
  });

  it('writes addresses in ASCII and rejects an address without an ASCII form', async () => {
    const sink = await startSink();
    const { pool } = startPool([sink.url]);
    const injected = await pool.send({ from: FROM, to: 'b@example.org>\r\nRCPT TO:<c@example.org' }, RAW);
    expect(injected).toMatchObject({ kind: 'rejected', stage: 'rcpt', replyCode: 553, enhancedCode: '5.1.3' });
    expect(sink.connectionCount()).toBe(0);
    const echo = await startRawServer((line) => (line === 'DATA' ? '354 go\r\n' : '250 raw\r\n'));
    const plain = startPool([echo.url]).pool;
    expect(await plain.send({ from: '', to: 'b@bücher.example' }, RAW)).toMatchObject({ kind: 'accepted' });
    expect(echo.lines.slice(1, 3)).toEqual(['MAIL FROM:<>', 'RCPT TO:<b@xn--bcher-kva.example>']);
    expect(echo.lines).toEqual(expect.arrayContaining(['..dot', '...', '.']));
  });
});

describe('a pool whose connections fail', () => {
  it.each([
    ['mail', false, 0],
    ['rcpt', false, 0],
    ['reply', true, 1],
  ] as const)(
    'interrupts a message at %s, which may have been accepted: %s',
    async (stage, mayHaveBeenAccepted, received) => {
      const sink = await startSink();
      const { pool } = startPool([sink.url]);
      sink.dropOn(stage === 'mail' ? FROM : 'b@example.org', { stage, times: 1 });
      expect(await pool.send({ from: FROM, to: 'b@example.org' }, RAW)).toMatchObject({
        kind: 'interrupted',
        mayHaveBeenAccepted,
      });
      expect(sink.messageCount()).toBe(received);
      expect(await pool.send({ from: FROM, to: 'b@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
    },
  );

  it('interrupts a large message within its content, which cannot have been accepted', async () => {
    const sink = await startSink();
    const { pool } = startPool([sink.url]);
    sink.dropOn('b@example.org', { stage: 'content', times: 1 });
    const large = Buffer.alloc(30_000_000, `${'x'.repeat(76)}\r\n`);
    const outcome = await pool.send({ from: FROM, to: 'b@example.org' }, large);
    expect(outcome).toMatchObject({ kind: 'interrupted', stage: 'data', mayHaveBeenAccepted: false });
    expect(sink.messageCount()).toBe(0);
  });

  it('gives up on a server that does not answer', async () => {
    const silent = await startRawServer((line) => (line.startsWith('EHLO') ? '250 raw\r\n' : ''));
    const { pool } = startPool([silent.url], { replyTimeoutMs: 150 });
    const outcome = await pool.send({ from: FROM, to: 'b@example.org' }, RAW);
    expect(outcome).toMatchObject({ kind: 'interrupted', stage: 'mail', mayHaveBeenAccepted: false });
    expect(outcome.reply).toBe('the server is silent (the connection broke at MAIL FROM)');
  });

  it('treats a demand for another login as an interruption, not as a bounce', async () => {
    const server = await startRawServer((line) =>
      line.startsWith('EHLO') ? '250 raw\r\n' : '530 5.7.0 Authentication required\r\n',
    );
    const { pool } = startPool([server.url]);
    const outcome = await pool.send({ from: FROM, to: 'b@example.org' }, RAW);
    expect(outcome).toMatchObject({ kind: 'interrupted', reply: expect.stringContaining('530 5.7.0') });
  });

  it('fails on refused connections, odd greetings and unknown hosts, and recovers', async () => {
    const sink = await startSink();
    const { pool, warnings } = startPool([sink.url]);
    await sink.setUnavailable(true);
    expect((await failure(pool.send({ from: FROM, to: 'b@example.org' }, RAW))).code).toBe('ECONNREFUSED');
    expect(warnings).toHaveLength(1);
    const recovers = () =>
      eventually(async () => (await pool.send({ from: FROM, to: 'b@example.org' }, RAW)).kind === 'accepted');
    await sink.setUnavailable(false);
    await recovers();
    sink.dropConnections();
    sink.greetWith(554);
    await untilUnconnected(pool);
    expect((await failure(pool.send({ from: FROM, to: 'b@example.org' }, RAW))).message).toContain('554');
    sink.greetWith(undefined);
    await recovers();
    const unknown = startPool(['smtp://no-such-host.invalid:25']).pool;
    await failure(unknown.send({ from: FROM, to: 'b@example.org' }, RAW));
  });

  it('replaces an idle connection that the server closed, whether the closing is noticed before or after', async () => {
    const sink = await startSink();
    const { pool } = startPool([sink.url], { maxConnections: 1 });
    await pool.send({ from: FROM, to: '1@example.org' }, RAW);
    sink.dropConnections();
    await untilUnconnected(pool);
    expect(await pool.send({ from: FROM, to: '2@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
    sink.dropOn('3@example.org', { stage: 'rcpt', times: 1 });
    expect(await pool.send({ from: FROM, to: '3@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
    sink.dropOn('4@example.org', { stage: 'rcpt', times: 2 });
    expect(await pool.send({ from: FROM, to: '4@example.org' }, RAW)).toMatchObject({ kind: 'interrupted' });
    expect([...sink.recipientCounts().values()]).toEqual([1, 1, 1]);
  });
});

describe('a pool of connections', () => {
  it('sends 1,000 messages over 20 connections, each once', async () => {
    const sink = await startSink();
    const { pool } = startPool([sink.url], { maxConnections: 20 });
    expect(pool.capacity).toBe(60);
    const outcomes = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => pool.send({ from: FROM, to: `u${index}@example.org` }, RAW)),
    );
    expect(outcomes.every((outcome) => outcome.kind === 'accepted')).toBe(true);
    expect(sink.recipientCounts().size).toBe(1000);
    expect(sink.messageCount()).toBe(1000);
    expect(sink.connectionCount()).toBeLessThanOrEqual(20);
    expect(pool.usage()).toMatchObject({ sending: 0, queued: 0 });
  });

  it('opens no more connections than needed', async () => {
    const sink = await startSink();
    const { pool } = startPool([sink.url], { maxConnections: 20 });
    expect(sink.connectionCount()).toBe(0);
    for (let index = 0; index < 5; index += 1) {
      await pool.send({ from: FROM, to: 'b@example.org' }, RAW);
    }
    expect(sink.connectionCount()).toBe(1);
  });

  it('replaces a connection after its number of messages and closes an idle one', async () => {
    const sink = await startSink();
    const { pool } = startPool([sink.url], { maxConnections: 1, messagesPerConnection: 3, idleTimeoutMs: 60 });
    await Promise.all(Array.from({ length: 7 }, () => pool.send({ from: FROM, to: 'b@example.org' }, RAW)));
    expect(sink.connectionCount()).toBe(3);
    expect(sink.openConnectionCount()).toBeGreaterThan(0);
    await untilUnconnected(pool);
    await eventually(async () => sink.openConnectionCount() === 0);
    expect(await pool.send({ from: FROM, to: 'b@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
  });

  it('spreads messages over servers, and uses those that are up', async () => {
    const [one, two] = [await startSink({ delayMs: 20 }), await startSink({ delayMs: 20 })];
    const both = startPool([one.url, two.url]).pool;
    await Promise.all(Array.from({ length: 20 }, () => both.send({ from: FROM, to: 'b@example.org' }, RAW)));
    expect(one.messageCount()).toBeGreaterThan(5);
    expect(two.messageCount()).toBeGreaterThan(5);
    const { pool: half, warnings } = startPool([await closedPortUrl(), one.url]);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => half.send({ from: FROM, to: 'c@example.org' }, RAW)),
    );
    expect(outcomes.every((outcome) => outcome.kind === 'accepted')).toBe(true);
    expect(one.recipientCounts().get('c@example.org')).toBe(20);
    expect(warnings.length).toBeLessThanOrEqual(2);
  });

  it('sends over the connections that a server has granted, when it grants no more', async () => {
    const sink = await startSink({ delayMs: 10 });
    const { pool } = startPool([sink.url], { maxConnections: 8 });
    const first = pool.send({ from: FROM, to: '0@example.org' }, RAW);
    await sink.waitForMessages(1);
    await first;
    sink.greetWith(421);
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, index) => pool.send({ from: FROM, to: `${index}@example.org` }, RAW)),
    );
    expect(outcomes.every((outcome) => outcome.kind === 'accepted')).toBe(true);
  });

  it('keeps the order of waiting messages, and lets callers withdraw them', async () => {
    const sink = await startSink({ delayMs: 20 });
    const { pool } = startPool([sink.url], { maxConnections: 1 });
    const controller = new AbortController();
    const sends = ['1', '2', '3', '4'].map((name) =>
      pool.send({ from: FROM, to: `${name}@example.org` }, RAW, name === '2' ? { signal: controller.signal } : {}),
    );
    controller.abort(new Error('not wanted'));
    await expect(sends[1]).rejects.toThrow('not wanted');
    await Promise.all([sends[0], sends[2], sends[3]]);
    expect(sink.messages().map((message) => message.to[0])).toEqual([
      '1@example.org',
      '3@example.org',
      '4@example.org',
    ]);
    await expect(pool.send({ from: FROM, to: 'x@example.org' }, RAW, { signal: controller.signal })).rejects.toThrow(
      'not wanted',
    );
  });
});

describe('a pool with a login or TLS', () => {
  it('logs in with the credentials of the URL, over STARTTLS', async () => {
    const sink = await startSink({ auth: { user: 'us@er', pass: 'pa:ss/word' }, startTls: true });
    const { pool } = startPool([`${sink.url}?tls.rejectUnauthorized=false&requireTLS=true`]);
    expect(await pool.send({ from: FROM, to: 'b@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
  });

  it('sends over TLS from the start, and checks the certificate', async () => {
    const sink = await startSink({ secure: true });
    const { pool } = startPool([`${sink.url}?tls.rejectUnauthorized=false`]);
    expect(await pool.send({ from: FROM, to: 'b@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
    await failure(startPool([sink.url]).pool.send({ from: FROM, to: 'b@example.org' }, RAW));
  });

  it('does not repeat a wrong password', async () => {
    const sink = await startSink({ auth: { user: 'user', pass: 'right' } });
    const { pool, warnings } = startPool([sink.url.replace('right', 'S3cretWord')]);
    const error = await failure(pool.send({ from: FROM, to: 'b@example.org' }, RAW));
    expect(error.code).toBe('EAUTH');
    const plain = Buffer.from('\0user\0S3cretWord').toString('base64');
    for (const text of [error.message, String(error.stack), ...warnings]) {
      expect(text).not.toContain('S3cretWord');
      expect(text).not.toContain(plain);
    }
  });

  it('needs no login where the server offers none', async () => {
    const sink = await startSink();
    const { pool } = startPool([sink.url.replace('//', '//user:pass@')]);
    expect(await pool.send({ from: FROM, to: 'b@example.org' }, RAW)).toMatchObject({ kind: 'accepted' });
  });
});

it('tells a message once that its relay is silent, which changes nothing for the message', async () => {
  const sink = await startSink({ delayMs: 11_000 });
  const { pool } = startPool([sink.url], { replyTimeoutMs: 30_000 });
  let told = 0;
  const onSilence = (): void => void (told += 1);
  expect(await pool.send({ from: FROM, to: 'b@example.org' }, RAW, { onSilence })).toMatchObject({ kind: 'accepted' });
  expect([told, sink.messageCount()]).toEqual([1, 1]);
});

describe('a pool that is closed', () => {
  it('finishes messages on the wire and rejects the others', async () => {
    const sink = await startSink({ delayMs: 100 });
    const { pool } = startPool([sink.url], { maxConnections: 2 });
    const sends = ['1', '2', '3'].map((name) => pool.send({ from: FROM, to: `${name}@example.org` }, RAW));
    const settled = Promise.allSettled(sends);
    await untilSending(pool, 2);
    await Promise.all([pool.close(), pool.close()]);
    expect((await settled).map((result) => result.status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(sink.messageCount()).toBe(2);
    expect(pool.usage()).toEqual({ connections: 0, sending: 0, queued: 0 });
    expect((await failure(pool.send({ from: FROM, to: '4@example.org' }, RAW))).message).toContain('closed');
  });

  it('cuts a message that takes too long, and reports that it may have been accepted', async () => {
    const sink = await startSink({ delayMs: 1000 });
    const { pool } = startPool([sink.url]);
    const sending = pool.send({ from: FROM, to: 'b@example.org' }, RAW);
    await untilSending(pool, 1);
    await pool.close({ timeoutMs: 200 });
    expect(await sending).toMatchObject({ kind: 'interrupted', mayHaveBeenAccepted: true });
  });

  it('ends at once when no connection is open', async () => {
    await startPool(['smtp://127.0.0.1:1']).pool.close();
  });
});
