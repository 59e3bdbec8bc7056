import type { Pool, PoolClient } from 'pg';

/** The driver's message when no answer came in time. */
const NO_ANSWER = 'Query read timeout';

/**
 * Codes of a server that another one has replaced, or soon will: it is read-only, or shuts down. A new connection leads
 * to the right one.
 */
const REPLACED_CODES = /^(?:25006|57P..)$/;

/**
 * Whether a connection cannot be used after a statement on it failed. Without an answer the statement may still run,
 * and the next one would wait behind it. After a BEGIN or ROLLBACK that failed, nobody knows whether a transaction is
 * open. A server that was replaced would refuse the next statement, too.
 */
function isBroken(statement: unknown, error: unknown): boolean {
  if (statement === 'begin' || statement === 'rollback') return true;
  if (!(error instanceof Error)) return false;
  return error.message === NO_ANSWER || REPLACED_CODES.test(String((error as { code?: unknown }).code));
}

/**
 * Removes connections that broke while they were borrowed from the pool, so that the pool can open others. The owner of
 * a transaction returns its connection only after COMMIT or ROLLBACK, and neither can succeed any more. Without this,
 * every transaction that an outage or a time-out interrupts would cost the pool one connection for good. A connection
 * that has not answered in time is closed, so the server ends its statement and releases its locks.
 */
export function releaseLostConnections(pool: Pool): void {
  const borrowed = new WeakSet<PoolClient>();

  function discard(client: PoolClient, reason: Error): void {
    if (!borrowed.has(client)) return;
    client.release(reason);
    // Its owner may still return it in the ordinary way; the pool refuses the second return.
    client.release = () => undefined;
  }

  pool.on('connect', (client) => {
    client.on('end', () => discard(client, new Error('The connection was lost')));
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const watched = (...args: unknown[]): unknown => {
      const result = query(...args);
      if (result instanceof Promise) {
        result.catch((error: unknown) => {
          if (isBroken(args[0], error)) discard(client, new Error('The connection cannot be used any more'));
        });
      }
      return result;
    };
    client.query = watched as PoolClient['query'];
  });
  pool.on('acquire', (client) => borrowed.add(client));
  pool.on('release', (_error, client) => borrowed.delete(client));
}
