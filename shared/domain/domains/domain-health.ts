import { query, sql, type Em } from '../../database/sql.ts';
import { jsonAs, number, tables } from '../../database/tables.ts';
import type { RecordPurpose } from './dns-records.ts';

/** A sender domain that may send, but lacks something, as its last check found it. */
export interface DomainFault {
  projectId: string;
  domain: string;
  /** Whether its email goes unsigned: the operator trusts it, and DNS has not verified it. */
  isUnsigned: boolean;
  /** The DNS records that the last check did not find; all of them before the first check. */
  missing: RecordPurpose[];
}

/** Domains that may send, and send unsigned or lack a record, unsigned ones first. At most `limit`, and how many there are. */
export async function findDomainFaults(
  em: Em,
  wanted: readonly RecordPurpose[],
  limit: number,
): Promise<{ faults: DomainFault[]; total: number }> {
  const rows = await query(
    em,
    sql`
      with state as (
        select project_id as "projectId", domain, not dns_verified as "isUnsigned",
          array(select purpose from unnest(${[...wanted]}::text[]) purpose where purpose <> all(records_found)) as missing
        from sender_domain where verified
      )
      select to_jsonb(state) as fault, count(*) over ()::int as total from state where "isUnsigned" or missing <> '{}'
      order by "isUnsigned" desc, domain, "projectId" limit ${limit}::int`,
    { fault: jsonAs<DomainFault>(), total: number },
  );
  return { faults: rows.map(({ fault }) => fault), total: rows[0]?.total ?? 0 };
}

/** What a start with an https PUBLIC_URL says of domains whose email goes unsigned; undefined without any. */
export async function unsignedWarning(em: Em, { publicUrl }: { publicUrl: string }): Promise<string | undefined> {
  if (!publicUrl.startsWith('https:')) return undefined;
  const rows = await query(
    em,
    sql`
      select domain, count(*) over ()::int as total from sender_domain where verified and not dns_verified
      order by domain, id limit 3`,
    { domain: tables.senderDomain.domain, total: number },
  );
  if (!rows[0]) return undefined;
  const names = `${rows.map(({ domain }) => domain).join(', ')}${rows[0].total > rows.length ? ' and others' : ''}`;
  return `${names}: trusted by the operator, so their email goes unsigned. Publish the records of \`everpost domain list\``;
}
