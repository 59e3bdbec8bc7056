import { json, query, SqlFragment, sql, inTransaction, type Em } from '../../database/sql.ts';
import { jsonAs } from '../../database/shape.ts';
import { date, nullable, number, text } from '../../database/tables.ts';

/** A table of states that all workers share. Its key is a column of its own and the provider. */
export interface SharedStates<State> {
  table: 'provider_health' | 'allowance';
  owner: 'relay' | 'subject';
  /** The state of a key without a row. */
  none: State;
  isNone: (state: State) => boolean;
  /** Further columns that a change of a row sets. */
  also?: SqlFragment;
}

export interface StateKey {
  owner: string;
  provider: string;
}

const TRIES_MAX = 3;

/** Another worker was the first to store a state. */
class LostRaceError extends Error {}

/** @returns whether all new rows are stored */
async function write<State>(
  tx: Em,
  { table, owner, also = new SqlFragment('') }: SharedStates<State>,
  rows: readonly (StateKey & { isNew: boolean; state: State | undefined })[],
): Promise<boolean> {
  const [name, column] = [new SqlFragment(table), new SqlFragment(owner)];
  const isOf = sql`s.${column} = t.owner and s.provider = t.provider`;
  const [row] = await query(
    tx,
    sql`
      with t as (
        select owner, provider, state, "isNew" as is_new
        from jsonb_to_recordset(${json(rows)}::jsonb) as t (owner text, provider text, state jsonb, "isNew" boolean)
      ),
      gone as (delete from ${name} s using t where ${isOf} and t.state is null),
      changed as (
        update ${name} s set state = t.state ${also} from t where ${isOf} and t.state is not null and not t.is_new
      ),
      added as (
        insert into ${name} (${column}, provider, state) select owner, provider, state from t where is_new order by 1, 2
        on conflict do nothing returning 1
      )
      select count(*)::int as added from added`,
    { added: number },
  );
  return row?.added === rows.filter(({ isNew }) => isNew).length;
}

/**
 * Changes the states of keys. One worker at a time changes that of a key. A key without a row is not locked: when two
 * workers store its first state, one of them begins again.
 * @param change gets a key, its state, and the time of the database in milliseconds since 1970
 * @param then runs in the same transaction
 */
export async function changeStates<State, Key extends StateKey, Result>(
  em: Em,
  states: SharedStates<State>,
  keys: readonly Key[],
  change: (key: Key, state: State, nowMs: number) => State,
  then: (tx: Em) => Promise<Result>,
): Promise<Result> {
  const [name, column] = [new SqlFragment(states.table), new SqlFragment(states.owner)];
  const attempt = () =>
    inTransaction(em, async (tx) => {
      const rows = await query(
        tx,
        sql`
          with found as materialized (
            select s.${column} as owner, s.provider, s.state from ${name} s
            join unnest(${keys.map(({ owner }) => owner)}::text[], ${keys.map(({ provider }) => provider)}::text[])
              as k (owner, provider) on k.owner = s.${column} and k.provider = s.provider
            order by 1, 2 for update of s
          )
          select owner, provider, state, null::timestamptz as now from found
          union all select '', '', null, clock_timestamp() from (select count(*) from found) locked`,
        { owner: text, provider: text, state: nullable(jsonAs<State>()), now: nullable(date) },
      );
      // The time of the last row, because all rows are locked by then.
      const nowMs = rows.at(-1)?.now?.getTime() ?? Date.now();
      const known = new Map(rows.map(({ owner, provider, state }) => [`${owner} ${provider}`, state]));
      const changed = keys.map((key) => {
        const { owner, provider } = key;
        const before = known.get(`${owner} ${provider}`) ?? undefined;
        const after = change(key, before ?? states.none, nowMs);
        const state = states.isNone(after) ? undefined : after;
        return { owner, provider, isNew: before === undefined, state };
      });
      const kept = changed.filter(({ isNew, state }) => !isNew || state !== undefined);
      if (kept.length > 0 && !(await write(tx, states, kept))) throw new LostRaceError();
      return then(tx);
    });
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LostRaceError) || tries === TRIES_MAX) throw error;
    }
  }
}
