export interface AllowanceLimits {
  /** Units that one client gets a second. */
  perSecond: number;
  /** The most units that one client can save up. */
  burst: number;
  /** What all clients together get and can save up, as a multiple of the values for one client. */
  totalFactor: number;
  /** The current time in milliseconds. */
  now?: () => number;
}

export interface Allowances {
  /** Takes units, perhaps more than are left. @returns false when none are left; nothing is taken then */
  spend: (client: string, units: number) => boolean;
  /** Returns units that were taken. */
  giveBack: (client: string, units: number) => void;
}

interface Allowance {
  units: number;
  refilledAtMs: number;
}

/** Beyond this number, the oldest client is forgotten. The units of all clients together stay counted. */
const CLIENTS_MAX = 10_000;

/** Creates allowances of units that refill with time, for each client and for all of them together. */
export function createAllowances(limits: AllowanceLimits): Allowances {
  const { perSecond, burst, totalFactor, now = () => performance.now() } = limits;
  const clients = new Map<string, Allowance>();
  const total: Allowance = { units: totalFactor * burst, refilledAtMs: now() };

  function refill(allowance: Allowance, factor: number): Allowance {
    const nowMs = now();
    const gained = ((nowMs - allowance.refilledAtMs) / 1_000) * perSecond * factor;
    allowance.units = Math.min(burst * factor, allowance.units + gained);
    allowance.refilledAtMs = nowMs;
    return allowance;
  }

  function allowanceOf(client: string): Allowance {
    const known = clients.get(client);
    if (known) return refill(known, 1);
    const [oldest] = clients.keys();
    if (clients.size >= CLIENTS_MAX && oldest !== undefined) clients.delete(oldest);
    const allowance = { units: burst, refilledAtMs: now() };
    clients.set(client, allowance);
    return allowance;
  }

  return {
    spend(client, units) {
      const own = allowanceOf(client);
      if (own.units <= 0 || refill(total, totalFactor).units <= 0) return false;
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
