export interface ClientShares {
  /** Whether a client has something left of its share. */
  isLeft: (client: string) => boolean;
  use: (client: string) => void;
}

export interface ClientShareOptions {
  /** What one client may use at once. */
  max: number;
  /** The time after which one of these is given back, in milliseconds. */
  intervalMs: number;
  now?: () => number;
}

/** Clients that are remembered; beyond this number the oldest are forgotten. */
export const CLIENTS_MAX = 10_000;

/** Removes the oldest entry when there are too many. */
export function forgetOldest(entries: Map<string, unknown>): void {
  const [oldest] = entries.keys();
  if (entries.size > CLIENTS_MAX && oldest !== undefined) entries.delete(oldest);
}

/** Creates equal shares for clients. What one client uses is taken from no other. */
export function createClientShares({ max, intervalMs, now = Date.now }: ClientShareOptions): ClientShares {
  /** The time at which a client has its whole share again. */
  const wholeAt = new Map<string, number>();
  return {
    isLeft: (client) => (wholeAt.get(client) ?? 0) - now() <= (max - 1) * intervalMs,
    use(client) {
      const last = Math.max(wholeAt.get(client) ?? 0, now());
      wholeAt.delete(client);
      wholeAt.set(client, last + intervalMs);
      forgetOldest(wholeAt);
    },
  };
}
