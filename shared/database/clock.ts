import { queryOne, sql, type Em } from './sql.ts';
import { date } from './tables.ts';

/**
 * The time of the database, whose clock decides about every moment in it; that of this machine may be another one. It is
 * rounded to milliseconds as stored moments are, so that none before it is later.
 */
export async function readClock(em: Em): Promise<Date> {
  const row = await queryOne(em, sql`select clock_timestamp()::timestamptz(3) as now`, { now: date });
  if (!row) throw new Error('PostgreSQL does not tell the time');
  return row.now;
}
