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
import type { Em } from '../../database/em.ts';
import { json, query, queryOne, queryPrepared, sql } from '../../database/sql.ts';
import { date, nullable, number, pick, tables } from '../../database/tables.ts';
import { inTransaction } from '../../database/transaction.ts';
import {
  isUnused,
  lend,
  UNUSED,
  type AllowanceRequest,
  type AllowanceState,
  type Lease,
} from '../../sending/permit/allowance.ts';
import { partsOfAllowance, allowanceKey } from '../../sending/permit/shaping.ts';
import { countEmails } from './source-days.ts';
import { meetSources } from './sources.ts';

declare module '../../database/column-types.ts' {
  interface ColumnTypes {
    'providerHealth.state': ProviderHealth;
    'allowance.state': AllowanceState;
  }
}

type KnownStates = Omit<ProviderStates, 'leases' | 'drained'>;

const STATE_ROW = pick(tables.providerHealth, 'relay', 'provider', 'state');
/** Applies the reports of a worker. One worker at a time changes the state of a key. */
async function exchange(
  em: Em,
  relays: readonly string[],
  reports: ReadonlyMap<string, ProviderReport>,
): Promise<KnownStates> {
  if (reports.size === 0) return readStates(em, relays, []);
  return inTransaction(em, async (tx) => {
    const parts = [...reports.keys()].sort().map(partsOfKey);
    // The upsert locks the row of each key, and creates it when there was none.
    const rows = await query(
      tx,
      sql`
        insert into provider_health as h (relay, provider, state)
        select relay, provider, ${json(UNTROUBLED)}::jsonb
        from unnest(${parts.map(({ relay }) => relay)}::text[], ${parts.map(({ provider }) => provider)}::text[])
          as k (relay, provider)
        order by relay, provider
        on conflict (relay, provider) do update set state = h.state
        returning relay, provider, state, clock_timestamp() as now`,
      { ...STATE_ROW, now: date },
    );
    // The time of the last row, because all rows are locked by then.
    const nowMs = rows.at(-1)?.now.getTime() ?? Date.now();
    const changes = rows.map(({ relay, provider, state }) => {
      const key = healthKey(relay, provider);
      const report = reports.get(key);
      return { key, before: state, after: report ? afterReport(state, report, nowMs) : state };
    });
    await writeStates(tx, changes);
    return readStates(tx, relays, changes);
  });
}

async function writeStates(em: Em, changes: ProviderStates['changes']): Promise<void> {
  const kept = changes.map(({ key, after }) => ({
    ...partsOfKey(key),
    state: isUntroubled(after) ? null : json(after),
  }));
  await query(
    em,
    sql`
      with t as (
        select * from unnest(
          ${kept.map(({ relay }) => relay)}::text[], ${kept.map(({ provider }) => provider)}::text[],
          ${kept.map(({ state }) => state)}::jsonb[]
        ) as t (relay, provider, state)
      ),
      gone as (
        delete from provider_health h using t
        where h.relay = t.relay and h.provider = t.provider and t.state is null
      )
      update provider_health h set state = t.state from t
      where h.relay = t.relay and h.provider = t.provider and t.state is not null`,
  );
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

/** Lends a worker what traffic rules allow. One worker at a time changes what is known of the use of a rule. */
async function lendAll(em: Em, requests: ReadonlyMap<string, AllowanceRequest>): Promise<ReadonlyMap<string, Lease>> {
  const leases = new Map<string, Lease>();
  if (requests.size === 0) return leases;
  const parts = [...requests.keys()].sort().map(partsOfAllowance);
  return inTransaction(em, async (tx) => {
    const rows = await query(
      tx,
      sql`
        insert into allowance as a (subject, provider, state)
        select subject, provider, ${json(UNUSED)}::jsonb
        from unnest(${parts.map(({ subject }) => subject)}::text[], ${parts.map(({ provider }) => provider)}::text[])
          as k (subject, provider)
        order by subject, provider
        on conflict (subject, provider) do update set state = a.state
        returning subject, provider, state, clock_timestamp() as now`,
      { ...pick(tables.allowance, 'subject', 'provider', 'state'), now: date },
    );
    const nowMs = rows.at(-1)?.now.getTime() ?? Date.now();
    const states = rows.flatMap(({ subject, provider, state }) => {
      const key = allowanceKey(subject, provider);
      const request = requests.get(key);
      if (!request) return [];
      const lent = lend(state, request, nowMs);
      leases.set(key, lent.lease);
      return [{ subject, provider, state: isUnused(lent.state) ? null : json(lent.state) }];
    });
    await query(
      tx,
      sql`
        with t as (
          select * from unnest(
            ${states.map(({ subject }) => subject)}::text[], ${states.map(({ provider }) => provider)}::text[],
            ${states.map(({ state }) => state)}::jsonb[]
          ) as t (subject, provider, state)
        ),
        gone as (
          delete from allowance a using t
          where a.subject = t.subject and a.provider = t.provider and t.state is null
        )
        update allowance a set state = t.state, used_at = now() from t
        where a.subject = t.subject and a.provider = t.provider and t.state is not null`,
    );
    return leases;
  });
}

/**
 * Whether and how fast a project may send now; undefined when it is gone.
 * @param ratePerSecond the rate of projects that have none of their own; 0 is unlimited
 */
export async function readPolicy(em: Em, projectId: string, ratePerSecond: number): Promise<ProjectPolicy | undefined> {
  const found = sql`select disabled, emails_per_second, pools, traffic_rules from project where id = ${projectId}`;
  const [row] = await queryPrepared(em, found, {
    disabled: tables.project.disabled,
    emails_per_second: tables.project.emailsPerSecond,
    pools: tables.project.pools,
    traffic_rules: tables.project.trafficRules,
  });
  if (!row) return undefined;
  const words = `Project ${projectId} is disabled. Its mail waits; enable it with: everpost project enable ${projectId}`;
  const hold: Hold = { level: 'project', reason: 'project disabled', words, until: new Date().toISOString() };
  const shaping = { pools: row.pools, rules: row.traffic_rules };
  const hasShaping = shaping.pools !== null || shaping.rules !== null;
  const own = { ...(row.disabled && { hold }), ...(hasShaping && { shaping }) };
  return { ratePerSecond: row.emails_per_second ?? ratePerSecond, ...own };
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
      insert into project_permit as p (project_id, holds) values (${projectId}, ${json({ [stream]: hold })}::jsonb)
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
    async exchange(relays, reports, counts, { sources, requests }) {
      // Emails wait for the leases.
      const [leases, drained] = await Promise.all([lendAll(em(), requests), meetSources(em(), sources)]);
      const states = await exchange(em(), relays, reports);
      await countEmails(em(), counts);
      return { ...states, leases, drained };
    },
  };
}
