import { Migration } from '@mikro-orm/migrations';

/**
 * A former address of a contact gets the number under which the index `email_without_contact` has it, so that the erasure of
 * the contact finds emails that went there without a contact, such as test sends. The words of a suppression may quote the
 * address, so they go together with it.
 */
const SQL = `
alter table former_address add column address_key bigint;

create or replace function everpost_note_former_address() returns trigger language plpgsql as $$
begin
  insert into former_address (contact_id, project_id, address_hash, address_key)
  select old.id, old.project_id, everpost_address_hash(k.inner_pad, k.outer_pad, old.project_id, old.email),
    hashtextextended(old.email, uuid_hash_extended(old.project_id, 0))
  from address_hash_key k
  on conflict do nothing;
  return null;
end $$;

update former_address f set address_key = hashtextextended(e.to_address, uuid_hash_extended(e.project_id, 0))
from (
  select distinct project_id, to_address from email where contact_id is null and to_address is not null
) e cross join address_hash_key k
where f.project_id = e.project_id
  and f.address_hash = everpost_address_hash(k.inner_pad, k.outer_pad, e.project_id, e.to_address);

update suppression set words = null where email is null and words is not null;
`;

export class CompleteErasureMigration extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}
