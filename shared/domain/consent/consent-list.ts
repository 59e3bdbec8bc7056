import { columnsOf, query, sql, type Em } from '../../database/sql.ts';
import { boolean, nullable, pick, tables, type RowOf } from '../../database/tables.ts';

const RECORD = pick(
  tables.consentRecord,
  ...(['id', 'topicId', 'state', 'cause', 'details', 'emailId', 'campaignId', 'clientAddress', 'wordingId'] as const),
  'createdAt',
);
const LISTED = { ...RECORD, wording: nullable(tables.wording.content), isOrigin: boolean };
/** A change of what a contact consents to. */
export type ListedConsent = RowOf<typeof LISTED>;

export interface ConsentPage {
  consents: ListedConsent[];
  hasMore: boolean;
}

/**
 * One page of the record of consent of a contact, newest first. The consent of a contact that an import has created
 * comes last, under the id of the contact.
 * @param before the id of the last one of the page before
 */
export async function listConsents(
  em: Em,
  contactId: string,
  { limit, before }: { limit: number; before?: string | undefined },
): Promise<ConsentPage> {
  const found = await query(
    em,
    sql`
      with page as (
        select ${columnsOf(RECORD)}, false as "isOrigin" from consent_record
        where contact_id = ${contactId} and (${before ?? null}::uuid is null or id < ${before ?? null}::uuid)
        order by id desc limit ${limit + 1}
      ),
      origin as (
        select c.id, null::uuid, 'subscribed', 'import', jsonb_build_object('jobId', i.job_id), null::uuid, null::uuid,
          null, null, c.created_at, true
        from contact c join imported_consent i on i.project_id = c.project_id and i.created_at = c.created_at
          and c.id between i.first_contact_id and i.last_contact_id and c.id <> all(i.except_ids)
        where c.id = ${contactId} and c.id is distinct from ${before ?? null}
      )
      select p.*, w.content as wording
      from (select * from page union all select * from origin) p left join wording w on w.id = p."wordingId"
      order by p."isOrigin", p.id desc limit ${limit + 1}`,
    LISTED,
  );
  return { consents: found.slice(0, limit), hasMore: found.length > limit };
}
