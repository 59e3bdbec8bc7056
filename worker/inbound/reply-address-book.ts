/** The project that takes the answers to an address, kept in memory for a minute so that guesses cost no queries. */
export interface ReplyAddressBook {
  /**
   * The owner of an address. One that is not known to be in use is answered only where `mayAsk` says so, else with
   * `later`.
   * @throws whatever the query throws
   */
  ownerOf: (address: string, mayAsk: () => boolean) => Promise<{ projectId: string } | 'unknown' | 'later'>;
}

export interface ReplyAddressBookOptions {
  find: (address: string) => Promise<string | undefined>;
  now?: () => number;
}

type Owner = { projectId: string } | 'unknown';

interface Entry {
  owner: Owner;
  until: number;
}

const FRESH_MS = 60_000;
/** The number of known and of unknown addresses that are kept apart, so guesses cannot drive out addresses in use. */
const ENTRIES_MAX = 5_000;
/** Queries at once: the rest of the worker needs connections to the database as well. */
const QUERIES_MAX = 4;

/** Keeps who owns which reply address. */
export function createReplyAddressBook({ find, now = Date.now }: ReplyAddressBookOptions): ReplyAddressBook {
  const owned = new Map<string, Entry>();
  const unknown = new Map<string, Entry>();
  const asked = new Map<string, Promise<Owner>>();

  function keep(entries: Map<string, Entry>, address: string, owner: Owner): void {
    entries.delete(address);
    entries.set(address, { owner, until: now() + FRESH_MS });
    const [oldest] = entries.keys();
    if (entries.size > ENTRIES_MAX && oldest !== undefined) entries.delete(oldest);
  }

  let queries = 0;
  const queue: (() => void)[] = [];

  async function ask(address: string): Promise<Owner> {
    if (queries < QUERIES_MAX) queries++;
    else await new Promise<void>((resolve) => queue.push(resolve));
    try {
      const projectId = await find(address);
      const owner: Owner = projectId === undefined ? 'unknown' : { projectId };
      keep(owner === 'unknown' ? unknown : owned, address, owner);
      return owner;
    } finally {
      asked.delete(address);
      const next = queue.shift();
      if (next) next();
      else queries--;
    }
  }

  return {
    async ownerOf(address, mayAsk) {
      const known = owned.get(address);
      if (known && known.until > now()) return known.owner;
      if (!mayAsk()) return 'later';
      const refused = unknown.get(address);
      if (refused && refused.until > now()) return refused.owner;
      const underWay = asked.get(address);
      if (underWay) return underWay;
      const query = ask(address);
      asked.set(address, query);
      return query;
    },
  };
}
