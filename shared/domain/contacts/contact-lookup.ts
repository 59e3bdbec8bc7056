import { normalizeAddress, spellingsOf } from '../../pure/emails/email-address.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';

export interface AddressLookup {
  found: string[];
  notFound: string[];
}

/** Divides addresses by whether a contact has them. The results have the spelling and order of `emails`. */
export async function lookUpAddresses(em: Em, projectId: string, emails: string[]): Promise<AddressLookup> {
  const addresses = emails.map(normalizeAddress);
  const rows = await query(
    em,
    sql`select email from contact where project_id = ${projectId} and email = any(${addresses.flatMap(spellingsOf)}::text[])`,
    { email: tables.contact.email },
  );
  const known = new Set(rows.map((row) => normalizeAddress(row.email)));
  const isKnown = (email: string): boolean => known.has(normalizeAddress(email));
  return { found: emails.filter(isKnown), notFound: emails.filter((email) => !isKnown(email)) };
}
