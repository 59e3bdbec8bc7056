import { describe, expect, it } from '@jest/globals';
import { useCleanUps } from '../../../tests/support/clean-ups.ts';
import { createSmtpSink, type SmtpSink, type SmtpSinkOptions } from '../../../tests/support/smtp-sink.ts';
import { createSmtpPool, NoOtherServerError, type SmtpPool } from './smtp-pool.ts';

const RAW = Buffer.from('From: a@example.com\r\nTo: b@example.org\r\nSubject: Test\r\n\r\nHello\r\n');
const MESSAGES = 60;

const cleanUp = useCleanUps();

async function startSink(options?: SmtpSinkOptions): Promise<SmtpSink & { label: string }> {
  const sink = await createSmtpSink(options);
  cleanUp(() => sink.close());
  return { ...sink, label: `127.0.0.1:${sink.port}` };
}

function startPool(sinks: readonly SmtpSink[], maxConnections = 4): SmtpPool {
  const pool = createSmtpPool({
    urls: sinks.map(({ url }) => url),
    maxConnections,
    logger: { warn: () => undefined },
  });
  cleanUp(() => pool.close({ timeoutMs: 1_000 }));
  return pool;
}

const send = (pool: SmtpPool, n: number, avoid?: ReadonlySet<string>, signal?: AbortSignal) =>
  pool.send({ from: 'bounce@example.com', to: `reader${n}@example.org` }, RAW, { avoid, signal });
const sendMany = (pool: SmtpPool, avoid?: ReadonlySet<string>, signal?: AbortSignal) =>
  Promise.all(Array.from({ length: MESSAGES }, (_, n) => send(pool, n, avoid, signal)));

describe('a message that avoids a server', () => {
  it('goes to another, and the outcome names it', async () => {
    const [left, right] = [await startSink(), await startSink()];
    const pool = startPool([left, right]);
    const outcomes = await sendMany(pool, new Set([left.label]));
    expect(new Set(outcomes.map(({ kind, relay }) => `${kind} ${relay}`))).toEqual(
      new Set([`accepted ${right.label}`]),
    );
    expect(left.connectionCount()).toBe(0);
  });

  it('uses connections that idle at the avoided server', async () => {
    const [left, right] = [await startSink(), await startSink({ delayMs: 20 })];
    const pool = startPool([left, right]);
    await sendMany(pool, new Set([right.label]));
    expect(left.openConnectionCount()).toBe(4);
    await sendMany(pool, new Set([left.label]));
    expect(right.connectionCount()).toBe(4);
  });

  it('does not keep other messages from that server', async () => {
    const [left, right] = [await startSink(), await startSink({ delayMs: 100 })];
    const pool = startPool([left, right], 2);
    const stop = new AbortController();
    const slow = sendMany(pool, new Set([left.label]), stop.signal).catch(() => undefined);
    const outcomes = await Promise.all([1, 2, 3].map((n) => send(pool, n, new Set([right.label]))));
    expect(outcomes.map(({ relay }) => relay)).toEqual([left.label, left.label, left.label]);
    expect(right.messageCount()).toBeLessThan(MESSAGES / 2);
    stop.abort();
    await slow;
  });

  it('is rejected when no other server can be connected to, and other messages are sent', async () => {
    const [left, right] = [await startSink(), await startSink()];
    const pool = startPool([left, right]);
    await right.setUnavailable(true);
    const stranded = send(pool, 0, new Set([left.label]));
    await expect(stranded).rejects.toThrow(NoOtherServerError);
    expect((await sendMany(pool)).every(({ relay }) => relay === left.label)).toBe(true);
    await expect(send(pool, 1, new Set([left.label, right.label]))).rejects.toThrow(NoOtherServerError);
  });
});
