import {
  afterReport,
  isUntroubled,
  UNTROUBLED,
  type ProviderHealth,
  type ProviderReport,
} from '../../sending/permit/health.ts';
import type { Hold } from '../../pure/emails/hold.ts';
import type { BookingRequest, PermitStore, ProjectPolicy, ProviderStates, Stream } from '../../sending/ports.ts';
import { healthKey, partsOfKey } from '../../sending/permit/keys.ts';
import { query, queryOne, queryPrepared, sql, type Em } from '../../database/sql.ts';
import { date, nullable, number, tables } from '../../database/tables.ts';
import { storedHold } from './held-mail.ts';
import {
  isUnused,
  lend,
  UNUSED,
  type AllowanceRequest,
  type AllowanceState,
  type Lease,
} from '../../sending/permit/allowance.ts';
import { partsOfWarmUp } from '../../sending/permit/warm-up-allowance.ts';
import { partsOfAllowance } from '../../sending/permit/keys.ts';
import { changeStates, type SharedStates } from './shared-states.ts';
import { countEmails } from './source-days.ts';
import { meetSources } from './sources.ts';
import { lendWarmUps } from './warm-ups.ts';

declare module '../../database/column-types.ts' {
  interface ColumnTypes {
    'providerHealth.state': ProviderHealth;
    'allowance.state': AllowanceState;
  }
}

type KnownStates = Pick<ProviderStates, 'nowMs' | 'states' | 'changes'>;

const HEALTH: SharedStates<ProviderHealth> = {
  table: 'provider_health',
  owner: 'relay',
  none: UNTROUBLED,
  isNone: isUntroubled,
};
const ALLOWANCES: SharedStates<AllowanceState> = {
  table: 'allowance',
  owner: 'subject',
  none: UNUSED,
  isNone: isUnused,
  // An index has it, which most changes leave alone.
  also: sql`, used_at = case when s.used_at < now() - interval '1 hour' then now() else s.used_at end`,
};

/** Applies the reports of a worker. */
async function exchange(
  em: Em,
  relays: readonly string[],
  reports: ReadonlyMap<string, ProviderReport>,
): Promise<KnownStates> {
  if (reports.size === 0) return readStates(em, relays, []);
  const changes = new Map<string, ProviderStates['changes'][number]>();
  const keys = [...reports].map(([key, report]) => {
    const { relay: owner, provider } = partsOfKey(key);
    return { owner, provider, key, report };
  });
  const apply = ({ key, report }: (typeof keys)[number], before: ProviderHealth, nowMs: number): ProviderHealth => {
    const after = afterReport(before, report, nowMs);
    changes.set(key, { key, before, after });
    return after;
  };
  return changeStates(em, HEALTH, keys, apply, (tx) => readStates(tx, relays, [...changes.values()]));
}

async function readStates(em: Em, relays: readonly string[], changes: ProviderStates['changes']): Promise<KnownStates> {
  const rows = await query(
    em,
    sql`
      select h.relay, h.provider, h.state, clock_timestamp() as now
      from (select) one left join provider_health h on h.relay = any(${[...relays]}::text[])`,
    {
      relay: nullable(tables.providerHealth.relay),
      provider: nullable(tables.providerHealth.provider),
      state: nullable(tables.providerHealth.state),
      now: date,
    },
  );
  const states = rows.flatMap(({ relay, provider, state }) =>
    relay && provider && state ? [[healthKey(relay, provider), state] as const] : [],
  );
  return { nowMs: rows[0]?.now.getTime() ?? Date.now(), states: new Map(states), changes };
}

/** Lends a worker what traffic rules allow. */
async function lendAll(em: Em, requests: ReadonlyMap<string, AllowanceRequest>): Promise<ReadonlyMap<string, Lease>> {
  const leases = new Map<string, Lease>();
  if (requests.size === 0) return leases;
  const keys = [...requests].map(([key, request]) => {
    const { subject: owner, provider } = partsOfAllowance(key);
    return { owner, provider, key, request };
  });
  const apply = ({ key, request }: (typeof keys)[number], state: AllowanceState, nowMs: number): AllowanceState => {
    const lent = lend(state, request, nowMs);
    leases.set(key, lent.lease);
    return lent.state;
  };
  return changeStates(em, ALLOWANCES, keys, apply, async () => leases);
}

/**
 * Whether and how fast a project may send now; undefined when it is gone.
 * @param ratePerSecond the rate of projects that have none of their own; 0 is unlimited
 */
export async function readPolicy(em: Em, projectId: string, ratePerSecond: number): Promise<ProjectPolicy | undefined> {
  const found = sql`select disabled, emails_per_second, pools, traffic_rules, now() as now from project where id = ${projectId}`;
  const [row] = await queryPrepared(em, found, {
    disabled: tables.project.disabled,
    emails_per_second: tables.project.emailsPerSecond,
    pools: tables.project.pools,
    traffic_rules: tables.project.trafficRules,
    now: date,
  });
  if (!row) return undefined;
  const words = `Project ${projectId} is disabled. Its mail waits; enable it with: everpost project enable ${projectId}`;
  const hold: Hold = { level: 'project', reason: 'project disabled', words, until: new Date().toISOString() };
  const shaping = { pools: row.pools, rules: row.traffic_rules };
  const hasShaping = shaping.pools !== null || shaping.rules !== null;
  const own = { ...(row.disabled && { hold }), ...(hasShaping && { shaping }) };
  return { ratePerSecond: row.emails_per_second ?? ratePerSecond, knownMs: row.now.getTime(), ...own };
}

/**
 * Reserves sending speed over all workers, by moving the time at which the next email of the project may be sent. A
 * project saves nothing up while it sends nothing, so a burst after a pause is not faster than the rate.
 */
async function reserve(em: Em, { projectId, count, ratePerSecond, isUrgent }: BookingRequest): Promise<number> {
  const span = sql`${count / ratePerSecond}::float8 * interval '1 second'`;
  const endsAt = isUrgent ? sql`urgent_free_at` : sql`next_free_at`;
  const row = await queryOne(
    em,
    sql`
      insert into project_permit as b (project_id, next_free_at, urgent_free_at)
      values (${projectId}, clock_timestamp() + ${span}, case when ${isUrgent}::boolean then clock_timestamp() + ${span} end)
      on conflict (project_id) do update set
        next_free_at = greatest(b.next_free_at, clock_timestamp()) + ${span},
        urgent_free_at = case when ${isUrgent}::boolean
          then greatest(b.urgent_free_at, clock_timestamp()) + ${span} else b.urgent_free_at end
      returning extract(epoch from ${endsAt} - ${span} - clock_timestamp())::float8 * 1000 as "waitMs"`,
    { waitMs: number },
  );
  return row?.waitMs ?? 0;
}

async function note(em: Em, projectId: string, stream: Stream, hold: Hold): Promise<void> {
  await query(
    em,
    sql`
      insert into project_permit as p (project_id, holds) values (${projectId}, jsonb_build_object(${stream}::text, ${storedHold(hold)}))
      on conflict (project_id) do update set holds = p.holds || excluded.holds`,
  );
}

/**
 * Creates the store of the permits, over PostgreSQL.
 * @param ratePerSecond the rate of projects that have none of their own; 0 is unlimited
 */
export function createPermitStore(em: () => Em, ratePerSecond: number): PermitStore {
  return {
    policyOf: (projectId) => readPolicy(em(), projectId, ratePerSecond),
    reserve: (request) => reserve(em(), request),
    note: (projectId, stream, hold) => note(em(), projectId, stream, hold),
    async exchange(relays, reports, counts, { sources, rules }) {
      const own = rules && { ...rules, emailsPerSecond: ratePerSecond };
      const known = await meetSources(em(), sources, own);
      const states = await exchange(em(), relays, reports);
      await countEmails(em(), counts);
      return { ...states, ...known };
    },
    async lend(requests) {
      const [rules, warmUps] = await Promise.all([
        lendAll(em(), new Map([...requests].filter(([key]) => !partsOfWarmUp(key)))),
        lendWarmUps(em(), requests),
      ]);
      return { leases: new Map([...rules, ...warmUps.leases]), decided: warmUps.decided };
    },
  };
}
