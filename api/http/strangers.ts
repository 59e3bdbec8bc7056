import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { clientOf, createNetworkTest } from '../../shared/platform/client-address.ts';
import { createAllowances } from './allowances.ts';

export interface StrangerLimits {
  /** Units that one client may use a second without a valid key: a request, and more for what is read of it. 0 = no limit. */
  perSecond: number;
  /** Proxies that say in X-Forwarded-For who their clients are, in CIDR notation. */
  proxySources: readonly string[];
}

/** Counts the cost of clients that have shown no valid key. */
export interface Strangers {
  /** Counts a request, unless its key has been valid lately. @returns false when its client has used up its units */
  accept: (req: IncomingMessage, res: ServerResponse) => boolean;
  /** Counts a connection that was no HTTP. @returns as `accept` */
  acceptFault: (socket: Socket) => boolean;
  /** The client behind a connection; undefined when others stand behind it, too. */
  clientBehind: (socket: Socket) => string | undefined;
  /** Whether a client has used up its units. */
  isFlooding: (client: string) => boolean;
}

/** A request whose cost is counted. */
interface Account {
  /** Counts more units for it. @returns false when there are none left */
  spend: (units: number) => boolean;
  /** Takes back what was counted, because its sender has shown to be no stranger. */
  spare: (isByKey: boolean) => void;
}

/** The units of this many seconds can be used at once. A browser that opens a page of the docs sends about ten requests. */
const BURST_SECONDS = 1;
/** The share of all strangers together, counted in clients. */
const CLIENTS = 10;
const KEYS_MAX = 10_000;
/** An Authorization header with a key is no longer than this. */
const KEY_LENGTH_MAX = 200;
/** Octets for one unit, some 0.1 ms of CPU time: parsed before the key is known, or dropped unread. */
export const PARSED_BYTES_PER_UNIT = 8 * 1024;
const DROPPED_BYTES_PER_UNIT = 256 * 1024;

const accounts = new WeakMap<IncomingMessage, Account>();

/**
 * Takes back the cost of a request that is no stranger's: it has a key that is valid and within its limits, or the token of
 * a link, or its key could not be looked up.
 */
export function spareRequest(req: IncomingMessage, by: 'key' | 'token' | 'doubt'): void {
  accounts.get(req)?.spare(by === 'key');
}

/** Counts the octets of a stranger's request that are parsed. */
export function countParsed(req: IncomingMessage, bytes: number): void {
  accounts.get(req)?.spend(bytes / PARSED_BYTES_PER_UNIT);
}

/** Counts the octets of a stranger's request that are read and dropped. @returns whether it may go on */
export function countDropped(req: IncomingMessage, bytes: number): boolean {
  return accounts.get(req)?.spend(bytes / DROPPED_BYTES_PER_UNIT) ?? true;
}

/** Authorization headers that were admitted lately. Only digests are kept. */
function createKnownKeys() {
  const known = new Set<string>();
  return {
    digestOf(req: IncomingMessage): string | undefined {
      const { authorization } = req.headers;
      if (authorization === undefined || authorization.length > KEY_LENGTH_MAX) return undefined;
      return hash('sha256', authorization, 'base64');
    },
    has: (digest: string | undefined): digest is string => digest !== undefined && known.has(digest),
    add(digest: string): void {
      known.delete(digest);
      known.add(digest);
      const [oldest] = known;
      if (known.size > KEYS_MAX && oldest !== undefined) known.delete(oldest);
    },
    delete: (digest: string): void => void known.delete(digest),
  };
}

/** The address of a hop in X-Forwarded-For, which some proxies write with a port; undefined when it is none. */
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
 * Keeps the cost of strangers within bounds, so that a flood without a key leaves callers with a key as fast as they were,
 * also when it comes from their own address. A key that was admitted a moment ago is known by its header, before anything is
 * parsed.
 */
export function createStrangers({ perSecond, proxySources }: StrangerLimits): Strangers {
  const rate = perSecond === 0 ? Infinity : perSecond;
  const isProxy = createNetworkTest(proxySources);
  const allowances = createAllowances({ perSecond: rate, burst: rate * BURST_SECONDS, totalFactor: CLIENTS });
  const knownKeys = createKnownKeys();
  const clients = new WeakMap<Socket, string>();

  function clientOfSocket(socket: Socket): string {
    const known = clients.get(socket);
    if (known !== undefined) return known;
    const client = clientOf(socket.remoteAddress ?? '');
    clients.set(socket, client);
    return client;
  }

  function clientOfRequest({ socket, headers }: IncomingMessage): string {
    const own = socket.remoteAddress ?? '';
    if (!isProxy(own)) return clientOfSocket(socket);
    return forwardedFor(headers['x-forwarded-for']?.toString(), own, isProxy);
  }

  return {
    accept(req, res) {
      const digest = knownKeys.digestOf(req);
      const isKnown = knownKeys.has(digest);
      const client = clientOfRequest(req);
      if (!isKnown && !allowances.spend(client, 1)) return false;
      let spent = isKnown ? 0 : 1;
      let isSpared = false;
      accounts.set(req, {
        spend(units) {
          if (isKnown || isSpared) return true;
          spent += units;
          return allowances.spend(client, units);
        },
        spare(isByKey) {
          isSpared = true;
          allowances.giveBack(client, spent);
          spent = 0;
          if (isByKey && digest !== undefined) knownKeys.add(digest);
        },
      });
      // The key may have been replaced, or have used up its own limit.
      if (isKnown) res.once('close', () => !isSpared && knownKeys.delete(digest));
      return true;
    },
    acceptFault: (socket) => allowances.spend(clientOfSocket(socket), 1),
    clientBehind: (socket) => (isProxy(socket.remoteAddress ?? '') ? undefined : clientOfSocket(socket)),
    isFlooding: (client) => !allowances.has(client),
  };
}
