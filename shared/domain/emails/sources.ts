import { AppError } from '../../pure/app-error.ts';
import type { SourceUse } from '../../sending/ports.ts';
import type { Em } from '../../database/em.ts';
import { columnsOf, query, queryOne, sql } from '../../database/sql.ts';
import { pick, tables, text, type RowOf } from '../../database/tables.ts';

const SOURCE = pick(tables.source, 'name', 'kind', 'pool', 'relay', 'drainedAt', 'seenAt');
export type KnownSource = RowOf<typeof SOURCE>;

const SOURCES_MAX = 1_000;
/** A worker says this often that it has a source. One that no worker has said for twice as long may be removed. */
const SEEN_SECONDS = 30;

/** Notes the sources of a worker. @returns the names of those that are drained */
export async function meetSources(em: Em, sources: SourceUse['sources']): Promise<ReadonlySet<string>> {
  const rows = await query(
    em,
    sql`
      with seen as (
        select distinct on (name) * from unnest(
          ${sources.map(({ name }) => name)}::text[], ${sources.map(({ kind }) => kind)}::text[],
          ${sources.map(({ pool }) => pool)}::text[], ${sources.map(({ label }) => label)}::text[]
        ) as s (name, kind, pool, relay) order by name
      ),
      noted as (
        insert into source as s (name, kind, pool, relay) select name, kind, pool, relay from seen n
        where not exists (
          select from source k where k.name = n.name and (k.kind, k.pool, k.relay) = (n.kind, n.pool, n.relay)
            and k.seen_at > now() - ${SEEN_SECONDS}::int * interval '1 second'
        )
        on conflict (name) do update
        set kind = excluded.kind, pool = excluded.pool, relay = excluded.relay, seen_at = now()
      )
      select name from source where drained_at is not null`,
    { name: text },
  );
  return new Set(rows.map(({ name }) => name));
}

/** The sources that workers have, or had. */
export async function listSources(em: Em): Promise<KnownSource[]> {
  return query(em, sql`select ${columnsOf(SOURCE)} from source order by pool, name limit ${SOURCES_MAX}`, SOURCE);
}

async function found(row: Promise<KnownSource | undefined>, name: string): Promise<KnownSource> {
  const source = await row;
  if (source) return source;
  const message = `No worker has had a source ${name}; everpost source list shows them`;
  throw new AppError('RESOURCE_NOT_FOUND', { message });
}

/** Lets a source carry no more mail, or again. Mail on the wire is completed. @throws AppError RESOURCE_NOT_FOUND */
export async function drainSource(em: Em, name: string, isDrained: boolean): Promise<KnownSource> {
  const row = queryOne(
    em,
    sql`
      update source set drained_at = case when ${isDrained}::boolean then coalesce(drained_at, now()) end
      where name = ${name} returning ${columnsOf(SOURCE)}`,
    SOURCE,
  );
  return found(row, name);
}

/**
 * Forgets a source that no worker has any more.
 * @throws AppError RESOURCE_NOT_FOUND, or BAD_REQUEST while a worker has it
 */
export async function removeSource(em: Em, name: string): Promise<KnownSource> {
  const unseen = sql`seen_at < now() - 2 * ${SEEN_SECONDS}::int * interval '1 second'`;
  const removed = await queryOne(
    em,
    sql`delete from source where name = ${name} and ${unseen} returning ${columnsOf(SOURCE)}`,
    SOURCE,
  );
  if (removed) return removed;
  await found(queryOne(em, sql`select ${columnsOf(SOURCE)} from source where name = ${name}`, SOURCE), name);
  const message = `A worker still has source ${name}. Drain it, take it out of SMTP_URL, restart the workers, and try again in a minute`;
  throw new AppError('BAD_REQUEST', { message });
}
