import { query, queryOne, sql, type Em } from '../../database/sql.ts';
import { number, tables, type RowOf } from '../../database/tables.ts';

/** What links are blocked by: a host with all names below it, or a project. */
const BLOCKED_LINK = {
  /** A host name in lower case, or the id of a project. */
  subject: tables.blockedLink.subject,
  createdAt: tables.blockedLink.createdAt,
};
export type BlockedLink = RowOf<typeof BLOCKED_LINK>;

/** Blocks the links to a host, or those of a project. @returns false when they were blocked already */
export async function blockLinks(em: Em, subject: string): Promise<boolean> {
  const row = await queryOne(
    em,
    sql`insert into blocked_link (subject) values (${subject}) on conflict do nothing returning 1 as one`,
    { one: number },
  );
  return row !== undefined;
}

/** Ends a block. @returns false when there was none */
export async function unblockLinks(em: Em, subject: string): Promise<boolean> {
  return (
    (await queryOne(em, sql`delete from blocked_link where subject = ${subject} returning 1 as one`, {
      one: number,
    })) !== undefined
  );
}

/** The blocks that operators set, and those of deleted projects; newest first. */
export async function listBlockedLinks(em: Em): Promise<BlockedLink[]> {
  return query(
    em,
    sql`select subject, created_at as "createdAt" from blocked_link order by created_at desc, subject`,
    BLOCKED_LINK,
  );
}

/** Whose links lead nowhere: hosts, and ids of projects that are blocked, deleted or disabled. */
export async function readClosedLinks(em: Em): Promise<string[]> {
  const rows = await query(
    em,
    sql`select subject from blocked_link union select id::text from project where disabled`,
    { subject: tables.blockedLink.subject },
  );
  return rows.map(({ subject }) => subject);
}
