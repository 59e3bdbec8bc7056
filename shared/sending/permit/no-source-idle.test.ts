import fc from 'fast-check';
import { createSendingSlots } from '../sending-slots.ts';
import { describe, expect, it } from '@jest/globals';
import { useFakeClock } from '../../../tests/support/fake-clock.ts';
import { createPermit, createStore } from '../../../tests/support/permits.ts';
import { pause } from '../../platform/wait.ts';
import { nextRoundMs } from '../../pure/emails/delivery-retry.ts';
import type { Limits, TrafficRule } from '../../pure/traffic-rules.ts';
import type { Claim, EmailSource } from '../ports.ts';
import { createSender } from '../sender.ts';
import type { SendOptions } from '../transport/smtp-pool.ts';

const clock = useFakeClock();
const { signal } = new AbortController();
const LANES = 60;
/** What a round costs beside the emails: planning, claiming, loading and recording. */
const ROUND_MS = 150;
const PAGE = 250;
const PAGES_AT_ONCE = 4;
const ACCEPTED = { kind: 'accepted', reply: '250 OK' } as const;

/** A worker that sends the pages of a campaign in rounds, as its workflow asks for them. */
function createWorker(
  limits: Partial<TrafficRule>,
  emails: readonly string[],
  messageMs: number,
  shared = createStore(),
) {
  const { permit, store } = createPermit(clock, limits, shared);
  const sentMs = new Map<string, number>();
  const dueMs = new Map(emails.map((to) => [to, 0]));
  const send = createSender<Claim>({
    slots: createSendingSlots(),
    pool: {
      capacity: LANES,
      send: async ({ to }: { to: string }, _raw: unknown, { limits }: SendOptions) => {
        limits?.begun?.();
        sentMs.set(to, performance.now());
        await pause(messageMs, signal);
        return ACCEPTED;
      },
    } as never,
    permit,
    retrySeconds: [10],
    metrics: { note: () => undefined } as never,
    sandbox: { answer: () => undefined, noteRecorded: () => undefined, followUp: async () => undefined },
    spool: {
      begin: () => ({ add: () => undefined, end: () => undefined }),
      settle: async () => undefined,
      keep: async () => undefined,
      hold: () => undefined,
    } as never,
    sink: {
      record: async (_claim, results) => {
        for (const { emailId, held } of results) {
          if (held) dueMs.set(emailId, performance.now() + Date.parse(held.until) - Date.now());
          else dueMs.delete(emailId);
        }
        return { mayContinue: true };
      },
    },
  });
  async function sendPage(page: readonly string[]): Promise<void> {
    const load = async (isTaken: (emailId: string) => boolean = () => false) => {
      const due = page.filter((to) => (dueMs.get(to) ?? Infinity) <= performance.now() && !isTaken(to));
      await permit.expect('p', 'marketing', due);
      return due.map((emailId) => ({
        emailId,
        subject: null,
        deferrals: 0,
        uncertainAttempts: 0,
        heldAt: null,
        answered: null,
        envelope: { from: 'hello@example.com', to: emailId },
        compose: () => ({}) as never,
      }));
    };
    async function* again(isTaken: (emailId: string) => boolean) {
      yield await load(isTaken);
    }
    const source: EmailSource<Claim> = {
      urgency: 'campaign',
      claimWith: (claimToken) => ({ scope: 'scope', claimToken, projectId: 'p' }),
      claim: async () => undefined,
      async *parts() {
        yield { paced: 0, left: 0, batches: [{ size: PAGE, load: () => load(), again, isAll: emails.length <= PAGE }] };
      },
      traceOf: () => undefined,
    };
    const carried = { get: () => undefined, set: () => undefined };
    const quiet = { advance: () => undefined, wait: () => undefined, isLastAttempt: () => false };
    await send(source, { signal, ...quiet, carried });
  }
  async function sendAll(): Promise<void> {
    const pages = Array.from({ length: Math.ceil(emails.length / PAGE) }, (_, n) =>
      emails.slice(n * PAGE, (n + 1) * PAGE),
    );
    while (dueMs.size > 0) {
      await pause(nextRoundMs([...dueMs.values()].map((at) => Math.max(0, at - performance.now()))) + ROUND_MS, signal);
      const due = pages.filter((page) => page.some((to) => (dueMs.get(to) ?? Infinity) <= performance.now()));
      const slot = async (): Promise<void> => {
        for (let page = due.shift(); page; page = due.shift()) await sendPage(page);
      };
      await Promise.all(Array.from({ length: PAGES_AT_ONCE }, slot));
    }
  }
  return { sentMs, sendAll, store };
}

/** Sends a campaign. @returns when each email went, in seconds */
async function secondsOf(
  limits: Partial<TrafficRule>,
  emails: readonly string[],
  messageMs = 10,
): Promise<Map<string, number>> {
  const { sentMs, sendAll } = createWorker(limits, emails, messageMs);
  const startMs = performance.now();
  const ended: true[] = [];
  void sendAll().then(() => ended.push(true));
  for (let ms = 0; ms < 600_000 && ended.length === 0; ms += 10) await clock.pass(10);
  expect(sentMs.size).toBe(emails.length);
  return new Map([...sentMs].map(([to, ms]) => [to, (ms - startMs) / 1_000]));
}

const readers = (count: number, domain: string) => Array.from({ length: count }, (_, n) => `reader${n}@${domain}`);

/** The least time that a rule leaves for emails to one provider, in seconds. */
function leastSeconds({ perSecond, perMinute, connections }: Limits, count: number, messageMs: number): number {
  return Math.max(
    perSecond === undefined ? 0 : Math.floor((count - 1) / perSecond) * 1.05,
    // What was lent counts until the end of its lease.
    perMinute === undefined ? 0 : Math.floor((count - 1) / perMinute) * 63,
    connections === undefined ? 0 : (count * messageMs) / connections / 1_000,
  );
}

describe('mail that waits for a rule', () => {
  it.each([
    [{ perSecond: 5 }, 40, 10],
    [{ perSecond: 1 }, 30, 10],
    [{ perSecond: 50 }, 1_000, 10],
    [{ perSecond: 200 }, 4_000, 10],
    [{ perMinute: 300 }, 900, 10],
    [{ connections: 2, messagesPerConnection: 4 }, 30, 10],
    [{ connections: 10 }, 3_000, 200],
  ] as [Limits, number, number][])('%j uses it while %d emails of %d ms wait', async (limits, count, messageMs) => {
    const seconds = await secondsOf(limits, readers(count, 'slow.test'), messageMs);
    expect(Math.max(...seconds.values())).toBeLessThanOrEqual(1.5 * leastSeconds(limits, count, messageMs) + 1);
  });

  it.each([1, 4])('uses nine tenths of a rule when the campaigns of %d workers last', async (count) => {
    const perSecond = 5;
    const store = createStore();
    const workers = Array.from({ length: count }, (_, n) =>
      createWorker(
        { perSecond },
        readers(PAGE, `${n}.test`).map((to) => to.replace(/@.*/, `-${n}@slow.test`)),
        10,
        store,
      ),
    );
    for (const worker of workers) {
      void worker.sendAll();
      await clock.pass(370);
    }
    // The first seconds go by until each worker has its part.
    await clock.pass(6_000);
    const sent = () => workers.reduce((sum, { sentMs }) => sum + sentMs.size, 0);
    const before = sent();
    for (let ms = 0; ms < 30_000; ms += 10) await clock.pass(10);
    expect(sent() - before).toBeGreaterThanOrEqual(0.9 * 30 * perSecond);
  });

  it('goes as soon as a connection is free, whatever page had it', async () => {
    // A few emails in each of five pages.
    const fast = readers(1_200, 'fast.test');
    const emails = fast.flatMap((to, n) => (n % 30 === 0 ? [to, `slow${n}@slow.test`] : [to]));
    const seconds = await secondsOf({ provider: 'slow.test', connections: 1 }, emails, 50);
    const last = Math.max(...[...seconds].flatMap(([to, at]) => (to.endsWith('@slow.test') ? [at] : [])));
    expect(last).toBeLessThanOrEqual(1.1 * leastSeconds({ connections: 1 }, 40, 50) + 1);
  });

  it('uses each rule of a page in full, though mail of another rule fills its room', async () => {
    const limits = { perSecond: 5 };
    const rules = [readers(150, 'first.test'), readers(100, 'second.test')];
    const seconds = await secondsOf(limits, rules.flat());
    for (const each of rules) {
      const last = Math.max(...each.map((to) => seconds.get(to) ?? Infinity));
      expect(last).toBeLessThanOrEqual(1.15 * leastSeconds(limits, each.length, 10) + 1);
    }
  });

  it('uses what any rule leaves, and keeps no other mail back', async () => {
    const run = async (limits: Limits, count: number): Promise<void> => {
      const [slow, fast] = [readers(count, 'slow.test'), readers(1_000, 'fast.test')];
      const mixed = fast.flatMap((to, n) =>
        (n * count) % 1_000 < count ? [to, slow[Math.floor((n * count) / 1_000)] ?? to] : [to],
      );
      const seconds = await secondsOf({ provider: 'slow.test', ...limits }, [...new Set(mixed)]);
      const lastOf = (of: readonly string[]) => Math.max(...of.map((to) => seconds.get(to) ?? Infinity));
      expect(lastOf(slow)).toBeLessThanOrEqual(1.5 * leastSeconds(limits, count, 10) + 3);
      expect(lastOf(fast)).toBeLessThanOrEqual(4);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.record({ perSecond: fc.integer({ min: 1, max: 100 }) }),
          fc.record({ connections: fc.integer({ min: 1, max: 10 }) }),
          fc.record({ perMinute: fc.integer({ min: 60, max: 400 }) }),
        ),
        fc.integer({ min: 1, max: 300 }),
        run,
      ),
      { numRuns: 20 },
    );
  }, 120_000);
});
