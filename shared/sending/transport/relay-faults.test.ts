import { afterAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../tests/support/eventually.ts';
import {
  createFaultyRelay,
  type FaultyRelay,
  type FaultyRelayOptions,
  type RelayFault,
  type RelayStep,
} from '../../../tests/support/faulty-relay.ts';
import { createSmtpPool, SmtpUnavailableError, type SmtpOutcome, type SmtpPool } from './smtp-pool.ts';

const FROM = 'news@example.com';
const POISON = 'poison@example.org';
const RAW = 'Subject: Test\r\n\r\nHello\r\n';
/** Longer than the busy event loop of many tests at once takes, on a busy machine, too. */
const REPLY_TIMEOUT_MS = 3_000;
const CONNECTIONS = 3;

/** The tests mostly wait, so they run beside each other, and what they have started ends after all of them. */
const cleanUps: (() => Promise<unknown>)[] = [];
const cleanUp = (ending: () => Promise<unknown>) => void cleanUps.push(ending);
afterAll(async () => {
  for (const ending of cleanUps.reverse()) await ending();
});

async function startRelay(options: FaultyRelayOptions): Promise<FaultyRelay> {
  const relay = await createFaultyRelay(options);
  cleanUp(() => relay.close());
  return relay;
}

function startPool(...urls: string[]): SmtpPool {
  const logger = { warn: () => undefined };
  const pool = createSmtpPool({ urls, maxConnections: CONNECTIONS, replyTimeoutMs: REPLY_TIMEOUT_MS, logger });
  cleanUp(() => pool.close({ timeoutMs: 1_000 }));
  return pool;
}

type Result = SmtpOutcome | SmtpUnavailableError;

function sendAll(pool: SmtpPool, addresses: string[]): Promise<Result[]> {
  return Promise.all(
    addresses.map((to) => pool.send({ from: FROM, to }, RAW).catch((error: unknown) => error as SmtpUnavailableError)),
  );
}

const others = Array.from({ length: 11 }, (_, index) => `reader-${index}@example.org`);
/** The faulty message is in the middle, so that others come before and after it. */
const batch = [...others.slice(0, 5), POISON, ...others.slice(5)];
const onceEach = (addresses: string[]) => new Map(addresses.map((address) => [address, 1] as const));

async function closesClean(pool: SmtpPool, relay: FaultyRelay): Promise<void> {
  await pool.close({ timeoutMs: 1_000 });
  expect(pool.usage()).toEqual({ connections: 0, sending: 0, queued: 0 });
  await eventually(async () => relay.openConnectionCount() === 0);
}

const FAULTS: RelayFault[] = [
  'silence',
  'close',
  'reset',
  '421',
  '4xx',
  '5xx',
  'garbage',
  'overlong',
  'endless',
  'extra',
  'drip',
];

function across<Step extends RelayStep>(steps: Step[]): [Step, RelayFault][] {
  return steps.flatMap((step) => FAULTS.map((fault): [Step, RelayFault] => [step, fault]));
}

/** The outcome of the faulty message. */
function expectedOf(step: RelayStep, fault: RelayFault): { kind: string; mayHaveBeenAccepted?: boolean } {
  if (fault === '4xx') return { kind: 'deferred' };
  if (fault === '5xx') return { kind: 'rejected' };
  if (fault === 'extra' && step === 'end') return { kind: 'accepted' };
  const isAfterContent = step === 'content' || step === 'end';
  return { kind: 'interrupted', mayHaveBeenAccepted: isAfterContent && fault !== '421' };
}

describe.each([true, false])('a relay that goes wrong at one message, pipelining %s', (pipelining) => {
  it.concurrent.each(across(['mail', 'rcpt', 'data', 'content', 'end']))(
    'at %s with %s takes every other message once',
    async (step, fault) => {
      // MAIL differs by the envelope sender only.
      const poisonFrom = 'poison@example.com';
      const relay = await startRelay({
        extensions: () => (pipelining ? ['PIPELINING'] : []),
        fault: (moment) => (moment.step === step && moment.from === poisonFrom ? fault : undefined),
      });
      const pool = startPool(relay.url);
      const results = await Promise.all(
        batch.map((to) => pool.send({ from: to === POISON ? poisonFrom : FROM, to }, RAW)),
      );
      const poisoned = results[batch.indexOf(POISON)];
      const isExtraDuringContent = step === 'content' && fault === 'extra';
      if (!isExtraDuringContent) expect(poisoned).toMatchObject(expectedOf(step, fault));
      results.splice(batch.indexOf(POISON), 1);
      expect(results.map((result) => result.kind)).toEqual(others.map(() => 'accepted'));
      const delivered = new Map(relay.deliveries());
      delivered.delete(POISON);
      expect(delivered).toEqual(onceEach(others));
      await closesClean(pool, relay);
    },
    20_000,
  );
});

describe('a relay that goes wrong before the first message', () => {
  const extensions = (_connection: number, isSecure: boolean) => [
    'PIPELINING',
    'AUTH PLAIN',
    ...(isSecure ? [] : ['STARTTLS']),
  ];
  const url = (relay: FaultyRelay) => `smtp://user:secret@127.0.0.1:${relay.port}?tls.rejectUnauthorized=false`;
  /** A relay that answers gets the time that many handshakes at once take. */
  const patient = (relay: FaultyRelay) => `${url(relay)}&socketTimeout=60000`;

  /** A greeting and an answer to EHLO that come twice count once. */
  const harmless = ([step, fault]: [string, string]) => fault === 'extra' && (step === 'greeting' || step === 'ehlo');
  const faults = across(['greeting', 'ehlo', 'starttls', 'auth']).filter((each) => !harmless(each));

  it.concurrent.each(faults)(
    'at %s with %s stops no other relay, and alone fails all messages in time',
    async (step, fault) => {
      const bad = await startRelay({ extensions, fault: (moment) => (moment.step === step ? fault : undefined) });
      const good = await startRelay({ extensions });
      const pool = startPool(url(bad), patient(good));
      expect((await sendAll(pool, batch)).map((result) => 'kind' in result && result.kind)).toEqual(
        batch.map(() => 'accepted'),
      );
      expect(good.deliveries()).toEqual(onceEach(batch));
      expect(bad.attempts().size).toBe(0);
      await closesClean(pool, good);
      const alone = startPool(url(bad));
      for (const result of await sendAll(alone, others.slice(0, 3)))
        expect(result).toBeInstanceOf(SmtpUnavailableError);
      await closesClean(alone, bad);
    },
    20_000,
  );
});

describe('a relay that is silent on the connections that it took first', () => {
  it.concurrent.each([1, CONNECTIONS])(
    'gets all messages over fresh connections, %s at a time, and the silent ones are given up',
    async (maxConnections) => {
      const relay = await startRelay({
        fault: ({ step, connection }) => (step === 'greeting' && connection <= maxConnections ? 'silence' : undefined),
      });
      const pool = createSmtpPool({ urls: [relay.url], maxConnections, logger: { warn: () => undefined } });
      cleanUp(() => pool.close({ timeoutMs: 1_000 }));
      expect((await sendAll(pool, batch)).map((result) => 'kind' in result && result.kind)).toEqual(
        batch.map(() => 'accepted'),
      );
      await eventually(async () => relay.openConnectionCount() <= maxConnections);
      expect(pool.relays()).toMatchObject([{ isDown: false }]);
      await closesClean(pool, relay);
    },
    20_000,
  );

  it.concurrent(
    'gets the time that it needs when it greets late',
    async () => {
      const relay = await startRelay({ greetingMs: 8_000 });
      const pool = createSmtpPool({ urls: [relay.url], maxConnections: 1, logger: { warn: () => undefined } });
      cleanUp(() => pool.close({ timeoutMs: 1_000 }));
      expect((await sendAll(pool, batch)).map((result) => 'kind' in result && result.kind)).toEqual(
        batch.map(() => 'accepted'),
      );
      expect(relay.connectionCount()).toBeLessThanOrEqual(2);
    },
    30_000,
  );
});

describe('a relay that goes wrong between messages', () => {
  it.concurrent.each(FAULTS)(
    'at RSET with %s takes every other message once',
    async (fault) => {
      const relay = await startRelay({
        fault: ({ step, to }) => (step === 'rset' ? fault : step === 'rcpt' && to === POISON ? '5xx' : undefined),
      });
      const pool = startPool(relay.url);
      const results = await sendAll(pool, batch);
      expect(results[batch.indexOf(POISON)]).toMatchObject({ kind: 'rejected' });
      expect(relay.deliveries()).toEqual(onceEach(others));
      await closesClean(pool, relay);
    },
    20_000,
  );

  it.concurrent.each(FAULTS)('at QUIT with %s does not prevent closing', async (fault) => {
    const relay = await startRelay({ fault: ({ step }) => (step === 'quit' ? fault : undefined) });
    const pool = startPool(relay.url);
    await sendAll(pool, batch);
    expect(relay.deliveries()).toEqual(onceEach(batch));
    await closesClean(pool, relay);
  });
});

describe('a relay that does not answer to the content of one message', () => {
  it.concurrent('gets the message that was announced behind it over another connection', async () => {
    const relay = await startRelay({
      fault: ({ step, to }) => (step === 'end' && to === POISON ? 'silence' : undefined),
    });
    const logger = { warn: () => undefined };
    const pool = createSmtpPool({ urls: [relay.url], maxConnections: 2, replyTimeoutMs: 5_000, logger });
    cleanUp(() => pool.close({ timeoutMs: 1_000 }));
    const results = batch.map((to) => pool.send({ from: FROM, to }, RAW));
    const [poisoned] = results.splice(batch.indexOf(POISON), 1);
    let isOver = false;
    void poisoned?.then(() => (isOver = true));
    expect((await Promise.all(results)).map(({ kind }) => kind)).toEqual(others.map(() => 'accepted'));
    expect(isOver).toBe(false);
    expect(await poisoned).toMatchObject({ kind: 'interrupted', mayHaveBeenAccepted: true });
    await closesClean(pool, relay);
  });
});

describe('a relay that changes', () => {
  it.concurrent('is asked for its extensions on each connection', async () => {
    const relay = await startRelay({
      extensions: (connection) => (connection % 2 === 0 ? [] : ['PIPELINING', 'SIZE 1000']),
      fault: ({ step, to, connection }) => (step === 'rcpt' && to === POISON && connection < 4 ? 'close' : undefined),
    });
    const pool = startPool(relay.url);
    await sendAll(pool, batch);
    expect(relay.deliveries()).toEqual(expect.objectContaining(onceEach(others)));
    await closesClean(pool, relay);
  });

  it.concurrent('gets a message command by command when its pipelining does not work', async () => {
    const relay = await startRelay({
      // Commands in one packet with MAIL are lost: the first RCPT on each connection gets no reply.
      fault: ({ step, connection }) => (step === 'rcpt' && connection <= CONNECTIONS ? 'silence' : undefined),
    });
    const pool = startPool(relay.url);
    const [first] = await sendAll(pool, [POISON]);
    expect(first).toMatchObject({ kind: 'interrupted', stage: 'rcpt' });
    const again = await Promise.all([1, 2, 3].map(() => pool.send({ from: FROM, to: POISON }, RAW, { isAlone: true })));
    expect(again.at(-1)).toMatchObject({ kind: 'accepted' });
  });
});
