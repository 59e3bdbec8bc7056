import { query as statement, type SqlFragment, type Em } from '../../shared/database/sql.ts';

const run = statement as (em: Em, fragment: SqlFragment) => Promise<unknown>;

/* A test asserts what it reads, so its statements need no shape. */

export async function query(em: Em, fragment: SqlFragment): Promise<any[]> {
  return (await run(em, fragment)) as any[];
}

export async function queryOne(em: Em, fragment: SqlFragment): Promise<any> {
  return (await query(em, fragment))[0];
}
