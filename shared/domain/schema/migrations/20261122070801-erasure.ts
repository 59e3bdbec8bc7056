import { Migration } from '@mikro-orm/migrations';

/**
 * The key under which addresses are hashed: HMAC-SHA-256 (RFC 2104), kept as its two padded blocks so that SQL can
 * compute it. It belongs to the data and is not derived from APP_SECRET, so it outlives every rotation of that.
 */
const ADDRESS_HASH = `
create table address_hash_key (
  is_only boolean primary key default true check (is_only),
  inner_pad bytea not null,
  outer_pad bytea not null
);
insert into address_hash_key (inner_pad, outer_pad)
select string_agg(set_byte('\\x00', 0, get_byte(key, i) # 54), '' order by i),
  string_agg(set_byte('\\x00', 0, get_byte(key, i) # 92), '' order by i)
from generate_series(0, 63) i, (
  select sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
    || decode(repeat('00', 32), 'hex') as key offset 0
) k;

create function everpost_address_hash(inner_pad bytea, outer_pad bytea, project_id uuid, address text) returns bytea
language sql stable parallel safe as $$
  select sha256(outer_pad || sha256(inner_pad || uuid_send(project_id) || convert_to(address, 'UTF8')))
$$;
`;

/**
 * A contact that was deleted. The address stays until its mail is found; then only the hash is left, by which imports
 * that were under way do not bring the contact back, and links in old mail find who has the address now.
 */
const ERASED_CONTACTS = `
create table erased_contact (
  contact_id uuid primary key,
  project_id uuid not null,
  address_hash bytea not null,
  address text,
  successor_id uuid,
  erased_at timestamptz(3) not null default now(),
  began_at timestamptz,
  due_at timestamptz default now()
);
create index erased_contact_by_address on erased_contact (project_id, address_hash);
create index erased_contact_by_time on erased_contact (project_id, erased_at);
create index erased_contact_due on erased_contact (project_id, due_at) where due_at is not null;

alter table email alter column to_address drop not null, add column erased_contact_id uuid;
create index email_without_contact on email (project_id, to_address) where contact_id is null and to_address is not null;
create index event_of_email_without_contact on event (email_id) where contact_id is null and email_id is not null;
create index email_content_by_attachments on email_content (attachment_set_id) where attachment_set_id is not null;

-- An execution whose steps and context were removed. It stays, because it bars its contact from entering again.
alter table automation_execution add column is_stripped boolean not null default false;
create index automation_execution_to_strip on automation_execution (project_id, completed_at)
  where completed_at is not null and not is_stripped;
`;

/** What the deletion of contacts has left behind until now. Rows of campaigns and of /v1/send always had a contact. */
const EARLIER_DELETIONS = `
create temporary table left_behind on commit drop as
  select e.id, e.project_id, e.to_address from email e
  where e.contact_id is null and (e.campaign_id is not null
    or e.execution_id is null and (e.template_id is not null or e.subject is null or e.subject not like '[Test] %'));
insert into erased_contact (contact_id, project_id, address_hash, due_at)
select everpost_uuid_v7(), l.project_id, everpost_address_hash(k.inner_pad, k.outer_pad, l.project_id, l.to_address), null
from (select distinct project_id, to_address from left_behind) l cross join address_hash_key k;
update email e set to_address = null, subject = null, error = null, erased_contact_id = x.contact_id,
  status = case when e.campaign_id is null and e.status = 'PENDING' then 'CANCELLED' else e.status end
from left_behind l cross join address_hash_key k join erased_contact x on x.project_id = l.project_id
  and x.address_hash = everpost_address_hash(k.inner_pad, k.outer_pad, l.project_id, l.to_address)
where e.id = l.id;
delete from email_content where email_id in (select id from left_behind);
`;

/** Keys of callers may hold addresses; a digest serves as well. */
const IDEMPOTENCY_KEYS = `
update idempotency_claim
  set key = rtrim(translate(encode(sha256(convert_to(key, 'UTF8')), 'base64'), '+/', '-_'), '=');
`;

const SUPPRESSIONS = `
alter table suppression add column address_hash bytea;
update suppression s set address_hash = everpost_address_hash(k.inner_pad, k.outer_pad, s.project_id, s.email)
from address_hash_key k;
alter table suppression drop constraint suppression_pkey;
alter table suppression
  alter column address_hash set not null,
  alter column email drop not null,
  add primary key (project_id, address_hash);
`;

/** Erasing contacts for good: hashed addresses, what is still to be erased, and the indexes to find it. */
export class ErasureMigration extends Migration {
  override up(): void {
    this.addSql(ADDRESS_HASH);
    this.addSql(ERASED_CONTACTS);
    this.addSql(EARLIER_DELETIONS);
    this.addSql(SUPPRESSIONS);
    this.addSql(IDEMPOTENCY_KEYS);
  }
}
