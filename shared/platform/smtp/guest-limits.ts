import { LRUCache } from 'lru-cache';
import { clientOf } from '../client-address.ts';
import { createGuests, GUESTS_MAX } from '../guests.ts';

export interface GuestLimitOptions {
  /** Units that a guest may spend per minute: one for a connection, and one for a message. */
  unitsPerMinute: number;
  /** Connections of all clients together. */
  connectionsMax: number;
  now?: () => number;
}

const MINUTE_MS = 60_000;
const REFUSALS = { units: 10, refillMs: 10 * MINUTE_MS };
const OCTETS = { units: 8 * 1024 * 1024, refillMs: MINUTE_MS };
/** The units that a proof gives back: those of a connection and a message. */
const UNITS_OF_PROOF = 2;
/** Proofs by one email that give units back, so that one leaked address does not allow unlimited traffic. */
const PROOFS_PER_EMAIL = { units: 4, refillMs: MINUTE_MS };
/** How long a proof holds. */
const PROOF_MS = 60 * MINUTE_MS;
/** Clients for which one email is a proof: relays of one provider share a message, but guests may share an address. */
const CLIENTS_PER_EMAIL = { units: 2, refillMs: 2 * PROOF_MS };
/** Concurrent connections of a guest. */
const GUEST_CONNECTIONS_MAX = 5;
/** Concurrent connections of a client with proofs: more than a relay opens to one destination, and never all. */
const CONNECTIONS_PER_CLIENT_MAX = 50;
/** The part of all connections that guests may have. */
const PART_OF_GUESTS = 3 / 4;

/** Creates the record of clients that have handled our email. It is bounded by entries and by time. */
function createProofs(now: () => number) {
  const emailsOf = new LRUCache<string, Set<string>>({
    max: GUESTS_MAX,
    ttl: PROOF_MS,
    ttlResolution: 0,
    perf: { now },
  });
  const clientsPerEmail = createGuests({ ...CLIENTS_PER_EMAIL, now });
  return {
    /** The number of emails that the client has proved. */
    countOf: (client: string): number => emailsOf.get(client)?.size ?? 0,
    add(client: string, emailId: string): void {
      const emails = emailsOf.get(client) ?? new Set<string>();
      if (!emails.has(emailId) && !clientsPerEmail.spend(emailId, 1)) return;
      if (emails.size < CONNECTIONS_PER_CLIENT_MAX) emails.add(emailId);
      emailsOf.set(client, emails);
    },
  };
}

/** Creates the limits. Their memory is bounded by time and by entries. */
export function createGuestLimits({ unitsPerMinute, connectionsMax, now = Date.now }: GuestLimitOptions) {
  const units = createGuests({ units: unitsPerMinute, refillMs: MINUTE_MS, now });
  const octets = createGuests({ ...OCTETS, now });
  const refusals = createGuests({ ...REFUSALS, now });
  const proofsPerEmail = createGuests({ ...PROOFS_PER_EMAIL, now });
  const proofs = createProofs(now);
  const open = new Map<string, number>();

  /** Whether a client may have another connection: guests may use a part of all places, other clients may use all. */
  function hasPlace(client: string): boolean {
    const all = [...open.values()].reduce((sum, count) => sum + count, 0);
    if (all >= connectionsMax) return false;
    const mine = open.get(client) ?? 0;
    const proved = proofs.countOf(client);
    if (proved > 0) return mine < Math.min(CONNECTIONS_PER_CLIENT_MAX, GUEST_CONNECTIONS_MAX + proved);
    const ofGuests = [...open].reduce((sum, [each, count]) => sum + (proofs.countOf(each) > 0 ? 0 : count), 0);
    return mine < GUEST_CONNECTIONS_MAX && ofGuests < Math.floor(connectionsMax * PART_OF_GUESTS);
  }

  return {
    /**
     * Counts a connection. `full` when there is no place until another connection ends or an email is proved. Each
     * connection that entered must `leave`.
     */
    enter(address: string): 'entered' | 'full' | 'refused' {
      const client = clientOf(address);
      if (!units.spend(client, 0)) return 'refused';
      if (!hasPlace(client)) return 'full';
      units.spend(client, 1);
      open.set(client, (open.get(client) ?? 0) + 1);
      return 'entered';
    },
    leave(address: string) {
      const client = clientOf(address);
      const connections = (open.get(client) ?? 0) - 1;
      if (connections > 0) open.set(client, connections);
      else open.delete(client);
    },
    /** Counts a message. @returns false when the client has no units left */
    beginMessage(address: string) {
      const client = clientOf(address);
      return octets.spend(client, 0) && units.spend(client, 1);
    },
    /** Counts the octets of a message of a guest. After too many, it may begin no further message for a while. */
    countOctets(address: string, count: number) {
      const client = clientOf(address);
      if (proofs.countOf(client) === 0) octets.spend(client, count);
    },
    /**
     * Notes a proof of the client: its connection and message do not count.
     * @param proofId the email whose signed envelope sender it named, or the session in which it logged in
     */
    prove(address: string, emailId: string) {
      const client = clientOf(address);
      proofs.add(client, emailId);
      if (proofsPerEmail.spend(emailId, 1)) units.giveBack(client, UNITS_OF_PROOF);
    },
    /** Whether the client has given a proof lately. */
    hasProof: (address: string) => proofs.countOf(clientOf(address)) > 0,
    /** Whether the client may name another recipient that may be unknown. */
    mayGuess: (address: string) => refusals.spend(clientOf(address), 0),
    /** Counts a refused recipient. */
    countRefusal: (address: string) => void refusals.spend(clientOf(address), 1),
  };
}

/**
 * Limits how much of an SMTP listener one client network may use. It is a guest until it gives a proof: it returns
 * reports to our signed envelope senders, which show that it handled our email, or it logs in.
 */
export type GuestLimits = ReturnType<typeof createGuestLimits>;
