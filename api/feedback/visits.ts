import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { LINKS_GAP_MS, type VisitFacts } from '../../shared/pure/engagement/machine-judge.ts';

/** What one client did with one email in the last minutes. */
export interface Visit extends Pick<VisitFacts, 'machine' | 'isSeveral'> {
  readonly emailId: string;
  /** The link that was followed last, as a digest. */
  last?: { link: string; atMs: number };
  /** The opens and clicks that were recorded as a person's. */
  readonly recorded: Set<string>;
}

/** A client that shows what it is reveals what it did so long before and does so long after, in milliseconds. */
const REMEMBERED_MS = 5 * 60_000;
/** Beyond this number, the visit that began first is forgotten. */
const VISITS_MAX = 10_000;

/** Remembers visits, so that what a client does later can tell what it was before. */
export function createVisits(now: () => number = () => performance.now()) {
  const visits = new LRUCache<string, Visit>({ max: VISITS_MAX, ttl: REMEMBERED_MS, perf: { now } });
  return {
    /** The visit of a client. @param client its address and user agent, which are kept nowhere else */
    of(client: string, emailId: string): Visit {
      const key = `${emailId} ${client}`;
      let visit = visits.get(key);
      if (!visit) visits.set(key, (visit = { emailId, machine: undefined, isSeveral: false, recorded: new Set() }));
      return visit;
    },
    /** Notes that a visitor follows a link, which may show that it is a machine. */
    follow(visit: Visit, url: string) {
      const link = hash('sha1', url, 'base64');
      const atMs = now();
      if (visit.last && visit.last.link !== link) {
        visit.isSeveral = true;
        if (atMs - visit.last.atMs < LINKS_GAP_MS) visit.machine ??= 'many_links';
      }
      visit.last = { link, atMs };
    },
  };
}
