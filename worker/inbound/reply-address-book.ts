import { LRUCache } from 'lru-cache';
import { Share } from '../../shared/platform/share.ts';

export interface ReplyAddressBookOptions {
  find: (address: string) => Promise<string | undefined>;
  now?: () => number;
}

type Owner = { projectId: string } | 'unknown';

const FRESH_MS = 60_000;
/**
 * The number of entries of each kind. Known and unknown addresses are kept separately, so that guesses cannot displace
 * addresses in use.
 */
const ENTRIES_MAX = 5_000;
/** Concurrent queries: the rest of the worker needs database connections as well. */
const QUERIES_MAX = 4;

/** Creates the lookup of the owners of reply addresses. */
export function createReplyAddressBook({ find, now = Date.now }: ReplyAddressBookOptions) {
  const fresh = { max: ENTRIES_MAX, ttl: FRESH_MS, ttlResolution: 0, perf: { now } };
  const owned = new LRUCache<string, Owner>(fresh);
  const unknown = new LRUCache<string, Owner>(fresh);
  const asked = new Map<string, Promise<Owner>>();

  const queries = new Share({ total: QUERIES_MAX });

  async function ask(address: string): Promise<Owner> {
    try {
      const projectId = await queries.run(address, () => find(address));
      const owner: Owner = projectId === undefined ? 'unknown' : { projectId };
      (owner === 'unknown' ? unknown : owned).set(address, owner);
      return owner;
    } finally {
      asked.delete(address);
    }
  }

  return {
    /**
     * Finds the owner of an address. If the address is not known to be in use and `mayAsk` returns false, the answer is
     * `later`.
     * @throws the error of the query
     */
    async ownerOf(address: string, mayAsk: () => boolean): Promise<{ projectId: string } | 'unknown' | 'later'> {
      const known = owned.get(address);
      if (known) return known;
      if (!mayAsk()) return 'later';
      const answered = unknown.get(address) ?? asked.get(address);
      if (answered) return answered;
      const query = ask(address);
      asked.set(address, query);
      return query;
    },
  };
}
