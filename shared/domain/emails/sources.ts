import { AppError } from '../../pure/app-error.ts';
import type { SourceWarmUp } from '../../pure/warm-up.ts';
import type { ProviderStates, SourceUse } from '../../sending/ports.ts';
import { DEFAULT_POOL } from '../../sending/transport/smtp-url.ts';
import { columnsOf, inTransaction, json, query, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { boolean, pick, tables, type RowOf } from '../../database/tables.ts';
import type { Project } from '../projects/project.entity.ts';
import { saidRules, wakeHeldMail, type RulesInUse } from './held-mail.ts';

declare module '../../database/column-types.ts' {
  interface ColumnTypes {
    'source.warmUp': SourceWarmUp;
  }
}

const SOURCE = pick(tables.source, 'name', 'kind', 'pool', 'relay', 'drainedAt', 'seenAt', 'warmUp');
export type KnownSource = RowOf<typeof SOURCE>;

const SOURCES_MAX = 1_000;
/** A worker says this often that it has a source. One that no worker has said for twice as long may be removed. */
const SEEN_SECONDS = 30;

/** Whether workers have a source. None is forgotten only because no worker runs for a while. */
const IS_IN_USE = sql`
  seen_at > (select max(seen_at) from source) - 2 * ${SEEN_SECONDS}::int * interval '1 second'`;
const IN_USE = sql`select * from source where ${IS_IN_USE}`;

/**
 * Notes the sources of a worker.
 * @param rules those that it has
 * @returns the names of those that are drained, and of those that warm up
 */
export async function meetSources(
  em: Em,
  sources: SourceUse['sources'],
  rules?: RulesInUse,
): Promise<Pick<ProviderStates, 'drained' | 'warming'>> {
  const rows = await query(
    em,
    sql`
      with seen as (
        select distinct on (name) * from unnest(
          ${sources.map(({ name }) => name)}::text[], ${sources.map(({ kind }) => kind)}::text[],
          ${sources.map(({ pool }) => pool)}::text[], ${sources.map(({ label }) => label)}::text[],
          ${sources.map(({ firstWarmUp }) => (firstWarmUp ? json(firstWarmUp) : null))}::jsonb[]
        ) as s (name, kind, pool, relay, warm_up) order by name
      ),
      noted as (
        insert into source as s (name, kind, pool, relay, warm_up) select name, kind, pool, relay, warm_up from seen n
        where not exists (
          select from source k where k.name = n.name and (k.kind, k.pool, k.relay) = (n.kind, n.pool, n.relay)
            and k.seen_at > now() - ${SEEN_SECONDS}::int * interval '1 second'
        )
        on conflict (name) do update
        set kind = excluded.kind, pool = excluded.pool, relay = excluded.relay, seen_at = now()
        returning name, warm_up
      ),
      said as (${saidRules(rules)})
      select name, drained_at is not null as "isDrained", warm_up is not null as "isWarming" from source
      where drained_at is not null or warm_up is not null
      union
      select name, false, true from noted where warm_up is not null`,
    { name: tables.source.name, isDrained: boolean, isWarming: boolean },
  );
  const names = (state: 'isDrained' | 'isWarming') => new Set(rows.flatMap((row) => (row[state] ? [row.name] : [])));
  return { drained: names('isDrained'), warming: names('isWarming') };
}

/** Whether a source warms up in the pool of the marketing mail of a project. */
export function warmsUp(projectId: SqlFragment): SqlFragment {
  return sql`exists (select ${marketingSourcesOf(projectId)} and s.warm_up is not null)`;
}

/** The sources `s` in use of the pool of the marketing mail of a project, as the rest of a select. */
export function marketingSourcesOf(projectId: SqlFragment): SqlFragment {
  return sql`
    from (${IN_USE}) s
    where s.drained_at is null and s.pool = coalesce((select p.pools ->> 'marketing' from project p where p.id = ${projectId}),
      case when exists (select from (${IN_USE}) m where m.pool = 'marketing') then 'marketing' else ${DEFAULT_POOL} end)`;
}

/** The sources that workers have, or had. */
export async function listSources(em: Em): Promise<(KnownSource & { isInUse: boolean })[]> {
  return query(
    em,
    sql`select ${columnsOf(SOURCE)}, ${IS_IN_USE} as "isInUse" from source order by pool, name limit ${SOURCES_MAX}`,
    { ...SOURCE, isInUse: boolean },
  );
}

/** What follows from the pools that a project names and no source belongs to, in sentences. */
export async function warningsOfPools(em: Em, { id, pools }: Pick<Project, 'id' | 'pools'>): Promise<string[]> {
  const used = (await listSources(em)).filter(({ isInUse }) => isInUse);
  const known = new Set(used.map(({ pool }) => pool));
  return Object.entries(pools ?? {}).flatMap(([stream, pool]) => {
    if (known.has(pool)) return [];
    const usual = known.has(stream) ? stream : DEFAULT_POOL;
    return `No worker has a source in pool ${pool}, which ${stream} mail of the project uses: this mail waits until there is one, and goes over no other pool. \`everpost project set ${id} --${stream}-pool ""\` uses pool ${usual} instead.`;
  });
}

/** The error for a name that no source has. */
export function noSuchSource(name: string): AppError {
  const message = `No worker has had a source ${name}; everpost source list shows them`;
  return new AppError('RESOURCE_NOT_FOUND', { message });
}

async function found(row: Promise<KnownSource | undefined>, name: string): Promise<KnownSource> {
  const source = await row;
  if (source) return source;
  throw noSuchSource(name);
}

/** Lets a source carry no more mail, or again, also held mail. Mail on the wire is completed. @throws AppError RESOURCE_NOT_FOUND */
export async function drainSource(em: Em, name: string, isDrained: boolean): Promise<KnownSource> {
  return inTransaction(em, async (tx) => {
    const row = queryOne(
      tx,
      sql`
        update source set changed_at = now(), drained_at = case when ${isDrained}::boolean then coalesce(drained_at, now()) end
        where name = ${name} returning ${columnsOf(SOURCE)}`,
      SOURCE,
    );
    if (!isDrained) await wakeHeldMail(tx);
    return found(row, name);
  });
}

/**
 * Forgets a source that no worker has any more. Mail that waits for it asks again.
 * @throws AppError RESOURCE_NOT_FOUND, or BAD_REQUEST while a worker has it
 */
export async function removeSource(em: Em, name: string): Promise<KnownSource> {
  const unseen = sql`seen_at < now() - 2 * ${SEEN_SECONDS}::int * interval '1 second'`;
  return inTransaction(em, async (tx) => {
    const removed = await queryOne(
      tx,
      sql`delete from source where name = ${name} and ${unseen} returning ${columnsOf(SOURCE)}`,
      SOURCE,
    );
    if (removed) await wakeHeldMail(tx);
    if (removed) return removed;
    await found(queryOne(tx, sql`select ${columnsOf(SOURCE)} from source where name = ${name}`, SOURCE), name);
    const message = `A worker still has source ${name}. Drain it, take it out of SMTP_URL, restart the workers, and try again in a minute`;
    throw new AppError('BAD_REQUEST', { message });
  });
}
