import type { Em } from '../orm.ts';
import { query, queryOne, sql } from '../sql.ts';

/** Why an address gets no more mail of any kind. */
export type SuppressionReason = 'HARD_BOUNCE' | 'COMPLAINT';

export interface Suppression {
  email: string;
  reason: SuppressionReason;
  /** The mail that came back, or was complained about. */
  emailId: string | null;
  createdAt: Date;
}

/** Suppresses the recipients of mails. An address that is suppressed already keeps its first reason. */
export async function suppressRecipients(em: Em, emailIds: string[], reason: SuppressionReason): Promise<void> {
  if (emailIds.length === 0) return;
  await query(
    em,
    sql`
      insert into suppression (project_id, email, reason, email_id, created_at)
      select distinct on (project_id, to_address) project_id, to_address, ${reason}, id, now()
      from email where id = any(${emailIds}::uuid[]) order by project_id, to_address, id
      on conflict (project_id, email) do nothing`,
  );
}

const LIST_MAX = 10_000;

/** A project's suppressed addresses, the newest first; at most 10,000. */
export async function listSuppressions(em: Em, projectId: string): Promise<Suppression[]> {
  return query<Suppression>(
    em,
    sql`
      select email, reason, email_id as "emailId", created_at as "createdAt" from suppression
      where project_id = ${projectId} order by created_at desc, email limit ${LIST_MAX}`,
  );
}

/**
 * Lets an address have mail again. Its contact stays unsubscribed: consent is the contact's own to give.
 * @returns whether it was suppressed
 */
export async function removeSuppression(em: Em, projectId: string, email: string): Promise<boolean> {
  const removed = await queryOne(
    em,
    sql`delete from suppression where project_id = ${projectId} and email = ${email} returning email`,
  );
  return removed !== undefined;
}
