import { formerSpelling } from '../../pure/emails/email-address.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { ADDRESS_HASH_KEY, addressHash } from './address-hash.ts';

/**
 * Gives contacts that were stored with A-labels in their domain the one spelling that addresses have, so that the
 * addresses find them, unless another contact has it. Their suppressions follow. Few addresses have A-labels; without one
 * nothing is asked.
 * @param addresses normalised
 */
export async function respell(em: Em, projectId: string, addresses: readonly string[]): Promise<void> {
  const former = new Map(addresses.map((address) => [formerSpelling(address), address]));
  former.delete(undefined);
  if (former.size === 0) return;
  const project = sql`${projectId}::uuid`;
  await query(
    em,
    sql`
      with n as materialized (
        select * from unnest(${[...former.keys()]}::text[], ${[...former.values()]}::text[]) as n (former, address)
      ), renamed as (
        update contact c set email = n.address from n where c.project_id = ${projectId} and c.email = n.former
          and not exists (select from contact x where x.project_id = ${projectId} and x.email = n.address)
      ), moved as (
        delete from suppression s using n cross join ${ADDRESS_HASH_KEY}
        where s.project_id = ${projectId} and s.address_hash = ${addressHash(project, sql`n.former`)}
        returning n.address, s.email, s.reason, s.email_id, s.words, s.created_at
      )
      insert into suppression (project_id, address_hash, email, reason, email_id, words, created_at)
      select ${project}, ${addressHash(project, sql`m.address`)}, case when m.email is not null then m.address end, m.reason,
        m.email_id, m.words, m.created_at
      from moved m cross join ${ADDRESS_HASH_KEY}
      on conflict do nothing returning reason`,
    { reason: tables.suppression.reason },
  );
}
