import type { Pool, PoolClient } from 'pg';

/**
 * Lets sessions plan their prepared statements again, after 16 uses, 64, 256 and so on. PostgreSQL keeps the plan of a
 * statement until the statistics of its tables change. A plan that was made for tables that were nearly empty reads them
 * from end to end, and a fresh database fills faster than statistics are taken.
 */
export function renewPlans(pool: Pool): void {
  const uses = new WeakMap<PoolClient, number>();
  const connect = pool.connect.bind(pool);
  // A client is lent when it has its plans discarded, because the driver takes one statement at a time.
  pool.connect = async () => {
    const client = await connect();
    const count = (uses.get(client) ?? 0) + 1;
    uses.set(client, count);
    if (count >= 16 && Math.log2(count) % 2 === 0) await client.query('discard plans').catch(() => undefined);
    return client;
  };
}
