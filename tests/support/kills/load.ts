import { expect } from '@jest/globals';
import type { TestApi } from '../api.ts';
import { eventually } from '../eventually.ts';
import type { FaultyProxy } from '../faulty-proxy.ts';
import type { SmtpSink } from '../smtp-sink.ts';
import type { Succession } from '../succession.ts';
import type { TestNamespace } from '../temporal.ts';

/** What is killed. */
export type Kill = 'worker' | 'api' | 'postgresql' | 'postgresql of the api' | 'temporal' | 'temporal in order';

/** What a load does around a kill. */
export interface KillPoint {
  /** Waits until the work is in its middle, and keeps it there. */
  hold?: () => Promise<unknown>;
  /** Called when the part is dead, and before it starts again. */
  letGo?: () => Promise<unknown>;
}

/** Work of one kind that is under way at kills. */
export interface Load {
  /** What must have become of it. */
  name: string;
  /** False for work that cannot be kept in its middle. It is held last, just before the kill. */
  isHeld: boolean;
  begin?: () => Promise<void>;
  /** The kills of its round in whose middle it is, by name. */
  points: Record<string, KillPoint>;
  /** Waits for the end of the work, and checks what has become of it. */
  check: () => Promise<void>;
}

/**
 * All of Everpost as processes that can be killed, on servers that can be killed, and an API in the process of the test
 * that prepares and checks. That one starts no work.
 */
export interface KillWorld extends TestApi {
  sink: SmtpSink;
  temporal: TestNamespace;
  workerProcess: Succession;
  apiProcess: Succession;
  /** Where the API that is killed listens, and what stands before it and causes faults. */
  apiUrl: string;
  submissionPort: number;
  faulty: FaultyProxy;
  /** What the SMTP server waits for before it replies to a recipient of a domain. */
  beforeReply: Map<string, () => Promise<unknown>>;
}

export const PATIENCE_MS = 90_000;

const domainOf = (address: string) => address.slice(address.indexOf('@') + 1);

/** How often each recipient of a domain has got an email. */
export function recipientCountsOf({ sink }: Pick<KillWorld, 'sink'>, domain: string): number[] {
  return [...sink.recipientCounts()].filter(([address]) => domainOf(address) === domain).map(([, count]) => count);
}

export const addressesOf = (count: number, domain: string) =>
  Array.from({ length: count }, (_, n) => `reader${n + 1}@${domain}`);

/**
 * Waits until each address has got its emails, and checks that none was lost and none doubled, and that nobody else of
 * their domains has got one. @param repeats how many may have come once more: those that were being sent at a kill
 */
export async function expectArrived(
  { sink }: Pick<KillWorld, 'sink'>,
  addresses: readonly string[],
  { times = 1, repeats = 0 }: { times?: number; repeats?: number } = {},
): Promise<void> {
  const domains = new Set(addresses.map(domainOf));
  const counts = () => new Map([...sink.recipientCounts()].filter(([address]) => domains.has(domainOf(address))));
  await eventually(async () => {
    const now = counts();
    return addresses.every((address) => (now.get(address) ?? 0) >= times);
  }, PATIENCE_MS);
  const arrived = counts();
  const repeated = [...arrived.values()].reduce((sum, count) => sum + count - times, 0);
  expect([...arrived.keys()].sort()).toEqual(addresses.toSorted());
  expect(repeated).toBeLessThanOrEqual(repeats);
}
