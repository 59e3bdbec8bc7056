import { spellingsOf } from '../../pure/emails/email-address.ts';
import { ADDRESS_HASH_KEY, addressHash } from './address-hash.ts';
import { suppressionReason } from '../../database/constants.ts';
import { query, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { notNull, tables, type RowOf } from '../../database/tables.ts';

/** Why an address is suppressed: it gets no more email of any kind. */
export const SUPPRESSION_REASONS = ['HARD_BOUNCE', 'COMPLAINT', 'MANUAL'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

const SUPPRESSION = {
  /** Null after the contact was erased: the address stays suppressed by its hash. */
  email: tables.suppression.email,
  reason: tables.suppression.reason,
  /** The email that bounced or caused a complaint. */
  emailId: tables.suppression.emailId,
  createdAt: tables.suppression.createdAt,
};
export type Suppression = RowOf<typeof SUPPRESSION>;

/** Left joins the suppression `s` of an address, by the hash of the address. `s.reason` is null if there is none. */
export function suppressionJoin(projectId: SqlFragment, address: SqlFragment): SqlFragment {
  return sql`
    cross join ${ADDRESS_HASH_KEY}
    left join suppression s on s.project_id = ${projectId} and s.address_hash = ${addressHash(projectId, address)}`;
}

/** The recipients of emails, as a CTE `recipient`. */
function recipientsOf(emailIds: string[]): SqlFragment {
  return sql`
    recipient as (
      select e.id, e.project_id, e.to_address,
        coalesce(${addressHash(sql`e.project_id`, sql`e.to_address`)}, x.address_hash) as address_hash
      from email e cross join ${ADDRESS_HASH_KEY} left join erased_contact x on x.contact_id = e.erased_contact_id
      where e.id = any(${emailIds}::uuid[])
    )`;
}

/**
 * Suppresses the recipients of emails; the recipient of an erased contact by the stored hash of the address. An address
 * that is already suppressed keeps its reason, except that a complaint outranks every other reason.
 * @returns the ids of the emails that caused a new suppression, or a new reason
 */
export async function suppressRecipients(em: Em, emailIds: string[], reason: SuppressionReason): Promise<string[]> {
  if (emailIds.length === 0) return [];
  const added = await query(
    em,
    sql`
      with ${recipientsOf(emailIds)}
      insert into suppression (project_id, address_hash, email, reason, email_id, created_at)
      select distinct on (project_id, address_hash) project_id, address_hash, to_address, ${reason}, id, now()
      from recipient where address_hash is not null order by project_id, address_hash, id
      on conflict (project_id, address_hash) do update set reason = excluded.reason, email_id = excluded.email_id
        where excluded.reason = ${suppressionReason.COMPLAINT} and suppression.reason <> ${suppressionReason.COMPLAINT}
      returning email_id as "emailId"`,
    { emailId: notNull(tables.suppression.emailId) },
  );
  return added.map((row) => row.emailId);
}

const LIST_MAX = 10_000;

/** A project's suppressions, newest first; at most 10,000. */
export async function listSuppressions(em: Em, projectId: string): Promise<Suppression[]> {
  return query(
    em,
    sql`
      select email, reason, email_id as "emailId", created_at as "createdAt" from suppression
      where project_id = ${projectId} order by created_at desc, email limit ${LIST_MAX}`,
    SUPPRESSION,
  );
}

/** Removes the suppressions that the hard bounces of these emails caused. @returns how many */
export async function removeBounceSuppressions(em: Em, emailIds: string[]): Promise<number> {
  const removed = await query(
    em,
    sql`
      with ${recipientsOf(emailIds)}
      delete from suppression s using recipient r
      where s.project_id = r.project_id and s.address_hash = r.address_hash and s.email_id = r.id
        and s.reason = ${suppressionReason.HARD_BOUNCE}
      returning s.reason`,
    { reason: tables.suppression.reason },
  );
  return removed.length;
}

/**
 * Removes the suppression of an address. Its contact stays unsubscribed, because only the contact can consent.
 * @returns whether it was suppressed
 */
export async function removeSuppression(em: Em, projectId: string, email: string): Promise<boolean> {
  const removed = await queryOne(
    em,
    sql`
      delete from suppression s using ${ADDRESS_HASH_KEY} cross join unnest(${spellingsOf(email)}::text[]) as a (address)
      where s.project_id = ${projectId} and s.address_hash = ${addressHash(sql`${projectId}::uuid`, sql`a.address`)}
      returning s.reason`,
    { reason: tables.suppression.reason },
  );
  return removed !== undefined;
}
