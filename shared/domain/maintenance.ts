import { sweepIdempotencyKeys } from './idempotency/idempotency.ts';
import type { Em } from './orm.ts';
import { queryOne, sql } from './sql.ts';

export interface CleanUpReport {
  idempotencyKeys: number;
  mailBodies: number;
  attachments: number;
}

/** Bodies of mail that has its outcome are kept this long, for support. */
const BODY_DAYS = 30;
const ATTACHMENT_DAYS = 7;
const CHUNK = 5_000;

/**
 * Removes what is kept only for a while. Chunked, so that a large backlog is many short transactions.
 * @returns how many rows went; call again while a count is not 0
 */
export async function cleanUpChunk(em: Em, idempotencyTtlHours: number): Promise<CleanUpReport> {
  const bodies = await queryOne<{ count: number }>(
    em,
    sql`
      with old as (
        select c.email_id from email_content c join email e on e.id = c.email_id
        where c.created_at < now() - ${BODY_DAYS}::int * interval '1 day' and e.status not in ('PENDING', 'SENDING')
        limit ${CHUNK}
      ), gone as (delete from email_content where email_id in (select email_id from old) returning 1)
      select count(*) from gone`,
  );
  const attachments = await queryOne<{ count: number }>(
    em,
    sql`
      with old as (
        select set_id, position from attachment a
        where created_at < now() - ${ATTACHMENT_DAYS}::int * interval '1 day'
          and not exists (
            select from email_content c join email e on e.id = c.email_id
            where c.attachment_set_id = a.set_id and e.status in ('PENDING', 'SENDING')
          )
        limit ${CHUNK}
      ), gone as (delete from attachment a using old where a.set_id = old.set_id and a.position = old.position returning 1)
      select count(*) from gone`,
  );
  return {
    idempotencyKeys: await sweepIdempotencyKeys(em, idempotencyTtlHours),
    mailBodies: bodies?.count ?? 0,
    attachments: attachments?.count ?? 0,
  };
}
