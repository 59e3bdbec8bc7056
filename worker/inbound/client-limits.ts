import ipaddr from 'ipaddr.js';

/**
 * How much of the listener one client address may use. Strangers are bounded; a server that returns reports to envelope
 * senders we signed is not, for each such address shows that our mail has passed through its hands.
 */
export interface ClientLimits {
  /** Counts a connection; false when it is one too many. One that was let in is to `leave`. */
  enter: (address: string) => boolean;
  leave: (address: string) => void;
  /** Counts a message; false when it is one too many. */
  beginMessage: (address: string) => boolean;
  /** The client named the signed envelope sender of this mail: its connection and message are not counted. */
  prove: (address: string, emailId: string) => void;
}

export interface ClientLimitOptions {
  /** Connections and messages a minute that prove nothing. */
  unprovenPerMinute: number;
  connectionsAtOnce: number;
  now?: () => number;
}

const MINUTE_MS = 60_000;
/** A connection and a message. */
const PROOF_WORTH = 2;
/** Reports of one mail that prove something within a minute: who has got one mail of ours must not live on its address. */
const PROOFS_PER_MAIL = 4;
/** What one customer of an IPv6 network usually has (RFC 6177). */
const IPV6_GROUPS = 4;

/** Addresses that one client can change at will are one client. */
function clientOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  return ipaddr.IPv6.parse(address).parts.slice(0, IPV6_GROUPS).join(':');
}

/** Counts in windows of a minute and forgets everything with the window, so that its memory is bounded by time. */
export function createClientLimits(options: ClientLimitOptions): ClientLimits {
  const { unprovenPerMinute, connectionsAtOnce, now = Date.now } = options;
  const open = new Map<string, number>();
  const unproven = new Map<string, number>();
  const proofs = new Map<string, number>();
  let window = 0;

  function turnWindow(): void {
    const current = Math.floor(now() / MINUTE_MS);
    if (current === window) return;
    window = current;
    unproven.clear();
    proofs.clear();
  }

  function count(client: string): boolean {
    turnWindow();
    const acts = (unproven.get(client) ?? 0) + 1;
    unproven.set(client, acts);
    return acts <= unprovenPerMinute;
  }

  return {
    enter(address) {
      const client = clientOf(address);
      const connections = (open.get(client) ?? 0) + 1;
      if (!count(client) || connections > connectionsAtOnce) return false;
      open.set(client, connections);
      return true;
    },
    leave(address) {
      const client = clientOf(address);
      const connections = (open.get(client) ?? 0) - 1;
      if (connections > 0) open.set(client, connections);
      else open.delete(client);
    },
    beginMessage: (address) => count(clientOf(address)),
    prove(address, emailId) {
      turnWindow();
      const client = clientOf(address);
      const times = (proofs.get(emailId) ?? 0) + 1;
      proofs.set(emailId, times);
      if (times <= PROOFS_PER_MAIL) unproven.set(client, Math.max(0, (unproven.get(client) ?? 0) - PROOF_WORTH));
    },
  };
}
