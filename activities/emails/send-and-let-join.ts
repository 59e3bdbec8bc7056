import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { DeliveryPlace, OpenDeliveries } from '../../shared/dispatch/open-deliveries.ts';

/** Sends emails of a delivery. Calls `onClaimed` as soon as they are its own. @returns whether each of them is decided */
export type SendGroup = (emailIds: string[], onClaimed: () => void) => Promise<boolean>;

export interface JoinableDelivery {
  place: DeliveryPlace;
  openDeliveries: OpenDeliveries;
  /** Whether the project may still send, and as fast as servers take it. */
  mayJoin: () => Promise<boolean>;
  send: SendGroup;
  /** Aborted when the attempt must end. */
  signal: AbortSignal;
}

/** How long a delivery waits for emails to join it. */
const LINGER_MS = 500;
/** A delivery takes nobody in after this long, so that its workflow ends soon and its history tells of few. */
const OPEN_MS = 30_000;
const EMAILS_MAX = 1_000;
/** Groups on their way at a time. While servers are slow, others get deliveries of their own, which wait for a slot. */
const GROUPS_MAX = 4;

/**
 * Sends the emails of a delivery, and those of its project that join it meanwhile. Nobody joins any more as soon as an
 * email has to be tried again, since that is for the workflow to do.
 * @returns the ids of all its emails. @throws the first error, when all groups have ended
 */
export async function sendAndLetJoin(
  first: string[],
  { place, openDeliveries, mayJoin, send, signal }: JoinableDelivery,
): Promise<string[]> {
  const emailIds = [...first];
  const groups = new Set<Promise<void>>();
  const closesAt = performance.now() + OPEN_MS;
  // Those that join come from outside of the activity.
  const inActivity = AsyncLocalStorage.snapshot();
  let failure: { error: unknown } | undefined;
  let lingering = new AbortController();

  const takeOff = openDeliveries.add(place, { take: (ids) => inActivity(() => join(ids)), close });
  let isOpen = takeOff !== undefined;
  function close(): void {
    isOpen = false;
    takeOff?.();
    lingering.abort();
  }

  function start(work: () => Promise<boolean>): void {
    const group = work()
      .then((isDecided) => {
        if (!isDecided) close();
      })
      .catch((error: unknown) => {
        failure ??= { error };
        close();
      })
      .finally(() => groups.delete(group));
    groups.add(group);
    lingering.abort();
  }

  function join(ids: string[]): Promise<boolean> {
    if (performance.now() > closesAt || emailIds.length + ids.length > EMAILS_MAX) close();
    if (!isOpen || groups.size >= GROUPS_MAX) return Promise.resolve(false);
    return new Promise((resolve) => {
      const onClaimed = (): void => {
        emailIds.push(...ids);
        resolve(true);
      };
      start(async () => {
        try {
          return (await mayJoin()) && (await send(ids, onClaimed));
        } finally {
          resolve(false);
        }
      });
    });
  }

  async function linger(): Promise<void> {
    lingering = new AbortController();
    await delay(LINGER_MS, undefined, { signal: lingering.signal }).catch(() => undefined);
  }

  signal.addEventListener('abort', close);
  start(() => send(first, () => undefined));
  do {
    while (groups.size > 0) await Promise.race(groups);
    if (isOpen) await linger();
  } while (groups.size > 0);
  close();
  signal.removeEventListener('abort', close);
  if (failure) throw failure.error;
  return emailIds;
}
