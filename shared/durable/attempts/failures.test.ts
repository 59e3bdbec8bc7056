import { describe, expect, it } from '@jest/globals';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { quietTemporal } from '../../../tests/support/quiet-temporal.ts';
import { badRequest } from '../../pure/app-error.ts';
import { atCallersCost } from '../../database/database-errors.ts';
import { SealError } from '../../platform/sealed-values.ts';
import type { AttemptMemory } from './attempt.ts';
import { outageMsMax, projectDisabledFailure, sendingFailure } from '../../../activities/failures.ts';
import { SmtpUnavailableError } from '../../sending/transport/smtp-pool.ts';
import { beginAttempt, endAttempt, lastAttempt, turnOverFailure } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';

quietTemporal();

interface Ended {
  failure: ApplicationFailure;
  reported: unknown[];
  /** The memory for the next attempt. */
  memory: AttemptMemory | undefined;
}

/** Runs an attempt that ends in an error, or in what a function returns, after attempts that left `memory`. */
async function attempt(
  error: unknown,
  memory: AttemptMemory = {},
  number = 2,
  activityType = 'deliverEmails',
): Promise<Ended> {
  const environment = new MockActivityEnvironment({ attempt: number, heartbeatDetails: { memory }, activityType });
  const ended: Ended = { failure: undefined as never, reported: [], memory };
  environment.on('heartbeat', (details: { memory: AttemptMemory }) => {
    ended.memory = details.memory;
  });
  await environment.run(async () => {
    try {
      beginAttempt();
      throw typeof error === 'function' ? error() : error;
    } catch (thrown) {
      const report = (unexpected: unknown) => void ended.reported.push(unexpected);
      ended.failure = endAttempt(thrown, { report, outageMsMax }) as ApplicationFailure;
    }
  });
  return ended;
}

const smtpUnavailable = () => sendingFailure(new SmtpUnavailableError('connect ECONNREFUSED'), 15);
const secret = new TypeError('ada@example.com is not a function');

describe('the end of an attempt', () => {
  it('is final when an application error refuses the work', async () => {
    const { failure, reported } = await attempt(badRequest('ada@example.com cannot be reached'));
    expect(failure).toMatchObject({ type: 'BAD_REQUEST', nonRetryable: true });
    expect(failure.message).not.toContain('ada@example.com');
    expect(reported).toEqual([]);
  });

  it('waits for a stored secret that cannot be read, and names the wrong setting', async () => {
    const { failure, reported, memory } = await attempt(new SealError('The DKIM key'));
    expect(failure).toMatchObject({ type: 'SecretUnreadable', nonRetryable: false });
    expect(failure.message).toContain('APP_SECRET');
    expect(memory?.outage?.totalMs).toBe(0);
    expect(reported).toEqual([]);
  });

  it('writes the text of an unexpected error to the log only', async () => {
    const { failure, reported } = await attempt(secret, {}, 1);
    expect(failure).toMatchObject({ type: 'TypeError', nonRetryable: false });
    expect(failure.message).not.toContain('ada@example.com');
    expect(reported).toEqual([secret]);
  });

  it('puts growing pauses between repetitions of an unexpected error', async () => {
    const pauses: unknown[] = [];
    let memory: AttemptMemory = {};
    for (let number = 1; number <= 12; number++) {
      const ended = await attempt(secret, memory, number);
      pauses.push(ended.failure.nextRetryDelay);
      memory = ended.memory ?? {};
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map((seconds) => seconds * 1_000));
  });

  it('is final when an unexpected error has come twenty times in a row', async () => {
    const { failure } = await attempt(secret, { faults: 19 }, 400);
    expect(failure).toMatchObject({ type: 'TypeError', nonRetryable: true });
  });

  it('counts no outage and no waiting as an unexpected error', async () => {
    const gone = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const disabled = ApplicationFailure.create({ type: 'ProjectDisabled', nextRetryDelay: 1_000, category: 'BENIGN' });
    for (const error of [gone, disabled]) {
      const { failure, memory } = await attempt(error, { faults: 19 }, 400);
      expect(failure.nonRetryable).toBe(false);
      expect(memory).toMatchObject({ faults: 0 });
    }
  });

  it.each([
    '57014',
    '55P03',
    '25P03',
    '25P04',
    '40P01',
    '25006',
    '53100',
    '53300',
    '57P01',
    '57P03',
    '58030',
    'XX002',
    '42501',
    '42P01',
    '3D000',
    '28P01',
    '55000',
    '0A000',
  ])('waits for PostgreSQL without an end, with the reason, when it says %s', async (code) => {
    const fault = Object.assign(
      new Error('select $1 - words of the server', { cause: { code, message: 'words of the server' } }),
      { code },
    );
    const { failure, memory, reported } = await attempt(fault, { faults: 19 }, 400);
    expect(failure).toMatchObject({ type: 'DatabaseUnavailable', nonRetryable: false });
    expect(failure.message).toContain(`words of the server (${code})`);
    expect([memory?.faults, reported]).toEqual([0, []]);
  });

  it.each(['22P02', '23514', '54001'])('counts what PostgreSQL says about values: %s', async (code) => {
    const { failure } = await attempt(Object.assign(new Error('values'), { code }), { faults: 19 }, 400);
    expect(failure.nonRetryable).toBe(true);
  });

  it('counts the time-out of a statement only when its cost is that of a condition', async () => {
    const failWith = (code: string) => async () => {
      throw Object.assign(new Error('canceling statement'), { code });
    };
    const ended = async (code: string) =>
      attempt(await atCallersCost(failWith(code)).catch((error: unknown) => error), { faults: 18 }, 400);
    expect((await ended('57014')).failure).toMatchObject({ type: 'StatementTooSlow' });
    expect((await ended('57014')).memory).toMatchObject({ faults: 19 });
    expect((await ended('55P03')).failure).toMatchObject({ type: 'DatabaseUnavailable' });
  });

  it('neither counts the end of a turn as an unexpected error nor forgets earlier ones', async () => {
    const { failure, memory } = await attempt(turnOverFailure(), { faults: 5 }, 400);
    expect(failure).toMatchObject({ type: 'TurnOver', nonRetryable: false, nextRetryDelay: 100 });
    expect(memory).toMatchObject({ faults: 5 });
  });

  it('is final when no server has taken mail for two days, and for a campaign after seven', async () => {
    const hourMs = 3_600_000;
    const nearly = { totalMs: 48 * hourMs - 60_000, seenAtMs: Date.now() - 120_000 };
    expect((await attempt(smtpUnavailable, { outage: nearly })).failure).toMatchObject({ nonRetryable: true });
    const ofPage = await attempt(smtpUnavailable, { outage: nearly }, 2, 'sendRecipientPage');
    expect(ofPage.failure.nonRetryable).toBe(false);
    const week = { totalMs: 7 * 24 * hourMs - 60_000, seenAtMs: Date.now() - 120_000 };
    expect((await attempt(smtpUnavailable, { outage: week }, 2, 'sendRecipientPage')).failure.nonRetryable).toBe(true);
  });

  it('does not count time without a worker as an outage of the servers', async () => {
    const totalMs = 40 * 3_600_000;
    const afterWeekend = { totalMs, seenAtMs: Date.now() - 60 * 3_600_000 };
    const { failure, memory } = await attempt(smtpUnavailable, { outage: afterWeekend });
    expect(failure.nonRetryable).toBe(false);
    expect(memory?.outage?.totalMs).toBe(totalMs);
  });

  it('retries work that has waited long less often', async () => {
    const hold = { level: 'project', reason: 'project disabled', words: 'off', until: '' } as const;
    const pauses: unknown[] = [];
    for (const waitedMs of [1_000, 3_600_000, 48 * 3_600_000]) {
      const environment = new MockActivityEnvironment({ scheduledTimestampMs: Date.now() - waitedMs });
      await environment.run(async () => {
        pauses.push(Math.round(Number(projectDisabledFailure(hold, 15).nextRetryDelay) / 1_000));
      });
    }
    expect(pauses).toEqual([15, 180, 300]);
  });

  it('is final when the worker was lost twenty times in a row', async () => {
    const { failure } = await attempt(new Error('never reached'), { faults: 20 }, 21);
    expect(failure).toMatchObject({ type: 'WorkerLost', nonRetryable: true });
  });
});

describe('the last attempt of an activity', () => {
  it('comes after many faults, and never because of PostgreSQL', async () => {
    const isLast = (faults: number, error: unknown): Promise<boolean> =>
      new MockActivityEnvironment({ heartbeatDetails: { memory: { faults } } }).run(async () => lastAttempt()(error));
    const locked = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
    expect(await isLast(0, new TypeError('unexpected'))).toBe(false);
    expect(await isLast(20, new TypeError('unexpected'))).toBe(true);
    expect(await isLast(20, locked)).toBe(false);
  });
});

describe('an attempt that heartbeats', () => {
  const deps = { heartbeatMs: 5 };

  it('sends heartbeats as long as it makes progress', async () => {
    const environment = new MockActivityEnvironment();
    const stallMs = 1_000;
    let beats = 0;
    environment.on('heartbeat', () => beats++);
    await environment.run(() =>
      withHeartbeat(
        deps,
        async (_signal, advance) => {
          const beganAt = performance.now();
          while (performance.now() - beganAt < 1.5 * stallMs) {
            await new Promise((resolve) => setTimeout(resolve, 5));
            advance();
          }
        },
        { stallMs },
      ),
    );
    expect(beats).toBeGreaterThan(1);
  });

  it('is given up without progress, and aborts the signal of its work', async () => {
    const environment = new MockActivityEnvironment();
    let heard: AbortSignal | undefined;
    const run = environment.run(() =>
      withHeartbeat(
        deps,
        (signal) => {
          heard = signal;
          return new Promise<void>(() => undefined);
        },
        { stallMs: 30 },
      ),
    );
    await expect(run).rejects.toMatchObject({ type: 'Stalled', nonRetryable: false });
    expect(heard?.aborted).toBe(true);
  });

  it('does not stall while it waits for PostgreSQL, and shows why', async () => {
    const environment = new MockActivityEnvironment();
    const stallMs = 1_000;
    const shown: unknown[] = [];
    environment.on('heartbeat', (details: { progress?: unknown }) => shown.push(details.progress));
    const locked = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
    await environment.run(() =>
      withHeartbeat(
        deps,
        async (_signal, _advance, wait) => {
          const beganAt = performance.now();
          while (performance.now() - beganAt < 1.5 * stallMs) {
            await new Promise((resolve) => setTimeout(resolve, 5));
            wait(locked);
          }
        },
        { stallMs, progress: () => ({ sent: 3 }) },
      ),
    );
    expect(shown.at(-1)).toEqual({ sent: 3, waiting: 'PostgreSQL: canceling statement due to lock timeout (55P03)' });
  });

  it('forgets the unexpected errors of earlier attempts once it has made progress', async () => {
    const environment = new MockActivityEnvironment({ attempt: 9, heartbeatDetails: { memory: { faults: 8 } } });
    const seen: AttemptMemory[] = [];
    environment.on('heartbeat', (details: { memory: AttemptMemory }) => seen.push(details.memory));
    await environment.run(() => withHeartbeat(deps, async (_signal, advance) => advance()));
    expect(seen).toEqual([{ faults: 0 }]);
  });
});
