import { clientOf } from '../../shared/platform/client-address.ts';
import { createClientShares, forgetOldest } from './client-shares.ts';

/**
 * Limits how much of the listener one client network may use. Strangers are limited. A server that returns reports to
 * our signed envelope senders is not, because each such address proves that it handled our email.
 */
export interface ClientLimits {
  /**
   * Counts a connection. `full` when there is no place until another connection ends or an email is proven. Each
   * connection that entered must `leave`.
   */
  enter: (address: string) => 'entered' | 'full' | 'refused';
  leave: (address: string) => void;
  /**
   * Counts a message.
   * @returns false when there were too many
   */
  beginMessage: (address: string) => boolean;
  /** Counts the octets of a message. A stranger that has sent too many may begin no further message in this minute. */
  countOctets: (address: string, octets: number) => void;
  /** Notes that the client named the signed envelope sender of an email: its connection and message do not count. */
  prove: (address: string, emailId: string) => void;
  /** Whether the client has proven an email lately. */
  isProven: (address: string) => boolean;
  /** Whether the client may name another recipient that may be unknown. */
  mayGuess: (address: string) => boolean;
  /** Counts a refused recipient. Refusals are forgotten one by one, each after a minute. */
  countRefusal: (address: string) => void;
}

export interface ClientLimitOptions {
  /** Connections and messages per minute that prove nothing. */
  unprovenPerMinute: number;
  /** Connections of all clients together. */
  connectionsMax: number;
  now?: () => number;
}

const MINUTE_MS = 60_000;
/** A proof pays for one connection and one message. */
const PROOF_WORTH = 2;
/** Proofs by one email that count within a minute, so that one leaked address does not allow unlimited traffic. */
const PROOFS_PER_EMAIL = 4;
/** Concurrent connections of a client that has proven nothing. */
const STRANGER_CONNECTIONS_MAX = 5;
/** Concurrent connections of a proven client: more than a relay opens to one destination, and never all. */
const CONNECTIONS_PER_CLIENT_MAX = 50;
/** The share of all connections that is reserved for proven clients. */
const SHARE_FOR_PROVEN = 1 / 4;
/** How long one email proves a client. */
const PROOF_MS = 60 * MINUTE_MS;
/** Clients that one email can prove: relays of one provider share a message, but strangers may share an address. */
const CLIENTS_PER_EMAIL = 2;
const REFUSALS_MAX = 10;
const REFUSAL_MS = MINUTE_MS;
/** Octets per minute of a client that has proven nothing. */
const STRANGER_OCTETS_PER_MINUTE = 8 * 1024 * 1024;

interface Standing {
  /** The emails that prove a client, each with the time until which it does, in milliseconds since 1970. */
  proofs: Map<string, number>;
}

/** Creates the record of clients that have handled our email. It is bounded by entries and by time. */
function createStandings(now: () => number) {
  const standings = new Map<string, Standing>();
  const clientsOfEmail = new Map<string, { clients: Set<string>; until: number }>();

  /** The number of emails that prove a client now. */
  function countProofs(client: string): number {
    const standing = standings.get(client);
    if (!standing) return 0;
    for (const [emailId, until] of standing.proofs) {
      if (until > now()) break;
      standing.proofs.delete(emailId);
    }
    if (standing.proofs.size === 0) standings.delete(client);
    return standing.proofs.size;
  }

  function addProof(client: string, emailId: string): void {
    const provenBy = clientsOfEmail.get(emailId);
    const isFresh = provenBy !== undefined && provenBy.until > now();
    const clients = isFresh ? provenBy.clients : new Set<string>();
    if (clients.size >= CLIENTS_PER_EMAIL && !clients.has(client)) return;
    const standing = standings.get(client) ?? { proofs: new Map<string, number>() };
    const isEnough = countProofs(client) >= CONNECTIONS_PER_CLIENT_MAX;
    const [oldest] = standing.proofs.keys();
    if (isEnough && oldest !== undefined) standing.proofs.delete(oldest);
    standing.proofs.delete(emailId);
    standing.proofs.set(emailId, now() + PROOF_MS);
    standings.set(client, standing);
    forgetOldest(standings);
    clients.add(client);
    clientsOfEmail.set(emailId, { clients, until: isFresh ? provenBy.until : now() + PROOF_MS });
    forgetOldest(clientsOfEmail);
  }

  return { countProofs, addProof };
}

/** Creates the limits. Their memory is bounded by time and by entries. */
export function createClientLimits(options: ClientLimitOptions): ClientLimits {
  const { unprovenPerMinute, connectionsMax, now = Date.now } = options;
  const open = new Map<string, number>();
  const unproven = new Map<string, number>();
  const octets = new Map<string, number>();
  const proofsOfMinute = new Map<string, number>();
  const standings = createStandings(now);
  const guesses = createClientShares({ max: REFUSALS_MAX, intervalMs: REFUSAL_MS, now });
  let minute = 0;

  function turnMinute(): void {
    const current = Math.floor(now() / MINUTE_MS);
    if (current === minute) return;
    minute = current;
    for (const counts of [unproven, octets, proofsOfMinute]) counts.clear();
  }

  function add(counts: Map<string, number>, key: string, count: number): number {
    turnMinute();
    const sum = Math.max(0, (counts.get(key) ?? 0) + count);
    counts.set(key, sum);
    return sum;
  }

  /**
   * Whether a client may have another connection: proven clients may use all places, strangers all but the reserved
   * ones.
   */
  function hasPlace(client: string, proofs: number): boolean {
    const all = [...open.values()].reduce((sum, count) => sum + count, 0);
    if (all >= connectionsMax) return false;
    const mine = open.get(client) ?? 0;
    if (proofs > 0) return mine < Math.min(CONNECTIONS_PER_CLIENT_MAX, STRANGER_CONNECTIONS_MAX + proofs);
    const strangers = [...open].reduce((sum, [each, count]) => sum + (standings.countProofs(each) > 0 ? 0 : count), 0);
    return mine < STRANGER_CONNECTIONS_MAX && strangers < Math.floor(connectionsMax * (1 - SHARE_FOR_PROVEN));
  }

  return {
    enter(address) {
      const client = clientOf(address);
      if (add(unproven, client, 0) >= unprovenPerMinute) return 'refused';
      if (!hasPlace(client, standings.countProofs(client))) return 'full';
      add(unproven, client, 1);
      open.set(client, (open.get(client) ?? 0) + 1);
      return 'entered';
    },
    leave(address) {
      const client = clientOf(address);
      const connections = (open.get(client) ?? 0) - 1;
      if (connections > 0) open.set(client, connections);
      else open.delete(client);
    },
    beginMessage(address) {
      const client = clientOf(address);
      return add(unproven, client, 1) <= unprovenPerMinute && add(octets, client, 0) <= STRANGER_OCTETS_PER_MINUTE;
    },
    countOctets(address, count) {
      const client = clientOf(address);
      if (standings.countProofs(client) === 0) add(octets, client, count);
    },
    prove(address, emailId) {
      const client = clientOf(address);
      standings.addProof(client, emailId);
      if (add(proofsOfMinute, emailId, 1) <= PROOFS_PER_EMAIL) add(unproven, client, -PROOF_WORTH);
    },
    isProven: (address) => standings.countProofs(clientOf(address)) > 0,
    mayGuess: (address) => guesses.isLeft(clientOf(address)),
    countRefusal: (address) => guesses.use(clientOf(address)),
  };
}
