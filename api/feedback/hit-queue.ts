import { v7 as uuidV7 } from 'uuid';
import { HIT_EVENTS_MAX, type Engagement } from '../../shared/domain/engagement/engagement.ts';

export type Hit = Pick<Engagement, 'emailId' | 'url'>;

/** A hit that waits to be recorded. */
export interface WaitingHit {
  hit: Pick<Engagement, 'id' | 'emailId' | 'url' | 'repeats'>;
  /** When it happened, on the monotonic clock. */
  at: number;
  settled: Promise<void>;
  settle: () => void;
}

/** Hits that wait to be recorded, oldest first. One email takes up little of the room, however often it is hit. */
export interface HitQueue {
  readonly length: number;
  /** Adds a hit; when the queue is full, the oldest is dropped and settled. */
  add: (hit: Hit) => { entry: WaitingHit; isDropping: boolean };
  /** Takes the oldest hits out. */
  take: (count: number) => WaitingHit[];
  /** Settles all waiting hits; they stay in the queue. */
  settleAll: () => void;
}

/** The waiting hits of one email and kind. */
interface Group {
  count: number;
  latest: WaitingHit;
}

/** An email and kind may have this many events; further hits are added to the latest one that waits. */
const GROUP_MAX = HIT_EVENTS_MAX;

function groupKey(hit: Hit): string {
  return `${hit.url === null ? 'open' : 'click'} ${hit.emailId}`;
}

function createEntry(hit: Hit): WaitingHit {
  let settle: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { hit: { id: uuidV7(), repeats: 0, ...hit }, at: performance.now(), settled, settle };
}

/** Creates a queue that holds at most `capacity` hits. */
export function createHitQueue(capacity: number): HitQueue {
  let waiting: WaitingHit[] = [];
  const groups = new Map<string, Group>();

  function leaveGroup({ hit }: WaitingHit): void {
    const group = groups.get(groupKey(hit));
    if (!group) return;
    group.count -= 1;
    if (group.count === 0) groups.delete(groupKey(hit));
  }

  return {
    get length() {
      return waiting.length;
    },
    add(hit) {
      const group = groups.get(groupKey(hit));
      if (group && group.count >= GROUP_MAX) {
        group.latest.hit.repeats += 1;
        return { entry: group.latest, isDropping: false };
      }
      const oldest = waiting.length >= capacity ? waiting.shift() : undefined;
      if (oldest) leaveGroup(oldest);
      oldest?.settle();
      const entry = createEntry(hit);
      waiting.push(entry);
      groups.set(groupKey(hit), { count: (groups.get(groupKey(hit))?.count ?? 0) + 1, latest: entry });
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
