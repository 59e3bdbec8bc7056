import {
  afterReport,
  isUntroubled,
  UNTROUBLED,
  type ProviderHealth,
  type ProviderReport,
} from '../../sending/permit/provider-health.ts';
import type { PermitStore, ProviderStates } from '../../sending/ports.ts';
import { healthKey, partsOfKey } from '../../sending/permit/health-key.ts';
import type { Em } from '../../database/em.ts';
import { json, query, sql } from '../../database/sql.ts';
import { date, nullable, pick, tables } from '../../database/tables.ts';
import { inTransaction } from '../../database/transaction.ts';
import { countSent } from './complaint-rates.ts';

declare module '../../database/column-types.ts' {
  interface ColumnTypes {
    'providerHealth.state': ProviderHealth;
  }
}

const STATE_ROW = pick(tables.providerHealth, 'relay', 'provider', 'state');
/** Applies the reports of a worker. One worker at a time changes the state of a key. */
async function exchange(
  em: Em,
  relays: readonly string[],
  reports: ReadonlyMap<string, ProviderReport>,
): Promise<ProviderStates> {
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

async function readStates(
  em: Em,
  relays: readonly string[],
  changes: ProviderStates['changes'],
): Promise<ProviderStates> {
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

/** Creates the store of the permits, over PostgreSQL. */
export function createPermitStore(em: () => Em): PermitStore {
  return {
    exchange: (relays, reports) => exchange(em(), relays, reports),
    countSent: (counts) => countSent(em(), counts),
  };
}
