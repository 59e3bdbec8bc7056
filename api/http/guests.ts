import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { clientOf, createNetworkTest } from '../../shared/platform/client-address.ts';
import { createGuests } from '../../shared/platform/guests.ts';
import { Share } from '../../shared/platform/share.ts';
import { createYields } from '../../shared/platform/yielding.ts';

export interface HttpGuestOptions {
  /** Units that a guest may spend per second: one for a request, more for its body. 0: no limit. */
  unitsPerSecond: number;
  /** Proxies that say in X-Forwarded-For who their clients are, in CIDR notation. */
  proxySources: readonly string[];
  /** The email of the link that a URL is; undefined when no link of ours has that token. */
  emailOfLink: (url: string) => string | undefined;
  /** Called once, with the address of a client that sends X-Forwarded-For and is none of the proxies. */
  onUnnamedProxy: (address: string) => void;
}

/** What lets a request pass without units: the digest of a key that was valid lately, or a link. */
export type Proof = { key: string } | 'link';

/** A request whose units are counted. */
interface Account {
  client: string;
  /** The address that the client has. */
  address: string;
  /** Whether it has a secret key that was valid lately. */
  hasSecretKey: boolean;
  /** Spends more units for the request. @returns false when its client has none left */
  spend: (units: number) => boolean;
  /** Gives the units of the request back, and spends no more. @param isByKey whether its key has proved it */
  giveBack: (isByKey: boolean) => void;
}

/** A page of the docs takes a browser about ten requests. */
const REFILL_MS = 1_000;
/** All guests together may spend as much as this many of them. */
const TOGETHER = 10;
/**
 * Requests that the links of one email let pass. The readers of an email that was passed on share them. Requests beyond
 * them are counted as a guest's.
 */
const LINKS = { units: 60, refillMs: 60_000 };
const KEYS_MAX = 10_000;
const SECRET_KEY = /^bearer +sk_/i;
/** Longer Authorization headers hold no key. */
const AUTHORIZATION_LENGTH_MAX = 200;
/** Octets that are parsed before the key is checked, for one unit. A unit is some 0.1 ms of CPU time. */
const PARSED_BYTES_PER_UNIT = 4 * 1024;
/** Octets that are read and dropped, for one unit. */
const DROPPED_BYTES_PER_UNIT = 256 * 1024;
/** The longest that guests keep the event loop, in milliseconds. Requests with a proof never wait for them. */
const STRETCH_MS = 1;

const accounts = new WeakMap<IncomingMessage, Account>();

/**
 * Gives back the units of a request: its key is valid and within its limits, which proves further requests with it, or
 * there is a doubt because the key could not be looked up.
 */
export function giveBackUnits(req: IncomingMessage, by: 'key' | 'doubt'): void {
  accounts.get(req)?.giveBack(by === 'key');
}

/** The client of a request; undefined where requests are not counted. */
export function clientOfRequest(req: IncomingMessage): string | undefined {
  return accounts.get(req)?.client;
}

/** The address that the client of a request has; undefined where requests are not counted. */
export function addressOfRequest(req: IncomingMessage): string | undefined {
  return accounts.get(req)?.address;
}

/**
 * Whether a request may continue the trace of its caller, whose flag decides whether spans are recorded. Anybody can send
 * `traceparent`, and everybody has the public key.
 */
export function mayContinueTrace(req: IncomingMessage): boolean {
  return accounts.get(req)?.hasSecretKey ?? false;
}

/** Counts the octets of a request that are parsed before its key is checked. */
export function countParsed(req: IncomingMessage, bytes: number): void {
  accounts.get(req)?.spend(bytes / PARSED_BYTES_PER_UNIT);
}

/** Counts the octets of a request that are read and dropped. @returns whether its client has units left for more */
export function countDropped(req: IncomingMessage, bytes: number): boolean {
  return accounts.get(req)?.spend(bytes / DROPPED_BYTES_PER_UNIT) ?? true;
}

/** Remembers, as digests, the Authorization headers that were valid lately, and the clients that were refused since. */
function createProvedKeys() {
  const proved = new LRUCache<string, true>({ max: KEYS_MAX });
  const refused = new LRUCache<string, true>({ max: KEYS_MAX });
  return {
    digestOf(req: IncomingMessage): string | undefined {
      const { authorization } = req.headers;
      if (authorization === undefined || authorization.length > AUTHORIZATION_LENGTH_MAX) return undefined;
      return hash('sha256', authorization, 'base64');
    },
    has: (digest: string | undefined, client: string): digest is string =>
      digest !== undefined && proved.has(digest) && !refused.has(`${digest} ${client}`),
    add(digest: string, client: string): void {
      proved.set(digest, true);
      refused.delete(`${digest} ${client}`);
    },
    /** One client may have used up its share of a key that the others still use. */
    refuse: (digest: string, client: string): void => void refused.set(`${digest} ${client}`, true),
  };
}

/** The address of a hop in X-Forwarded-For, perhaps with a port; undefined when the hop is no address. */
function addressOf(hop: string): string | undefined {
  const text = hop.trim();
  const address = /^\[([^\]]*)\]/.exec(text)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? text;
  return isIP(address) === 0 ? undefined : address;
}

/** The address of the client of a request: the nearest hop that is none of our proxies. */
function forwardedFor(header: string | undefined, own: string, isProxy: (address: string) => boolean): string {
  let client = own;
  for (const hop of (header ?? '').split(',').reverse()) {
    if (!isProxy(client)) break;
    const address = addressOf(hop);
    if (address === undefined) break;
    client = address;
  }
  return client;
}

/**
 * Bounds what guests cost, so that a flood without a key does not slow down callers with a key, even at the same
 * address. A key that was valid lately is recognized by its header before anything is parsed.
 */
export function createHttpGuests(options: HttpGuestOptions) {
  const isProxy = createNetworkTest(options.proxySources);
  const units = options.unitsPerSecond === 0 ? Number.MAX_SAFE_INTEGER : options.unitsPerSecond;
  const guests = createGuests({ units, refillMs: REFILL_MS, together: TOGETHER });
  const links = createGuests(LINKS);
  const keys = createProvedKeys();
  let isProxyMissing = false;
  const clients = new WeakMap<Socket, string>();

  function clientOfSocket(socket: Socket): string {
    const known = clients.get(socket);
    if (known !== undefined) return known;
    const client = clientOf(socket.remoteAddress ?? '');
    clients.set(socket, client);
    return client;
  }

  function addressBehindRequest({ socket, headers }: IncomingMessage): string {
    const own = socket.remoteAddress ?? '';
    const hops = headers['x-forwarded-for']?.toString();
    if (isProxy(own)) return forwardedFor(hops, own, isProxy);
    if (hops !== undefined && !isProxyMissing) {
      isProxyMissing = true;
      options.onUnnamedProxy(own);
    }
    return own;
  }

  function clientBehind(req: IncomingMessage, address = addressBehindRequest(req)): string {
    return address === req.socket.remoteAddress ? clientOfSocket(req.socket) : clientOf(address);
  }

  return {
    /** The proof in a request. A link is one until its email has been asked for too often. */
    proofOf(req: IncomingMessage): Proof | undefined {
      const key = keys.digestOf(req);
      if (keys.has(key, clientBehind(req))) return { key };
      const emailId = options.emailOfLink(req.url ?? '');
      return emailId !== undefined && links.spend(emailId, 1) ? 'link' : undefined;
    },
    /** Counts a request, unless it has a proof. @returns false when its client has no units left */
    accept(req: IncomingMessage, res: ServerResponse, proof: Proof | undefined) {
      const address = addressBehindRequest(req);
      const client = clientBehind(req, address);
      if (proof === undefined && !guests.spend(client, 1)) return false;
      let spent = proof === undefined ? 1 : 0;
      let isProved = proof !== undefined;
      const provedKey = typeof proof === 'object' ? proof.key : undefined;
      let isAdmitted = false;
      accounts.set(req, {
        client,
        address,
        hasSecretKey: provedKey !== undefined && SECRET_KEY.test(req.headers.authorization ?? ''),
        spend(more) {
          if (isProved) return true;
          spent += more;
          return guests.spend(client, more);
        },
        giveBack(isByKey) {
          isProved = true;
          isAdmitted = true;
          guests.giveBack(client, spent);
          spent = 0;
          const key = isByKey ? (provedKey ?? keys.digestOf(req)) : undefined;
          if (key !== undefined) keys.add(key, client);
        },
      });
      // A proved key that is not admitted again has been replaced, or has used up its rate limit.
      if (provedKey !== undefined) {
        res.once('close', () => {
          if (!isAdmitted) keys.refuse(provedKey, client);
        });
      }
      return true;
    },
    /** Counts bytes on a connection that are not HTTP. @returns false when its client has no units left */
    acceptFault: (socket: Socket) => guests.spend(clientOfSocket(socket), 1),
    /** The client of a connection; undefined for a proxy, which has many clients. */
    clientBehind: (socket: Socket): string | undefined =>
      isProxy(socket.remoteAddress ?? '') ? undefined : clientOfSocket(socket),
  };
}

/** Counts the requests of guests: clients that have shown no valid key. */
export type HttpGuests = ReturnType<typeof createHttpGuests>;

/**
 * Creates a queue for requests of guests. Those that arrive together start one after the other, and other work of the
 * event loop runs in between.
 * @returns the function that starts a request, at once when no other waits
 */
export function createGuestTurns(): (start: () => void) => void {
  const guests = new Share({ total: 1 });
  const yieldIfDue = createYields(STRETCH_MS);
  const run = async (start: () => void): Promise<void> => {
    start();
    // A request begins to parse its body in the next tick, which is a part of its work.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await yieldIfDue();
  };
  return (start) => {
    if (!guests.isFree('', 1)) {
      void guests.run('', () => run(start));
      return;
    }
    const release = guests.add('', 1);
    void run(start).finally(release);
  };
}
