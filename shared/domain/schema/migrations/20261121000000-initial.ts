import { Migration } from '@mikro-orm/migrations';

/**
 * What the filter compiler needs from PostgreSQL. None of the functions raises, whatever a contact's data holds.
 *
 * - `everpost_instant(text)`: the moment that an ISO 8601 day (its midnight in UTC) or date-time names, else null. A
 *   function because the pattern must guard the cast; immutable because the offset is always in the text.
 * - `everpost_field(node, path)`: the value under a dotted path. At every object the longest key wins, so
 *   `{"a.b": 1}` comes before `{"a": {"b": 1}}`; null counts as missing. Every node of the document is reached at most
 *   once, so the cost is bounded by the document.
 * - `everpost_fold(text)`: lower case for comparing text beyond ASCII. A cluster with the locale C folds ASCII only, so
 *   ICU is used where the server was built with it.
 */
const FILTER_FUNCTIONS_SQL = `
create function everpost_instant(value text) returns timestamptz
language plpgsql immutable strict parallel safe as $$
begin
  if value ~ '^(([0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9}){0,1}){0,1}(Z|[+-](0[0-9]|1[0-4]):{0,1}[0-5][0-9])$' then
    return value::timestamptz;
  elsif value ~ '^(([0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)$' then
    return (value || 'T00:00:00Z')::timestamptz;
  end if;
  return null;
end
$$;

create function everpost_field(node jsonb, path text) returns jsonb
language plpgsql immutable strict parallel safe as $$
declare
  found jsonb;
  keys text[];
begin
  if jsonb_typeof(node) <> 'object' then
    return null;
  end if;
  found := node -> path;
  if jsonb_typeof(found) <> 'null' then
    return found;
  end if;
  keys := string_to_array(path, '.');
  for cut in reverse cardinality(keys) - 1 .. 1 loop
    found := everpost_field(node -> array_to_string(keys[:cut], '.'), array_to_string(keys[cut + 1:], '.'));
    if found is not null then
      return found;
    end if;
  end loop;
  return null;
end
$$;

do $$
begin
  execute format(
    'create function everpost_fold(value text) returns text language sql immutable strict parallel safe return lower(value %s)',
    case when exists (select 1 from pg_catalog.pg_collation where collname = 'und-x-icu')
      then 'collate "und-x-icu"' else '' end);
end
$$;
`;

/**
 * Hot tables (contact, email, event, outbox) carry no foreign keys: a key check locks the referenced row for every
 * insert, and the audience of a campaign is hundreds of thousands of inserts. Deleting a contact cleans up explicitly.
 */
const TABLES = `
create table project (
  id uuid primary key,
  name text not null,
  public_key text not null unique,
  secret_key_hash text not null unique,
  disabled boolean not null default false,
  tracking text not null default 'MARKETING_ONLY' check (tracking in ('MARKETING_ONLY', 'ENABLED', 'DISABLED')),
  emails_per_second integer check (emails_per_second >= 0),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table sender_domain (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  domain text not null,
  verified boolean not null default false,
  verified_at timestamptz(3),
  last_checked_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (project_id, domain)
);

create table contact (
  id uuid primary key,
  project_id uuid not null,
  email text not null,
  subscribed boolean not null,
  opted_out_at timestamptz(3),
  data jsonb not null default '{}',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (project_id, email)
);
create index contact_by_creation on contact (project_id, created_at, id);
create index contact_by_id on contact (project_id, id);

create table contact_field (
  project_id uuid not null references project on delete cascade,
  key text not null,
  type text not null check (type in ('string', 'number', 'boolean', 'date')),
  created_at timestamptz(3) not null default now(),
  primary key (project_id, key)
);

create table template (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  from_address text not null,
  from_name text,
  reply_to text,
  type text not null default 'MARKETING' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index template_by_creation on template (project_id, created_at, id);

create table segment (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  name text not null,
  description text,
  type text not null default 'DYNAMIC' check (type in ('DYNAMIC', 'STATIC')),
  condition jsonb,
  track_membership boolean not null default false,
  member_count integer not null default 0,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index segment_by_creation on segment (project_id, created_at, id);

create table segment_member (
  segment_id uuid not null references segment on delete cascade,
  contact_id uuid not null,
  created_at timestamptz(3) not null default now(),
  primary key (segment_id, contact_id)
);
create index segment_member_by_contact on segment_member (contact_id);

create table campaign (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  from_address text not null,
  from_name text,
  reply_to text,
  type text not null default 'MARKETING' check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
  status text not null default 'DRAFT' check (status in ('DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED')),
  audience_type text not null check (audience_type in ('ALL', 'SEGMENT', 'FILTERED')),
  audience_condition jsonb,
  segment_id uuid,
  scheduled_for timestamptz(3),
  total_recipients integer not null default 0,
  sent_count integer not null default 0,
  failed_count integer not null default 0,
  skipped_count integer not null default 0,
  delivered_count integer not null default 0,
  opened_count integer not null default 0,
  clicked_count integer not null default 0,
  bounced_count integer not null default 0,
  complained_count integer not null default 0,
  unsubscribed_count integer not null default 0,
  sent_at timestamptz(3),
  audience_as_of timestamptz(3),
  audience_cursor uuid,
  audience_frozen boolean not null default false,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
) with (fillfactor = 50);
create index campaign_by_creation on campaign (project_id, created_at, id);
create index campaign_by_segment on campaign (segment_id) where segment_id is not null;

create table campaign_page (
  campaign_id uuid not null references campaign on delete cascade,
  first_seq integer not null,
  claim_token uuid not null,
  primary key (campaign_id, first_seq)
);

create table email (
  id uuid primary key,
  project_id uuid not null,
  contact_id uuid,
  campaign_id uuid,
  campaign_seq integer,
  template_id uuid,
  to_address text not null,
  subject text,
  status text not null,
  deferrals smallint not null default 0,
  claim_token uuid,
  error text,
  created_at timestamptz(3) not null,
  sent_at timestamptz(3),
  delivered_at timestamptz(3),
  opened_at timestamptz(3),
  clicked_at timestamptz(3),
  bounced_at timestamptz(3),
  complained_at timestamptz(3),
  check (status in ('PENDING', 'SENDING', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED',
    'SKIPPED', 'SUPPRESSED', 'CANCELLED'))
) with (fillfactor = 70);
create unique index email_campaign_contact on email (campaign_id, contact_id) where campaign_id is not null;
create unique index email_campaign_seq on email (campaign_id, campaign_seq) where campaign_id is not null;
create index email_by_contact on email (contact_id);
create index email_by_template on email (template_id) where template_id is not null;

create table email_content (
  email_id uuid primary key references email on delete cascade,
  from_address text not null,
  from_name text,
  to_name text,
  reply_to text,
  html text not null,
  body_text text not null,
  headers jsonb not null default '[]',
  attachment_set_id uuid,
  created_at timestamptz(3) not null
);

create table attachment (
  set_id uuid not null,
  position smallint not null,
  filename text not null,
  content_type text not null,
  content_id text,
  disposition text not null check (disposition in ('attachment', 'inline')),
  content bytea not null,
  created_at timestamptz(3) not null default now(),
  primary key (set_id, position)
);
alter table attachment alter column content set storage external;

create table event (
  id uuid primary key,
  project_id uuid not null,
  contact_id uuid,
  email_id uuid,
  name text not null,
  data jsonb not null default '{}',
  created_at timestamptz(3) not null
);
create index event_by_contact on event (contact_id, name, created_at);
create index event_by_name on event (project_id, name, created_at);
create index event_by_creation on event (project_id, created_at, id);

create table idempotency_claim (
  project_id uuid not null,
  key text not null,
  request text not null,
  status_code smallint,
  created_at timestamptz(3) not null,
  primary key (project_id, key)
);
create index idempotency_claim_by_age on idempotency_claim (created_at);

-- Losing the counters in a crash costs a minute of rate limiting, so they need no write-ahead log.
create unlogged table rate_window (
  project_id uuid primary key,
  window_start timestamptz(0) not null,
  used integer not null
) with (fillfactor = 50);

create table send_budget (
  project_id uuid primary key,
  next_free_at timestamptz(6) not null
) with (fillfactor = 50);

create table outbox (
  id uuid primary key,
  project_id uuid not null,
  kind text not null,
  subject_id uuid not null,
  batch_id uuid,
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  last_error text
) with (fillfactor = 70);
create index outbox_due on outbox (available_at);
`;

/** RFC 9562 version 7 from the wall clock, for rows that a statement creates in bulk. */
const UUID_V7 = `
create function everpost_uuid_v7() returns uuid language sql volatile parallel safe as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$$;
`;

export class InitialMigration extends Migration {
  override up(): void {
    this.addSql(UUID_V7);
    this.addSql(FILTER_FUNCTIONS_SQL);
    this.addSql(TABLES);
  }
}
