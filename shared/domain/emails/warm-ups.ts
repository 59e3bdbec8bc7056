import { DAY_MS, dayOf } from '../../pure/days.ts';
import { badRequest } from '../../pure/app-error.ts';
import {
  allowedAt,
  positionOn,
  stepsOf,
  USED_SHARE,
  type DayResults,
  type SourceWarmUp,
  type WarmUpOutcome,
} from '../../pure/warm-up.ts';
import { LEASE_MS, type AllowanceRequest, type Lease } from '../../sending/permit/allowance.ts';
import {
  lendDay,
  nextDayUse,
  NO_USE,
  partsOfWarmUp,
  type DayUse,
  type WarmingSource,
} from '../../sending/permit/warm-up-allowance.ts';
import type { WarmUpDecision } from '../../sending/ports.ts';
import { json, query, queryOne, sql, inTransaction, type SqlFragment, type Em } from '../../database/sql.ts';
import { date, nullable, oneOf, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { wakeHeldMail } from './held-mail.ts';
import { resultsOf, type SourceResults } from './source-days.ts';
import { noSuchSource } from './sources.ts';

declare module '../../database/column-types.ts' {
  interface ColumnTypes {
    'warmUp.use': DayUse;
  }
}

const ROW = {
  ...pick(tables.warmUp, 'source', 'provider', 'step', 'reason', 'use'),
  setback: nullable(oneOf('repeated', 'stepped back')),
  day: text,
  movedOn: nullable(text),
  warmUp: tables.source.warmUp,
  now: date,
};
type Row = RowOf<typeof ROW>;

/** The columns of `ROW` from `warm_up w`. */
const COLUMNS = sql`
  w.source, w.provider, w.step, w.reason, w.setback, w.use, w.day::text, w.moved_on::text as "movedOn",
  (select s.warm_up from source s where s.name = w.source) as "warmUp", clock_timestamp() as now`;
const TODAY = sql`(clock_timestamp() at time zone 'UTC')::date`;
/** A provider that holds its warm-up up for longer than this does not hold up the end of that of the source. */
const IDLE_DAYS = 7;
/** The most providers that a command shows. */
const SHOWN_MAX = 1_000;

/** A source that warms up, at a provider, today. */
export interface WarmUpToday extends WarmingSource {
  plan: string;
  use: DayUse;
  outcome: WarmUpOutcome;
}

/** The amounts of the days of the plan of a source `s` at a provider. */
function planIn(provider: SqlFragment): SqlFragment {
  return sql`coalesce(s.warm_up -> 'perDay' -> ${provider}, s.warm_up -> 'perDay' -> '*')`;
}

/** How many days the plan of a source `s` has at a provider. */
function stepsIn(provider: SqlFragment): SqlFragment {
  return sql`jsonb_array_length(${planIn(provider)})`;
}

/** Whether what went on the day of `warm_up w` lets the plan of the source `s` go on, unless the day was bad. */
const IS_MOVING = sql`
  (select sum(used::int) from jsonb_each_text(w.use -> 'used') as u (project_id, used)) >=
    ${USED_SHARE}::float8 * (${planIn(sql`w.provider`)} -> w.step)::int`;

/** A table `k` of sources and providers. */
function pairTable(pairs: readonly { source: string; provider: string }[]): SqlFragment {
  return sql`
    unnest(${pairs.map(({ source }) => source)}::text[], ${pairs.map(({ provider }) => provider)}::text[])
      as k (source, provider)`;
}

/** What a day says about the warm-up. */
function signsOf({ offered, accepted, complaints, refusedMailbox, ...numbers }: SourceResults): DayResults {
  const against = numbers.deferredSpeed + numbers.deferredReputation + numbers.refusedReputation;
  return { offered, accepted, complaints, hard: refusedMailbox, against };
}

/** The rows as they are today: days that are over are decided. */
async function asOfToday(em: Em, rows: readonly Row[], nowMs: number): Promise<WarmUpToday[]> {
  const today = dayOf(nowMs);
  const over = rows.filter(({ day }) => day < today);
  // Reports may come on days without mail. They belong to the latest one with it.
  const results = await resultsOf(em, over, dayOf(nowMs - DAY_MS));
  const known = new Map(results.map((numbers, index) => [over[index], signsOf(numbers)]));
  return rows.flatMap((row) => {
    const { source, provider, day, step, reason, setback, movedOn, warmUp, use } = row;
    if (!warmUp) return [];
    const steps = stepsOf(warmUp, provider);
    const before = { day, step, reason, setback, movedOn };
    const signs = known.get(row);
    const { outcome, ...position } = signs
      ? positionOn(today, before, steps, signs)
      : { ...before, outcome: 'same' as const };
    const shown = { source, provider, position, steps, outcome, plan: warmUp.plan };
    return [{ ...shown, use: signs ? nextDayUse(use, today) : use }];
  });
}

/** Ends the warm-up of sources that are warm at a provider, while no other one that is in use is on its way. */
async function finish(em: Em, changed: readonly WarmUpToday[]): Promise<WarmUpDecision[]> {
  const warm = changed.filter(({ steps, position }) => position.step >= steps.length);
  if (warm.length === 0) return [];
  const finished = await query(
    em,
    sql`
      update source s set warm_up = null, changed_at = now()
      where s.name = any(${warm.map(({ source }) => source)}::text[]) and s.warm_up is not null and not exists (
        select from warm_up w
        where w.source = s.name and (
          w.reason is not null or w.moved_on >= ${TODAY} - ${IDLE_DAYS}::int
          or w.day >= ${TODAY} - ${IDLE_DAYS}::int and ${IS_MOVING}
        ) and w.step < ${stepsIn(sql`w.provider`)}
      )
      returning s.name`,
    { name: tables.source.name },
  );
  if (finished.length > 0) await wakeHeldMail(em);
  return finished.map(({ name }) => ({ source: name, outcome: 'finished', reason: null }));
}

/** Writes what has changed. @returns the decisions about days, and warm-ups that are finished with them */
async function write(em: Em, changed: readonly WarmUpToday[]): Promise<WarmUpDecision[]> {
  await query(
    em,
    sql`
      update warm_up w
      set day = t.day, step = t.step, reason = t.reason, setback = t.setback, moved_on = t.moved_on, use = t.use
      from unnest(
        ${changed.map(({ source }) => source)}::text[], ${changed.map(({ provider }) => provider)}::text[],
        ${changed.map(({ position }) => position.day)}::date[], ${changed.map(({ position }) => position.step)}::int[],
        ${changed.map(({ position }) => position.reason)}::text[], ${changed.map(({ position }) => position.setback)}::text[],
        ${changed.map(({ position }) => position.movedOn)}::date[], ${changed.map(({ use }) => json(use))}::jsonb[]
      ) as t (source, provider, day, step, reason, setback, moved_on, use)
      where w.source = t.source and w.provider = t.provider`,
  );
  return changed.flatMap(({ outcome, source, provider, position: { reason } }) =>
    outcome === 'same' ? [] : [{ source, provider, outcome, reason }],
  );
}

/**
 * Lends projects what sources that warm up may send today. One worker at a time changes what is known of a source at a
 * provider; the first one of a day decides about the day before.
 * @param requests those of other allowances are left out
 */
export async function lendWarmUps(
  em: Em,
  requests: ReadonlyMap<string, AllowanceRequest>,
): Promise<{ leases: Map<string, Lease>; decided: WarmUpDecision[] }> {
  const asked = [...requests].flatMap(([key, request]) => {
    const parts = partsOfWarmUp(key);
    return parts ? [{ key, request, ...parts }] : [];
  });
  if (asked.length === 0) return { leases: new Map(), decided: [] };
  return inTransaction(em, async (tx) => {
    // The upsert locks the row of each source and provider, and creates it when there was none.
    const rows = await query(
      tx,
      sql`
        insert into warm_up as w (source, provider, day, step, use)
        select distinct s.name, k.provider, ${TODAY}, (s.warm_up ->> 'step')::int, ${json(NO_USE)}::jsonb
        from ${pairTable(asked)} join source s on s.name = k.source where s.warm_up is not null order by 1, 2
        on conflict (source, provider) do update set day = w.day
        returning ${COLUMNS}`,
      ROW,
    );
    const nowMs = rows.at(-1)?.now.getTime() ?? Date.now();
    const warming = new Map(
      (await asOfToday(tx, rows, nowMs)).map((each) => [`${each.source} ${each.provider}`, each]),
    );
    // A project that is deleted asks for nothing more, though its worker may not know.
    const known = sql`select id from project where id = any(${asked.map(({ projectId }) => projectId)}::uuid[])`;
    const projects = new Set((await query(tx, known, { id: tables.project.id })).map(({ id }) => id));
    const leases = new Map<string, Lease>();
    for (const { key, request, projectId, source: name, provider } of asked) {
      const at = `${name} ${provider}`;
      const isGone = !projects.has(projectId);
      const source = isGone ? undefined : warming.get(at);
      // The source does not warm up any more.
      const units = isGone ? 0 : request.wants;
      const free = { atMs: nowMs, ms: LEASE_MS, units, perSecond: Infinity, connections: Infinity };
      const lent = source && lendDay(source.use, source, projectId, request, nowMs);
      leases.set(key, lent?.lease ?? free);
      if (lent) warming.set(at, { ...source, use: lent.use });
    }
    const changed = [...warming.values()];
    const decided = await write(tx, changed);
    return { leases, decided: [...decided, ...(await finish(tx, changed))] };
  });
}

/** Where sources are in their plans today. @param only some sources */
export async function listWarmUps(em: Em, only?: readonly string[]): Promise<WarmUpToday[]> {
  const rows = await query(
    em,
    sql`
      select ${COLUMNS} from warm_up w join source s on s.name = w.source
      where s.warm_up is not null and (${only === undefined} or s.name = any(${only ?? []}::text[]))
      order by w.source, w.provider limit ${SHOWN_MAX * Math.max(1, only?.length ?? 1)}`,
    ROW,
  );
  return asOfToday(em, rows, rows[0]?.now.getTime() ?? Date.now());
}

/** What a position allows today; null without a limit. */
export function allowedToday({ steps, position }: WarmingSource): number | null {
  const allowed = allowedAt(steps, position.step);
  return Number.isFinite(allowed) ? allowed : null;
}

/** How many emails went today, of all projects. */
export function usedToday({ use }: Pick<WarmUpToday, 'use'>): number {
  return Object.values(use.used).reduce((sum, count) => sum + count, 0);
}

async function assertChanged(em: Em, changed: unknown, name: string, otherwise: string): Promise<void> {
  if (changed) return;
  const known = await queryOne(em, sql`select name from source where name = ${name}`, { name: tables.source.name });
  throw known ? badRequest(otherwise) : noSuchSource(name);
}

/**
 * Lets a source warm up from a step of its plan on, at each provider.
 * @throws AppError RESOURCE_NOT_FOUND, or BAD_REQUEST when it does already
 */
export async function startWarmUp(em: Em, name: string, warmUp: SourceWarmUp): Promise<void> {
  await inTransaction(em, async (tx) => {
    await query(
      tx,
      sql`delete from warm_up w using source s where w.source = ${name} and s.name = ${name} and s.warm_up is null`,
    );
    const started = await queryOne(
      tx,
      sql`
        update source set warm_up = ${json(warmUp)}::jsonb, changed_at = now()
        where name = ${name} and warm_up is null returning name`,
      { name: tables.source.name },
    );
    await assertChanged(tx, started, name, `Source ${name} warms up already; stop that first, or skip days of it`);
    await wakeHeldMail(tx);
  });
}

/** Ends the warm-up of a source: it sends without its limits. @throws AppError RESOURCE_NOT_FOUND, BAD_REQUEST */
export async function stopWarmUp(em: Em, name: string): Promise<void> {
  await inTransaction(em, async (tx) => {
    const stopped = await queryOne(
      tx,
      sql`
        update source set warm_up = null, changed_at = now() where name = ${name} and warm_up is not null returning name`,
      { name: tables.source.name },
    );
    await assertChanged(tx, stopped, name, `Source ${name} does not warm up`);
    await wakeHeldMail(tx);
  });
}

/**
 * Moves a warm-up on or back from today on, whatever the day before was like.
 * @param provider one provider; all of them, and those to come, when undefined
 * @throws AppError RESOURCE_NOT_FOUND, BAD_REQUEST when the source does not warm up, or not at the provider
 */
export async function moveWarmUp(em: Em, name: string, days: number, provider?: string): Promise<void> {
  await inTransaction(em, async (tx) => {
    const moved = await query(
      tx,
      sql`
        update warm_up w
        set step = greatest(0, least(w.step + ${days}::int, ${stepsIn(sql`w.provider`)})), reason = null, setback = null, moved_on = ${TODAY}, day = ${TODAY},
          use = case when w.day = ${TODAY} then w.use else ${json(NO_USE)}::jsonb end
        from source s
        where s.name = w.source and w.source = ${name} and s.warm_up is not null
          and (${provider ?? null}::text is null or w.provider = ${provider ?? null})
        returning w.provider`,
      pick(tables.warmUp, 'provider'),
    );
    const all = sql`
      update source s
      set changed_at = now(), warm_up = case when ${provider === undefined}::boolean
        then warm_up || jsonb_build_object('step', greatest(0, least((warm_up ->> 'step')::int + ${days}::int,
          (select max(jsonb_array_length(steps)) from jsonb_each(s.warm_up -> 'perDay') as p (provider, steps))
        ))) else warm_up end
      where name = ${name} and warm_up is not null returning name`;
    const changed = (await queryOne(tx, all, { name: tables.source.name })) && (provider === undefined || moved[0]);
    const where = provider === undefined ? '' : ` at ${provider}`;
    await assertChanged(tx, changed, name, `Source ${name} does not warm up${where}`);
    await wakeHeldMail(tx);
  });
}
