import { v7 as uuidV7 } from 'uuid';
import { ENGAGEMENT_EVENTS_MAX, type Engagement } from '../../shared/domain/engagement/engagement.ts';

export type NewEngagement = Pick<Engagement, 'emailId' | 'url'>;

/** An engagement that waits to be recorded. */
export interface WaitingEngagement {
  engagement: Pick<Engagement, 'id' | 'emailId' | 'url' | 'repeats'>;
  /** When it happened, in milliseconds of the monotonic clock. */
  atMs: number;
  /** Resolves when `settle` is called: nobody needs to wait for it any longer. */
  settled: Promise<void>;
  settle: () => void;
}

/**
 * Engagements that wait to be recorded, oldest first. An email that is opened again and again fills little of the
 * queue.
 */
export interface EngagementQueue {
  readonly length: number;
  /** Adds an engagement; when the queue is full, the oldest is dropped and settled. */
  add: (engagement: NewEngagement) => { entry: WaitingEngagement; isDropping: boolean };
  /** Removes the oldest engagements and returns them. */
  take: (count: number) => WaitingEngagement[];
  /** Settles all waiting engagements; they stay in the queue. */
  settleAll: () => void;
}

/** The waiting engagements of one email and kind. */
interface Group {
  count: number;
  latest: WaitingEngagement;
}

/** The most waiting engagements of one email and kind; a further one is counted as a repeat of the latest. */
const GROUP_MAX = ENGAGEMENT_EVENTS_MAX;

function groupKey(engagement: NewEngagement): string {
  return `${engagement.url === null ? 'open' : 'click'} ${engagement.emailId}`;
}

function createEntry(engagement: NewEngagement): WaitingEngagement {
  let settle: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { engagement: { id: uuidV7(), repeats: 0, ...engagement }, atMs: performance.now(), settled, settle };
}

/** Creates a queue that holds at most `capacity` engagements. */
export function createEngagementQueue(capacity: number): EngagementQueue {
  let waiting: WaitingEngagement[] = [];
  const groups = new Map<string, Group>();

  function leaveGroup({ engagement }: WaitingEngagement): void {
    const group = groups.get(groupKey(engagement));
    if (!group) return;
    group.count -= 1;
    if (group.count === 0) groups.delete(groupKey(engagement));
  }

  return {
    get length() {
      return waiting.length;
    },
    add(engagement) {
      const key = groupKey(engagement);
      const group = groups.get(key);
      if (group && group.count >= GROUP_MAX) {
        group.latest.engagement.repeats += 1;
        return { entry: group.latest, isDropping: false };
      }
      const oldest = waiting.length >= capacity ? waiting.shift() : undefined;
      if (oldest) leaveGroup(oldest);
      oldest?.settle();
      const entry = createEntry(engagement);
      waiting.push(entry);
      groups.set(key, { count: (groups.get(key)?.count ?? 0) + 1, latest: entry });
      return { entry, isDropping: oldest !== undefined };
    },
    take(count) {
      const taken = waiting.slice(0, count);
      waiting = waiting.slice(count);
      for (const entry of taken) leaveGroup(entry);
      return taken;
    },
    settleAll() {
      for (const { settle } of waiting) settle();
    },
  };
}
