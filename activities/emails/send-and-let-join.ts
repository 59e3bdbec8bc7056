import { AsyncLocalStorage } from 'node:async_hooks';
import { pause } from '../../shared/platform/wait.ts';
import type { DeliveryScope, OpenDeliveries } from './open-deliveries.ts';

/**
 * Sends emails of a delivery. Calls `onClaimed` as soon as the delivery has claimed them.
 * @returns whether every email is decided
 */
export type SendGroup = (emailIds: string[], onClaimed: () => void) => Promise<boolean>;

export interface JoinableDelivery {
  scope: DeliveryScope;
  openDeliveries: OpenDeliveries;
  /** Whether the project may still send, without a speed limit. */
  mayJoin: () => Promise<boolean>;
  send: SendGroup;
  /** Aborted when the attempt must end. */
  signal: AbortSignal;
}

/** How long a delivery waits for emails to join it. */
const LINGER_MS = 500;
/** After this time no email may join a delivery, so that its workflow ends soon and its history stays short. */
const OPEN_MS = 30_000;
const EMAILS_MAX = 1_000;
/**
 * Groups of emails in flight. While servers are slow, other emails get deliveries of their own, which wait for a slot.
 */
const GROUPS_MAX = 4;

/**
 * Sends the emails of a delivery, and those of its project that join it meanwhile. As soon as one email must be tried
 * again, no further email may join, because the workflow plans the next attempt.
 * @returns the ids of all its emails
 * @throws the first error, when all groups have ended
 */
export async function sendAndLetJoin(
  first: string[],
  { scope, openDeliveries, mayJoin, send, signal }: JoinableDelivery,
): Promise<string[]> {
  const emailIds = [...first];
  const groups = new Set<Promise<void>>();
  const closesAt = performance.now() + OPEN_MS;
  // Emails that join come from outside the context of the activity.
  const inActivity = AsyncLocalStorage.snapshot();
  let failure: { error: unknown } | undefined;
  let lingering = new AbortController();

  const unregister = openDeliveries.add(scope, { take: (ids) => inActivity(() => join(ids)), close });
  let isOpen = unregister !== undefined;
  function close(): void {
    isOpen = false;
    unregister?.();
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
    await pause(LINGER_MS, lingering.signal);
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
