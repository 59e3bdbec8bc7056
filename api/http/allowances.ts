export interface AllowanceLimits {
  /** Units that one client gets a second. */
  perSecond: number;
  /** Units that it can save up. */
  burst: number;
  /** What all clients together get and can save up, as a multiple of what one can. */
  totalFactor: number;
  /** In milliseconds. */
  now?: () => number;
}

export interface Allowances {
  /** Whether a client has units left. */
  has: (client: string) => boolean;
  /** Takes units; the last ones may be overdrawn. @returns false when there are none left, and nothing was taken */
  spend: (client: string, units: number) => boolean;
  giveBack: (client: string, units: number) => void;
}

interface Allowance {
  units: number;
  at: number;
}

/** Clients that are remembered; beyond it the oldest are forgotten. What all have together stays counted. */
const CLIENTS_MAX = 10_000;

/** Units that refill with time, for each client and for all of them together. */
export function createAllowances(limits: AllowanceLimits): Allowances {
  const { perSecond, burst, totalFactor, now = () => performance.now() } = limits;
  const clients = new Map<string, Allowance>();
  const total: Allowance = { units: totalFactor * burst, at: now() };

  function refill(allowance: Allowance, factor: number): Allowance {
    const at = now();
    const gained = ((at - allowance.at) / 1_000) * perSecond * factor;
    allowance.units = Math.min(burst * factor, allowance.units + gained);
    allowance.at = at;
    return allowance;
  }

  function allowanceOf(client: string): Allowance {
    const known = clients.get(client);
    if (known) return refill(known, 1);
    const [oldest] = clients.keys();
    if (clients.size >= CLIENTS_MAX && oldest !== undefined) clients.delete(oldest);
    const allowance = { units: burst, at: now() };
    clients.set(client, allowance);
    return allowance;
  }

  function isLeft(own: Allowance): boolean {
    return own.units > 0 && refill(total, totalFactor).units > 0;
  }

  return {
    has: (client) => isLeft(allowanceOf(client)),
    spend(client, units) {
      const own = allowanceOf(client);
      if (!isLeft(own)) return false;
      own.units -= units;
      total.units -= units;
      return true;
    },
    giveBack(client, units) {
      allowanceOf(client).units += units;
      total.units += units;
    },
  };
}
