import { Migration } from '@mikro-orm/migrations';

/**
 * Emails to an address are found through the contacts that have it or had it before, so that a campaign writes no index of
 * addresses; only emails without a contact have one. A contact that was given another address is noted with the keyed hash of
 * the old one. A trigger notes it, so that programs of the version before do so too.
 */
const SQL = `
create table former_address (
  contact_id uuid not null,
  project_id uuid not null,
  address_hash bytea not null,
  primary key (contact_id, address_hash)
);
create index former_address_by_hash on former_address (project_id, address_hash, contact_id);

insert into former_address (contact_id, project_id, address_hash)
select m.contact_id, m.project_id, everpost_address_hash(k.inner_pad, k.outer_pad, m.project_id, m.to_address)
from (
  select distinct e.contact_id, e.project_id, e.to_address from email e join contact c on c.id = e.contact_id
  where e.to_address <> c.email
) m cross join address_hash_key k;

create function everpost_note_former_address() returns trigger language plpgsql as $$
begin
  insert into former_address (contact_id, project_id, address_hash)
  select old.id, old.project_id, everpost_address_hash(k.inner_pad, k.outer_pad, old.project_id, old.email) from address_hash_key k
  on conflict do nothing;
  return null;
end $$;
create trigger contact_former_address after update of email on contact
  for each row when (old.email <> new.email) execute function everpost_note_former_address();

drop index email_of_address;
create index email_without_contact
  on email (hashtextextended(to_address, uuid_hash_extended(project_id, 0)), created_at, id)
  where contact_id is null and to_address is not null;
`;

export class FormerAddressesMigration extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}
