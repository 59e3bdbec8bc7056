import {
  afterReport,
  isUntroubled,
  UNTROUBLED,
  type ProviderHealth,
  type ProviderReport,
} from '../../pure/emails/provider-health.ts';
import type { Em } from '../database/em.ts';
import { json, query, sql } from '../database/sql.ts';
import { inTransaction } from '../database/transaction.ts';

/** The known states of the providers behind a relay; those without trouble are left out. */
export interface ProviderStates {
  /** The time of the database, which the times in the states refer to. */
  nowMs: number;
  states: Map<string, ProviderHealth>;
  /** The providers that this call has paused or resumed. */
  changes: { provider: string; before: ProviderHealth; after: ProviderHealth }[];
}

interface StateRow {
  provider: string;
  state: ProviderHealth;
}

/** Adds the results of a worker, and reads those of all workers. One worker at a time decides for a provider. */
export async function exchangeProviderStates(
  em: Em,
  relay: string,
  reports: ReadonlyMap<string, ProviderReport>,
): Promise<ProviderStates> {
  if (reports.size === 0) return readStates(em, relay, []);
  return inTransaction(em, async (tx) => {
    const providers = [...reports.keys()].sort();
    // The row is the lock, also where there was none.
    const rows = await query<StateRow & { now: Date }>(
      tx,
      sql`
        insert into provider_health as h (relay, provider, state)
        select ${relay}, provider, ${json(UNTROUBLED)}::jsonb from unnest(${providers}::text[]) as provider order by provider
        on conflict (relay, provider) do update set state = h.state returning provider, state, clock_timestamp() as now`,
    );
    // Of the last row: then all of them are locked.
    const nowMs = rows.at(-1)?.now.getTime() ?? Date.now();
    const changes = rows.map(({ provider, state }) => {
      const report = reports.get(provider);
      return { provider, before: state, after: report ? afterReport(state, report, nowMs) : state };
    });
    await write(tx, relay, changes);
    return readStates(tx, relay, changes);
  });
}

async function write(em: Em, relay: string, changes: ProviderStates['changes']): Promise<void> {
  const kept = changes.map(({ provider, after }) => ({ provider, state: isUntroubled(after) ? null : json(after) }));
  await query(
    em,
    sql`
      with t as (
        select * from unnest(
          ${kept.map(({ provider }) => provider)}::text[], ${kept.map(({ state }) => state)}::jsonb[]
        ) as t (provider, state)
      ),
      gone as (
        delete from provider_health h using t where h.relay = ${relay} and h.provider = t.provider and t.state is null
      )
      update provider_health h set state = t.state from t
      where h.relay = ${relay} and h.provider = t.provider and t.state is not null`,
  );
}

async function readStates(em: Em, relay: string, changes: ProviderStates['changes']): Promise<ProviderStates> {
  const rows = await query<StateRow & { now: Date }>(
    em,
    sql`
      select h.provider, h.state, clock_timestamp() as now
      from (select) one left join provider_health h on h.relay = ${relay}`,
  );
  const states = rows.flatMap(({ provider, state }) => (provider ? [[provider, state] as const] : []));
  return { nowMs: rows[0]?.now.getTime() ?? Date.now(), states: new Map(states), changes };
}
