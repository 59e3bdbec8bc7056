import { ConfigError } from '../../platform/config.ts';
import { query, queryCount, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { tables, type RowOf } from '../../database/tables.ts';
import { restartAllWork, type RestartedWork } from './reconciliation.ts';

const KNOWN_NAMESPACE = {
  /** Temporal gives each namespace an id of its own, also when it is made again with the same name. */
  id: tables.knownNamespace.namespaceId,
  name: tables.knownNamespace.name,
  /** host:port, where a process has found it. */
  address: tables.knownNamespace.address,
};
export type KnownNamespace = RowOf<typeof KNOWN_NAMESPACE>;

const describe = ({ id, name, address }: KnownNamespace): string => `"${name}" at ${address} (id ${id})`;

/** The namespace that works on this database; undefined before a process has found the first one. */
export async function findKnownNamespace(em: Em): Promise<KnownNamespace | undefined> {
  return queryOne(em, sql`select namespace_id as id, name, address from known_namespace`, KNOWN_NAMESPACE);
}

/** Why a namespace cannot work on a database that works with another one, and what to do, as one sentence each. */
export function otherNamespaceMessage(known: KnownNamespace, found: string): string {
  return (
    `This database works with the Temporal namespace ${describe(known)}, and TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE ` +
    `name ${found}: two namespaces on one database would send the same email twice. Name the former, or, if it is ` +
    'lost or you move, stop API and workers and run `everpost temporal adopt`; see "Another Temporal namespace" in ' +
    'docs/operations.md.'
  );
}

/**
 * Checks that a namespace is the one that works on this database, and records the first one. Of processes that start
 * together with different namespaces, one records its own.
 * @throws ConfigError when the database works with another namespace
 */
export async function assertKnownNamespace(em: Em, found: KnownNamespace): Promise<void> {
  let known = await findKnownNamespace(em);
  if (!known) {
    await query(
      em,
      sql`
        insert into known_namespace (namespace_id, name, address)
        values (${found.id}, ${found.name}, ${found.address}) on conflict do nothing`,
    );
    known = await findKnownNamespace(em);
  }
  if (known && known.id !== found.id) throw new ConfigError(otherNamespaceMessage(known, describe(found)));
}

/** Records a namespace in place of the one before. Processes that work with that one end within seconds. */
export async function recordNamespace(em: Em, { id, name, address }: KnownNamespace): Promise<void> {
  await query(
    em,
    sql`
      insert into known_namespace (namespace_id, name, address) values (${id}, ${name}, ${address})
      on conflict (is_only) do update
        set namespace_id = excluded.namespace_id, name = excluded.name, address = excluded.address,
          adopted_at = case when known_namespace.namespace_id = excluded.namespace_id then known_namespace.adopted_at
            else now() end`,
  );
}

/**
 * As `assertKnownNamespace`, but adopts another namespace, and has all waiting work started in it, when no process can
 * still work with the one before.
 * @returns the work that is started again; undefined when the namespace is the known one
 */
export async function adoptOtherNamespace(em: Em, found: KnownNamespace): Promise<RestartedWork | undefined> {
  if ((await findKnownNamespace(em))?.id === found.id) return undefined;
  return inTransaction(em, async (tx) => {
    await query(tx, sql`lock table known_namespace in exclusive mode`);
    const known = await findKnownNamespace(tx);
    if (known?.id === found.id) return undefined;
    await recordNamespace(tx, found);
    return known && restartAllWork(tx);
  });
}

/** Connections of API and worker processes that are older than the adoption of the namespace. */
export async function countOlderConnections(em: Em): Promise<number> {
  return queryCount(
    em,
    sql`
      select count(*)::int as count from pg_stat_activity
      where datname = current_database() and backend_start < (select adopted_at from known_namespace)
        and (application_name like 'everpost-api%' or application_name = 'everpost-worker')`,
  );
}
