import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { clientOf, createNetworkTest } from '../../shared/platform/client-address.ts';
import { createAllowances } from './allowances.ts';

export interface StrangerLimits {
  /** Units that a client without a valid key may use per second: one for a request, more for its body. 0: no limit. */
  perSecond: number;
  /** Proxies that say in X-Forwarded-For who their clients are, in CIDR notation. */
  proxySources: readonly string[];
  /** The email of the link that a URL is; undefined when no link of ours has that token. */
  emailOfLink: (url: string) => string | undefined;
  /** Called once, with the address of a client that sends X-Forwarded-For and is none of the proxies. */
  onUnnamedProxy: (address: string) => void;
}

/** What lets a request pass without the units of a stranger: the digest of a key that was valid lately, or a link. */
export type Pass = { key: string } | 'link';

/** Counts the cost of strangers: clients that have shown no valid key. */
export interface Strangers {
  /** The pass of a request. A link is one until its email has been asked for too often. */
  passOf: (req: IncomingMessage) => Pass | undefined;
  /** Counts a request, unless it has a pass. @returns false when its client has used up its units */
  accept: (req: IncomingMessage, res: ServerResponse, pass: Pass | undefined) => boolean;
  /** Counts bytes on a connection that are not HTTP. @returns false when its client has used up its units */
  acceptFault: (socket: Socket) => boolean;
  /** The client of a connection; undefined for a proxy, which has many clients. */
  clientBehind: (socket: Socket) => string | undefined;
}

/** A request whose cost is counted. */
interface Account {
  client: string;
  /** Whether it has a secret key that was valid lately. */
  hasSecretKey: boolean;
  /** Counts more units for the request. @returns false when its client has none left */
  spend: (units: number) => boolean;
  /** Gives its units back, because it is no stranger's. @param isByKey whether its key has shown that */
  spare: (isByKey: boolean) => void;
}

/** A client can use the units of this many seconds at once. A page of the docs takes a browser about ten requests. */
const BURST_SECONDS = 1;
/** All strangers together may use as much as this many clients. */
const CLIENTS = 10;
/**
 * Requests that the links of one email let pass at once, and a second. The readers of an email that was passed on share
 * them. Requests beyond them are counted as a stranger's.
 */
const LINKS = { burst: 60, perSecond: 1, totalFactor: Infinity };
const KEYS_MAX = 10_000;
const SECRET_KEY = /^bearer +sk_/i;
/** Longer Authorization headers hold no key. */
const AUTHORIZATION_LENGTH_MAX = 200;
/** Octets that are parsed before the key is checked, for one unit. A unit is some 0.1 ms of CPU time. */
const PARSED_BYTES_PER_UNIT = 4 * 1024;
/** Octets that are read and dropped, for one unit. */
const DROPPED_BYTES_PER_UNIT = 256 * 1024;

const accounts = new WeakMap<IncomingMessage, Account>();

/**
 * Gives back the units of a request that is no stranger's. Its key is valid and within its limits, or it has the token
 * of a link, or its key could not be looked up.
 */
export function spareRequest(req: IncomingMessage, by: 'key' | 'token' | 'doubt'): void {
  accounts.get(req)?.spare(by === 'key');
}

/** The client of a request; undefined where requests are not counted. */
export function clientOfRequest(req: IncomingMessage): string | undefined {
  return accounts.get(req)?.client;
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

/** Creates a set that forgets its oldest members. */
function createRecent() {
  const members = new Set<string>();
  return {
    has: (member: string): boolean => members.has(member),
    add(member: string): void {
      members.delete(member);
      members.add(member);
      const [oldest] = members;
      if (members.size > KEYS_MAX && oldest !== undefined) members.delete(oldest);
    },
    delete: (member: string): void => void members.delete(member),
  };
}

/** Remembers the Authorization headers that were admitted lately, as digests, and the clients that were refused since. */
function createKnownKeys() {
  const known = createRecent();
  const refused = createRecent();
  return {
    digestOf(req: IncomingMessage): string | undefined {
      const { authorization } = req.headers;
      if (authorization === undefined || authorization.length > AUTHORIZATION_LENGTH_MAX) return undefined;
      return hash('sha256', authorization, 'base64');
    },
    has: (digest: string | undefined, client: string): digest is string =>
      digest !== undefined && known.has(digest) && !refused.has(`${digest} ${client}`),
    add(digest: string, client: string): void {
      known.add(digest);
      refused.delete(`${digest} ${client}`);
    },
    /** One client may have used up its share of a key that the others still use. */
    refuse: (digest: string, client: string): void => refused.add(`${digest} ${client}`),
  };
}

/** The address of a hop in X-Forwarded-For, perhaps with a port; undefined when the hop is no address. */
function addressOf(hop: string): string | undefined {
  const text = hop.trim();
  const address = /^\[([^\]]*)\]/.exec(text)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? text;
  return isIP(address) === 0 ? undefined : address;
}

/** The client of a request: the nearest hop that is none of our proxies. */
function forwardedFor(header: string | undefined, own: string, isProxy: (address: string) => boolean): string {
  let client = own;
  for (const hop of (header ?? '').split(',').reverse()) {
    if (!isProxy(client)) break;
    const address = addressOf(hop);
    if (address === undefined) break;
    client = address;
  }
  return clientOf(client);
}

/**
 * Bounds the cost of strangers, so that a flood without a key does not slow down callers with a key, even at the same
 * address. A key that was admitted lately is recognized by its header before anything is parsed.
 */
export function createStrangers(limits: StrangerLimits): Strangers {
  const { perSecond, proxySources } = limits;
  const rate = perSecond === 0 ? Infinity : perSecond;
  const isProxy = createNetworkTest(proxySources);
  const allowances = createAllowances({ perSecond: rate, burst: rate * BURST_SECONDS, totalFactor: CLIENTS });
  const links = createAllowances(LINKS);
  const knownKeys = createKnownKeys();
  let isProxyMissing = false;
  const clients = new WeakMap<Socket, string>();

  function clientOfSocket(socket: Socket): string {
    const known = clients.get(socket);
    if (known !== undefined) return known;
    const client = clientOf(socket.remoteAddress ?? '');
    clients.set(socket, client);
    return client;
  }

  function clientBehindRequest({ socket, headers }: IncomingMessage): string {
    const own = socket.remoteAddress ?? '';
    const hops = headers['x-forwarded-for']?.toString();
    if (isProxy(own)) return forwardedFor(hops, own, isProxy);
    if (hops !== undefined && !isProxyMissing) {
      isProxyMissing = true;
      limits.onUnnamedProxy(own);
    }
    return clientOfSocket(socket);
  }

  return {
    passOf(req) {
      const key = knownKeys.digestOf(req);
      if (knownKeys.has(key, clientBehindRequest(req))) return { key };
      const emailId = limits.emailOfLink(req.url ?? '');
      return emailId !== undefined && links.spend(emailId, 1) ? 'link' : undefined;
    },
    accept(req, res, pass) {
      const client = clientBehindRequest(req);
      if (pass === undefined && !allowances.spend(client, 1)) return false;
      let spent = pass === undefined ? 1 : 0;
      let isSpared = pass !== undefined;
      const knownKey = pass === undefined || pass === 'link' ? undefined : pass.key;
      let isAdmitted = false;
      accounts.set(req, {
        client,
        hasSecretKey: knownKey !== undefined && SECRET_KEY.test(req.headers.authorization ?? ''),
        spend(units) {
          if (isSpared) return true;
          spent += units;
          return allowances.spend(client, units);
        },
        spare(isByKey) {
          isSpared = true;
          isAdmitted = true;
          allowances.giveBack(client, spent);
          spent = 0;
          const key = isByKey ? (knownKey ?? knownKeys.digestOf(req)) : undefined;
          if (key !== undefined) knownKeys.add(key, client);
        },
      });
      // A known key that is not admitted again has been replaced, or has used up its rate limit.
      if (knownKey !== undefined) {
        res.once('close', () => {
          if (!isAdmitted) knownKeys.refuse(knownKey, client);
        });
      }
      return true;
    },
    acceptFault: (socket) => allowances.spend(clientOfSocket(socket), 1),
    clientBehind: (socket) => (isProxy(socket.remoteAddress ?? '') ? undefined : clientOfSocket(socket)),
  };
}
