import type { Pool, PoolClient } from 'pg';

/**
 * Gives the place of a connection that broke in the middle of a transaction back to the pool. The transaction's owner
 * gives it back after COMMIT or ROLLBACK only, and neither can succeed any more: without this, every transaction that an
 * outage interrupts would take one connection away for good, until none is left.
 */
export function releaseLostConnections(pool: Pool): void {
  const borrowed = new WeakSet<PoolClient>();
  pool.on('connect', (client) => {
    client.on('end', () => {
      if (!borrowed.has(client)) return;
      client.release(new Error('The connection was lost'));
      // Its owner may still give it back in the ordinary way, which the pool refuses the second time.
      client.release = () => undefined;
    });
  });
  pool.on('acquire', (client) => borrowed.add(client));
  pool.on('release', (_error, client) => borrowed.delete(client));
}
