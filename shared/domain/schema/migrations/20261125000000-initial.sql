-- The schema of version 0.1.0: tables, functions, triggers, indexes.
--
-- Hot tables (contact, email, event, outbox, automation_execution) carry no foreign keys: a key check locks the
-- referenced row for every insert, and the audience of a campaign is hundreds of thousands of inserts. Deletions clean
-- up explicitly.
--
-- Tables that only grow are vacuumed and analyzed after 2 % of change, not 20 %: retention leaves few dead rows at a
-- time then, the statistics know the newest days, and counts by an index need not look at the rows.
--
-- There is no index on `contact.data`, and none on parts of addresses. On 1,000,000 contacts (282 MB) a scan answers
-- every filter in 90 to 250 ms. A GIN index would answer equality alone, and every write of a contact would pay for it.

-- ==================== Tables ====================

-- Projects

create table project (
  id uuid primary key,
  name text not null,
  public_key text not null unique,
  secret_key_hash text not null unique,
  disabled boolean not null default false,
  tracking text not null default 'MARKETING_ONLY' check (tracking in ('MARKETING_ONLY', 'ENABLED', 'DISABLED')),
  emails_per_second integer check (emails_per_second >= 0),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  webhook_secret text not null
    default 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64'),
  -- Whether POST /v1/track takes the secret key as well, for libraries that hold only one key.
  track_accepts_secret_key boolean not null default false,
  display_name text,
  postal_address text,
  logo_url text,
  language text,
  -- What the public key, which every visitor has, may change. Null allows all that it can do.
  public_key_rules jsonb
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
  trusted boolean not null default false,
  dns_verified boolean not null default false,
  return_path boolean not null default false,
  failed_checks smallint not null default 0,
  unanswered_checks smallint not null default 0,
  next_check_at timestamptz(3) not null default now(),
  records_found text[] not null default '{}',
  dkim_selector text,
  dkim_public_key text,
  dkim_private_key bytea,
  unique (project_id, domain),
  check (verified = (trusted or dns_verified)),
  check (num_nulls(dkim_selector, dkim_public_key, dkim_private_key) in (0, 3)),
  check (not dns_verified or dkim_selector is not null)
);

-- The values of APP_SECRET that this database was used with, each by an id that tells nothing of it.
create table known_secret (
  secret_id text primary key,
  created_at timestamptz(3) not null default now()
);

-- The Temporal namespace that works on this database: at most one row.
create table known_namespace (
  is_only boolean primary key default true check (is_only),
  namespace_id text not null,
  name text not null,
  address text not null,
  adopted_at timestamptz(3) not null default now()
);

-- Contacts

create table contact (
  id uuid primary key,
  project_id uuid not null,
  email text not null,
  subscribed boolean not null,
  opted_out_at timestamptz(3),
  data jsonb not null default '{}',
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- The deepest execution that changed the contact lately: entering or leaving a segment may follow from that.
  changed_depth smallint,
  changed_depth_at timestamptz(3),
  -- Which hard bounce ended the subscription, so that it can be given back. Null again when somebody asks for a state.
  bounced_email_id uuid,
  unique (project_id, email)
);

create table contact_field (
  project_id uuid not null references project on delete cascade,
  key text not null,
  type text not null check (type in ('string', 'number', 'boolean', 'date')),
  created_at timestamptz(3) not null default now(),
  primary key (project_id, key)
);

-- The key under which addresses are hashed: HMAC-SHA-256 (RFC 2104), kept as its two padded blocks so that SQL can
-- compute it. It belongs to the data and is not derived from APP_SECRET, so it outlives every rotation of that.
create table address_hash_key (
  is_only boolean primary key default true check (is_only),
  inner_pad bytea not null,
  outer_pad bytea not null
);
insert into address_hash_key (inner_pad, outer_pad)
select string_agg(set_byte('\x00', 0, get_byte(key, i) # 54), '' order by i),
  string_agg(set_byte('\x00', 0, get_byte(key, i) # 92), '' order by i)
from generate_series(0, 63) i, (
  select sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))
    || decode(repeat('00', 32), 'hex') as key offset 0
) k;

-- An address that a contact had before. `address_key` is the number under which the index `email_without_contact` has
-- it.
create table former_address (
  contact_id uuid not null,
  project_id uuid not null,
  address_hash bytea not null,
  address_key bigint not null,
  primary key (contact_id, address_hash)
);

-- A contact that was deleted. The address stays until its emails are found. Then only the hash is left: imports that
-- were under way do not bring the contact back, and links in old emails find who has the address now.
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

-- An address that gets no email. When its contact is erased, the address and the words go, and the hash stays.
create table suppression (
  project_id uuid not null references project on delete cascade,
  email text,
  reason text not null check (reason in ('HARD_BOUNCE', 'COMPLAINT', 'MANUAL')),
  email_id uuid,
  created_at timestamptz(3) not null default now(),
  address_hash bytea not null,
  words text,
  primary key (project_id, address_hash)
);

-- Templates, segments and campaigns

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
  updated_at timestamptz(3) not null,
  preheader text,
  body_text text
);

-- Which project gets the replies to an address. Whoever asked for replies there first keeps it. Rows for addresses at
-- domains that are not ours are never read.
create table reply_address (
  address text primary key,
  project_id uuid not null references project on delete cascade,
  created_at timestamptz(3) not null default now()
);

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
  updated_at timestamptz(3) not null,
  computed_at timestamptz(3),
  -- Why the segment could not be computed, when it is tried again, and when its turn was last.
  compute_error text,
  compute_error_at timestamptz(3),
  compute_failures smallint not null default 0,
  retry_at timestamptz(3),
  refreshed_at timestamptz(3)
);

create table segment_member (
  segment_id uuid not null references segment on delete cascade,
  contact_id uuid not null,
  created_at timestamptz(3) not null default now(),
  primary key (segment_id, contact_id)
);

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
  updated_at timestamptz(3) not null,
  suppressed_count integer not null default 0,
  scheduled_at timestamptz(3),
  error text,
  waiting jsonb,
  -- Somebody lets the campaign go on whatever the rate of complaints is.
  complaints_accepted boolean not null default false,
  paused_at timestamptz(3),
  -- The recipients who are to be sent to again: their states at a moment, and the number up to which they have been
  -- queued.
  resend_states text[],
  resend_as_of timestamptz(3),
  resend_after_seq integer not null default 0,
  preheader text,
  body_text text
) with (fillfactor = 50);

create table campaign_page (
  campaign_id uuid not null references campaign on delete cascade,
  first_seq integer not null,
  claim_token uuid not null,
  primary key (campaign_id, first_seq)
);

-- Emails

-- Pages keep room for the second version of each row, the one that says what became of the email, so that this update
-- changes no index. The moments are in no index of their own for the same reason.
create table email (
  id uuid primary key,
  project_id uuid not null,
  contact_id uuid,
  campaign_id uuid,
  campaign_seq integer,
  template_id uuid,
  to_address text,
  subject text,
  status text not null check (status in ('PENDING', 'SENDING', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED',
    'COMPLAINED', 'FAILED', 'SKIPPED', 'SUPPRESSED', 'CANCELLED')),
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
  automation_id uuid,
  execution_id uuid,
  opens integer not null default 0,
  clicks integer not null default 0,
  unsubscribed_at timestamptz(3),
  -- Which delivery holds a transactional email, and when something must have come of it. The moment is null once the
  -- email has its outcome, and for all emails of campaigns.
  delivery_id uuid,
  delivery_due_at timestamptz(3),
  -- How often the content left for a server and no answer came back.
  uncertain_attempts smallint not null default 0,
  -- An email that was deferred is not tried again before this moment.
  retry_at timestamptz(3),
  erased_contact_id uuid,
  -- What ended the email: the rule that judged the refusal or the report, the server that spoke, and what the verdict
  -- took from the contact.
  refusal jsonb,
  -- Since when the email is held for a pause of its provider.
  held_at timestamptz(3),
  attempts jsonb,
  -- Null for every email that goes the usual way. An update that leaves it null changes no index.
  trouble text generated always as (
    case when status in ('BOUNCED', 'COMPLAINED', 'FAILED', 'SKIPPED', 'SUPPRESSED', 'CANCELLED') then status end
  ) stored
) with (
  fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

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
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
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
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);
-- Attachments are mostly compressed already.
alter table attachment alter column content set storage external;

create table send_budget (
  project_id uuid primary key,
  next_free_at timestamptz(6) not null,
  -- When the next transactional email may go: ahead of what is set aside for campaigns.
  urgent_free_at timestamptz(6)
) with (fillfactor = 50);

-- What all workers know of a recipients' provider behind a relay: pauses, the speed it takes, its latest results. Only
-- providers that refuse have a row.
create table provider_health (
  relay text not null,
  provider text not null,
  state jsonb not null,
  primary key (relay, provider)
);

-- Emails that a project handed over for each provider on a UTC day, and complaints that came in on it.
create table provider_day (
  project_id uuid not null,
  provider text not null,
  day date not null,
  sent integer not null default 0,
  complained integer not null default 0,
  primary key (project_id, provider, day)
);

-- Links in emails that lead nowhere any longer, by the host that they lead to or the id of the project.
create table blocked_link (
  subject text primary key,
  created_at timestamptz(3) not null default now()
);

-- Events

-- `created_at` is when the event happened, which may be long before it is stored. `recorded_at` is when the transaction
-- that stores it began.
create table event (
  id uuid primary key,
  project_id uuid not null,
  contact_id uuid,
  email_id uuid,
  name text not null,
  data jsonb not null default '{}',
  created_at timestamptz(3) not null,
  recorded_at timestamptz not null default now()
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

-- The names of events that callers made up.
create table event_name (
  project_id uuid not null,
  name text not null,
  primary key (project_id, name)
);

-- Automations

create table automation (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  name text not null,
  description text,
  enabled boolean not null default false,
  trigger_type text not null default 'EVENT' check (trigger_type in ('EVENT', 'MANUAL')),
  trigger_event text not null,
  allow_reentry boolean not null default false,
  graph_id uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table automation_step (
  id uuid primary key,
  automation_id uuid not null references automation on delete cascade,
  type text not null check (type in ('TRIGGER', 'SEND_EMAIL', 'DELAY', 'WAIT_FOR_EVENT', 'CONDITION', 'WEBHOOK',
    'UPDATE_CONTACT', 'EXIT')),
  name text not null,
  position_x double precision not null default 0,
  position_y double precision not null default 0,
  config jsonb not null default '{}',
  template_id uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create table automation_transition (
  id uuid primary key,
  automation_id uuid not null references automation on delete cascade,
  from_step_id uuid not null references automation_step on delete cascade,
  to_step_id uuid not null references automation_step on delete cascade,
  branch text check (branch in ('yes', 'no', 'event', 'timeout')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

-- The graph as executions were given it: never changed, shared by all that started on it.
create table automation_graph (
  id uuid primary key,
  automation_id uuid not null references automation on delete cascade,
  graph jsonb not null,
  created_at timestamptz(3) not null
);

create table automation_execution (
  id uuid primary key,
  project_id uuid not null,
  automation_id uuid not null,
  graph_id uuid not null,
  contact_id uuid not null,
  status text not null default 'RUNNING'
    check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')),
  is_first boolean not null,
  step_number integer not null default 0,
  current_step_id uuid,
  resume_at timestamptz(3),
  exit_reason text,
  context jsonb not null default '{}',
  temporal_run_id text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- Where the execution stands in a chain of automations that start one another: 1 for one that something outside
  -- started.
  depth smallint not null default 1,
  -- Steps and context were removed. The row stays, because it bars its contact from entering again.
  is_stripped boolean not null default false
) with (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

create table step_execution (
  id uuid primary key,
  execution_id uuid not null,
  step_number integer not null,
  step_id uuid not null,
  status text not null check (status in ('PENDING', 'RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED')),
  output jsonb,
  error text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3),
  unique (execution_id, step_number)
) with (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

create table event_wait (
  execution_id uuid primary key,
  project_id uuid not null,
  contact_id uuid not null,
  event_name text not null,
  event_id uuid,
  event_data jsonb,
  resolved_at timestamptz(3)
);

-- Executions that were not started, by contact, automation, reason and hour.
create table automation_refusal (
  id uuid primary key,
  project_id uuid not null,
  automation_id uuid not null,
  contact_id uuid not null,
  reason text not null check (reason in ('CHAIN_TOO_LONG', 'TOO_OFTEN')),
  hour timestamptz(0) not null,
  count integer not null,
  event_id uuid not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (contact_id, automation_id, reason, hour)
) with (fillfactor = 70);

-- How many executions of an automation have ended: the sum of its rows. Each statement that ends executions adds a row,
-- because one row for each automation would make its executions wait for each other.
create table ended_execution_count (
  id uuid not null default gen_random_uuid(),
  automation_id uuid not null,
  status text not null,
  count bigint not null,
  primary key (automation_id, id)
);

-- The failure of an execution that runs again, kept for webhook endpoints that have not received it yet. `last_no` is
-- the last number of their feed at the retry: an end of the execution with a number up to it is this failure.
create table former_failure (
  execution_id uuid not null references automation_execution on delete cascade,
  last_no bigint not null,
  completed_at timestamptz(3) not null,
  exit_reason text,
  primary key (execution_id, last_no)
);

-- Webhooks

-- An endpoint that events are sent to. `cursor_no` is the number of the last event that it has had, so an event costs
-- nothing for the endpoints that wait for it. `news_no` is the last number that the horizon has shown it.
create table webhook_endpoint (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  url text not null,
  events text[] not null,
  description text,
  enabled boolean not null default true,
  batch_size smallint not null default 1,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz(3),
  failures smallint not null default 0,
  failing_since timestamptz(3),
  retry_at timestamptz(3),
  disabled_at timestamptz(3),
  disabled_reason text,
  wake_at timestamptz not null default now(),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  cursor_no bigint not null default 0,
  news_no bigint not null default 0,
  parked_at timestamptz(3)
);

-- What became of each event at an endpoint. `retry_at` stands in those that are behind the endpoint's position and have
-- still to be delivered. No content is kept.
create table webhook_delivery (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoint on delete cascade,
  event_at timestamptz not null,
  source smallint not null,
  event_id uuid not null,
  event_name text not null,
  event_count smallint not null default 1,
  contact_id uuid,
  status text not null check (status in ('RETRYING', 'DELIVERED', 'FAILED')),
  attempts smallint not null default 0,
  status_code smallint,
  error text,
  duration_ms integer,
  retry_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  no bigint
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_analyze_scale_factor = 0.02
);

-- The events of projects with endpoints, numbered in the order in which endpoints get them. A number comes from a
-- sequence, so it does not depend on a clock, and a backup keeps it.
create table webhook_feed (
  no bigint generated always as identity primary key,
  project_id uuid not null,
  source smallint not null,
  id uuid not null,
  at timestamptz not null default clock_timestamp()
);

-- One row: up to `settled_no` every event is committed or will never be. `writers` are the transactions that may still
-- commit events up to `marked_no`.
create table webhook_horizon (
  is_only boolean primary key default true check (is_only),
  settled_no bigint not null default 0,
  marked_no bigint,
  writers text[] not null default '{}'
);
insert into webhook_horizon default values;

-- Requests, jobs and the outbox

-- Which process holds an Idempotency-Key, by the application name of its sessions (`owner`), and for which request.
create table idempotency_claim (
  project_id uuid not null,
  key text not null,
  request text not null,
  status_code smallint,
  created_at timestamptz(3) not null,
  token uuid,
  owner text,
  primary key (project_id, key)
);

-- Losing the counters in a crash costs a minute of rate limiting, so they need no write-ahead log. Requests with the
-- public key are counted apart; `used` counts those with the secret key.
create unlogged table rate_window (
  project_id uuid primary key,
  window_start timestamptz(0) not null,
  used integer not null,
  public_used integer not null default 0
) with (fillfactor = 50);

-- The pieces of a long text on its way to PostgreSQL. The transaction that writes them also takes them, so nothing is
-- lost when PostgreSQL empties the table after a crash.
create unlogged table text_piece (
  text_id uuid not null,
  position integer not null,
  piece text not null,
  primary key (text_id, position)
);
-- The table that gets the text compresses it.
alter table text_piece alter column piece set storage external;

create table job (
  id uuid primary key,
  project_id uuid not null references project on delete cascade,
  kind text not null check (kind in ('IMPORT', 'SUBSCRIBE', 'UNSUBSCRIBE', 'DELETE', 'DELETE_FIELD',
    'CANCEL_EXECUTIONS', 'DELETE_EXECUTIONS', 'RETRY_EXECUTIONS')),
  state text not null default 'waiting' check (state in ('waiting', 'active', 'completed', 'failed')),
  input jsonb not null default '{}',
  position integer not null default 0,
  total integer,
  counts jsonb not null default '{}',
  errors jsonb not null default '[]',
  failed_reason text,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table job_file (
  job_id uuid primary key references job on delete cascade,
  content bytea not null
);
-- Read once and dropped soon: compressing it would cost more than the room it takes.
alter table job_file alter column content set storage external;

-- Workflows that are to be started or signalled: a row is committed together with what it follows from. The table is
-- emptied as fast as it is filled, so its dead rows are removed early.
create table outbox (
  id uuid primary key,
  project_id uuid not null,
  kind text not null,
  subject_id uuid not null,
  batch_id uuid,
  attempts integer not null default 0,
  available_at timestamptz not null default now(),
  last_error text,
  -- A restart may reuse the id of a workflow that has closed. A first start may not.
  is_restart boolean not null default false
) with (
  fillfactor = 70, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- Where the trace of a request goes on, by the email, event, campaign, execution or job that it left to a workflow.
-- Rows are written only while tracing is on, and are removed after a day.
create table trace_context (
  subject_id uuid primary key,
  trace_parent text not null,
  created_at timestamptz(3) not null
);

-- ==================== Functions ====================

-- Identifiers

-- RFC 9562 version 7 from the wall clock, for rows that a statement creates in bulk.
create function everpost_uuid_v7() returns uuid language sql parallel safe as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$$;

-- Filters

-- The names that hold dots which a path may stand for: for each first key those that begin with it, the longest first.
create function everpost_joined_keys(keys text[]) returns text[] language sql immutable strict parallel safe as $$
  select coalesce(array_agg(array_to_string(keys[f:l], '.') order by f, l desc), '{}')
  from generate_series(1, cardinality(keys) - 1) f, lateral generate_series(f + 1, cardinality(keys)) l
$$;

-- The value under a dotted path. At every object the longest key wins, so `{"a.b": 1}` comes before `{"a": {"b": 1}}`.
-- Null counts as missing. What the path says for every contact alike is computed once, while the statement is planned.
create function everpost_field(node jsonb, keys text[], joined text[], first_key integer) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  last_key constant integer := cardinality(keys);
  -- Names in joined before those that begin with the key.
  before integer := (first_key - 1) * (2 * last_key - first_key) / 2;
  found jsonb;
begin
  for key in first_key .. last_key - 1 loop
    if jsonb_typeof(node) is distinct from 'object' then
      return null;
    end if;
    if node ?| joined[before + 1 : before + last_key - key] then
      for name in before + 1 .. before + last_key - key loop
        found := node -> joined[name];
        if found is not null then
          if name > before + 1 then
            found := everpost_field(found, keys, joined, last_key - (name - before) + 2);
          end if;
          if jsonb_typeof(found) <> 'null' then
            return found;
          end if;
        end if;
      end loop;
    end if;
    before := before + last_key - key;
    node := node -> keys[key];
  end loop;
  if jsonb_typeof(node) is distinct from 'object' then
    return null;
  end if;
  found := node -> keys[last_key];
  return case when jsonb_typeof(found) <> 'null' then found end;
end
$$;

create function everpost_field(node jsonb, path text) returns jsonb language sql immutable parallel safe as $$
  select everpost_field(node, string_to_array(path, '.'), everpost_joined_keys(string_to_array(path, '.')), 1)
$$;

-- The moment that an ISO 8601 day (its midnight in UTC) or date-time names, else null. A function because the pattern
-- must guard the cast. Immutable because the offset is always in the text.
create function everpost_any_instant(value text) returns timestamptz
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

-- The same. It knows the two usual spellings of a moment without a regular expression.
create function everpost_instant(value text) returns timestamptz language plpgsql immutable strict parallel safe as $$
begin
  if translate(value, '123456789', '000000000') in ('0000-00-00T00:00:00.000Z', '0000-00-00T00:00:00Z') then
    -- PostgreSQL takes the hour 24 and the second 60 as well.
    if substr(value, 12, 2) > '23' or substr(value, 18, 2) > '59' or not pg_input_is_valid(value, 'timestamptz') then
      return null;
    end if;
    return value::timestamptz;
  end if;
  return everpost_any_instant(value);
end
$$;

-- Lower case for comparing text beyond ASCII. A cluster with the locale C folds ASCII only, so ICU is used where the
-- server was built with it.
do $$
begin
  execute format(
    'create function everpost_fold(value text) returns text language sql immutable strict parallel safe return lower(value %s)',
    case when exists (select 1 from pg_catalog.pg_collation where collname = 'und-x-icu')
      then 'collate "und-x-icu"' else '' end);
end
$$;

-- Contacts

-- The octets of a value as JSON is sent. PostgreSQL writes a space after every comma and colon.
create function everpost_json_bytes(value jsonb) returns integer language sql immutable strict parallel safe as $$
  select octet_length(regexp_replace(value::text, '("(?:[^"\\]|\\.)*")|\s', '\1', 'g'))
$$;

create function everpost_contact_data_fits(data jsonb) returns boolean language sql immutable parallel safe as $$
  select (select count(*) from jsonb_object_keys(data)) <= 500 and (
    octet_length(data::text) <= 65536
    or octet_length(data::text) <= 65536 * 3 / 2 and everpost_json_bytes(data) <= 65536
  )
$$;

-- Custom data has at most 500 keys and 65,536 bytes of JSON, whichever statement writes it. The size of the binary form
-- decides for nearly every row: 501 keys alone take more than 4,000 bytes of it.
create function everpost_check_contact_data() returns trigger language plpgsql as $$
begin
  if everpost_contact_data_fits(new.data) then
    return new;
  end if;
  raise exception 'the data of a contact is too large'
    using errcode = 'check_violation', constraint = 'contact_data_limit', detail = new.id;
end
$$;

-- A project has a limited number of fields. It is checked only when a field is new. Fields that come at the same moment
-- may pass the limit by their number.
create function everpost_check_contact_fields() returns trigger language plpgsql as $$
declare
  first record;
begin
  for first in select distinct project_id from noted loop
    if (select count(*) from (select from contact_field where project_id = first.project_id limit 5001) known) > 5000 then
      raise exception 'the project has too many fields'
        using errcode = 'check_violation', constraint = 'contact_fields_limit';
    end if;
  end loop;
  return null;
end
$$;

create function everpost_address_hash(inner_pad bytea, outer_pad bytea, project_id uuid, address text) returns bytea
language sql stable parallel safe as $$
  select sha256(outer_pad || sha256(inner_pad || uuid_send(project_id) || convert_to(address, 'UTF8')))
$$;

create function everpost_note_former_address() returns trigger language plpgsql as $$
begin
  insert into former_address (contact_id, project_id, address_hash, address_key)
  select old.id, old.project_id, everpost_address_hash(k.inner_pad, k.outer_pad, old.project_id, old.email),
    hashtextextended(old.email, uuid_hash_extended(old.project_id, 0))
  from address_hash_key k
  on conflict do nothing;
  return null;
end $$;

-- Long texts

create function everpost_take_text(text_id_taken uuid) returns text language sql as $$
  with taken as (delete from text_piece where text_id = text_id_taken returning position, piece)
  select string_agg(piece, '' order by position) from taken;
$$;

-- Events

create function everpost_is_own_event(name text) returns boolean language sql immutable parallel safe as $$
  select name like 'email.%' or name in ('contact.subscribed', 'contact.unsubscribed')
    or name like 'segment.%.entry' or name like 'segment.%.exit'
$$;

-- A project has a limited number of names of events, apart from those of Everpost's own events. What is known costs a
-- look-up by index, and no statement counts. Names that come at the same moment may pass the limit by their number.
create function everpost_note_event_names() returns trigger language plpgsql as $$
declare
  first record;
begin
  for first in
    with fresh as (
      select distinct r.project_id, r.name from recorded r
      where not everpost_is_own_event(r.name)
        and not exists (select from event_name k where k.project_id = r.project_id and k.name = r.name)
    ),
    noted as (
      insert into event_name select * from fresh order by project_id, name on conflict do nothing returning project_id
    )
    select distinct project_id from noted
  loop
    if (select count(*) from (select from event_name where project_id = first.project_id limit 5001) known) > 5000 then
      raise exception 'the project has too many names of events'
        using errcode = 'check_violation', constraint = 'event_names_limit';
    end if;
  end loop;
  return null;
end
$$;

-- Automations

-- Whether a contact has been through an automation as often as it may in an hour, whatever let it in.
create function everpost_has_started_often(p_automation uuid, p_contact uuid) returns boolean language sql stable as $$
  select count(*) >= 100 from (
    select from automation_execution
    where contact_id = p_contact and automation_id = p_automation and started_at > now() - interval '1 hour' limit 100
  ) recent
$$;

-- The depth of the execution that an event follows from; 0 where it follows from none. An email follows from the
-- execution that sent it, and so do its events. A subscription says in its data which execution changed it. A segment
-- is entered and left because of what an execution did to the contact within the last hour. What a person does with an
-- email follows from it only where that comes within an hour: machines that open and answer are as quick, and people
-- who do it later are not in a loop. The names of these events are reserved, so nobody outside can say any of this.
create function everpost_depth_of_cause(p_name text, p_contact uuid, p_email uuid, p_data jsonb) returns smallint
language sql stable as $$
  select coalesce(
    case
      when p_email is not null then (
        select x.depth from email e join automation_execution x on x.id = e.execution_id
        where e.id = p_email and (
          p_name not in ('email.open', 'email.click', 'email.received', 'contact.subscribed', 'contact.unsubscribed')
          or coalesce(e.sent_at, e.created_at) > now() - interval '1 hour'
        ))
      when p_name in ('contact.subscribed', 'contact.unsubscribed') then (
        select x.depth from automation_execution x where x.id = (p_data ->> 'executionId')::uuid)
      when p_name like 'segment.%' then (
        select c.changed_depth from contact c
        where c.id = p_contact and c.changed_depth_at > now() - interval '1 hour')
    end, 0)::smallint
$$;

-- Starts an execution of every enabled automation whose trigger is one of these events, for all of them at once. Found
-- by index; re-entry is refused by the unique indexes. Returns what has started.
--
-- Automations can start one another, and nothing says that they stop. So a chain ends after eight, and a contact enters
-- an automation a hundred times an hour at most; what is refused is noted. An email that an automation sent never
-- starts the same automation.
--
-- The generic plan is right for one event and for thousands: a look-up by index for each. Planning it for each call
-- costs more than running it.
create function everpost_start_executions(events event[]) returns table (project_id uuid, execution_id uuid)
language plpgsql rows 1 set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  with matched as (
    select distinct on (a.id, n.contact_id) a.id as automation_id, a.project_id, a.graph_id, a.allow_reentry,
      n.contact_id, n.data, n.id as event_id,
      everpost_depth_of_cause(n.name, n.contact_id, n.email_id, n.data) + 1 as depth
    from unnest(events) n
    join automation a on a.project_id = n.project_id and a.trigger_event = n.name and a.enabled and a.trigger_type = 'EVENT'
    join project p on p.id = a.project_id and not p.disabled
    where n.contact_id is not null and (n.email_id is null or n.data ->> 'workflowId' is distinct from a.id::text)
    order by a.id, n.contact_id, n.id
  ),
  judged as materialized (
    select *, case
        when depth > 8 then 'CHAIN_TOO_LONG'
        when allow_reentry and everpost_has_started_often(automation_id, contact_id) then 'TOO_OFTEN'
      end as refusal
    from matched
  ),
  refused as (
    insert into automation_refusal
      (id, project_id, automation_id, contact_id, reason, hour, count, event_id, created_at, updated_at)
    select everpost_uuid_v7(), project_id, automation_id, contact_id, refusal, date_trunc('hour', now()), 1, event_id, now(),
      now()
    from judged where refusal is not null order by contact_id, automation_id
    on conflict (contact_id, automation_id, reason, hour) do update
      set count = automation_refusal.count + 1, event_id = excluded.event_id, updated_at = excluded.updated_at
  )
  insert into automation_execution
    (id, project_id, automation_id, graph_id, contact_id, is_first, context, depth, started_at, created_at, updated_at)
  select everpost_uuid_v7(), project_id, automation_id, graph_id, contact_id,
    not allow_reentry or not exists (
      select from automation_execution e where e.automation_id = j.automation_id and e.contact_id = j.contact_id),
    data, depth, now(), now(), now()
  from judged j where refusal is null
  on conflict do nothing
  returning project_id, id;
end
$$;

-- Ends the waits of contacts for these events; the first event of a name ends a wait. Returns whose waits have ended.
create function everpost_end_waits(events event[]) returns table (project_id uuid, execution_id uuid)
language plpgsql rows 1 set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  update event_wait w set event_id = first.id, event_data = first.data, resolved_at = now()
  from (
    select distinct on (o.execution_id) o.execution_id, n.id, n.data
    from unnest(events) n
    join (
      select execution_id, contact_id, event_name from event_wait
      where event_id is null and (contact_id, event_name) in (select contact_id, name from unnest(events))
      order by execution_id for update
    ) o on o.contact_id = n.contact_id and o.event_name = n.name
    order by o.execution_id, n.id
  ) first
  where w.execution_id = first.execution_id and w.event_id is null
  returning w.project_id, w.execution_id;
end
$$;

-- Rows that another transaction adds up are left to it.
create function everpost_add_up_ended_executions(of_automation uuid) returns void language sql as $$
  with taken as (
    delete from ended_execution_count where automation_id = of_automation and id = any(array(
      select id from ended_execution_count where automation_id = of_automation for update skip locked))
    returning status, count
  )
  insert into ended_execution_count (automation_id, status, count)
  select of_automation, status, sum(count) from taken group by status having sum(count) <> 0;
$$;

-- Counts executions that end, that are active again and that are deleted, so that a list need not count them. One
-- statement in a hundred adds up the rows of its automations, and each deletion does.
create function everpost_count_ended_executions() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into ended_execution_count (automation_id, status, count)
    select automation_id, status, -count(*) from former where completed_at is not null group by automation_id, status;
    perform everpost_add_up_ended_executions(automation_id) from (select distinct automation_id from former) f;
    return null;
  end if;
  if tg_op = 'UPDATE' then
    insert into ended_execution_count (automation_id, status, count)
    select c.automation_id, case when c.completed_at is null then f.status else c.status end,
      sum(case when c.completed_at is null then -1 else 1 end)
    from changed c join former f using (id)
    where (c.completed_at is null) <> (f.completed_at is null) group by 1, 2;
  else
    insert into ended_execution_count (automation_id, status, count)
    select automation_id, status, count(*) from changed where completed_at is not null group by automation_id, status;
  end if;
  if found and random() < 0.01 then
    perform everpost_add_up_ended_executions(automation_id) from (select distinct automation_id from changed) c;
  end if;
  return null;
end $$;

-- Webhooks

-- One row, or the rows of a statement, enter the feed of projects that have endpoints. The argument is the source.
create function everpost_feed_event() returns trigger language plpgsql as $$
begin
  insert into webhook_feed (project_id, source, id)
  select new.project_id, tg_argv[0]::smallint, new.id
  where exists (select from webhook_endpoint w where w.project_id = new.project_id);
  return null;
end
$$;

create function everpost_feed_events() returns trigger language plpgsql as $$
begin
  insert into webhook_feed (project_id, source, id)
  select r.project_id, tg_argv[0]::smallint, r.id from recorded r
  where exists (select from webhook_endpoint w where w.project_id = r.project_id) order by r.id;
  return null;
end
$$;

-- The number of the last event, committed or not.
create function everpost_feed_last_no() returns bigint language sql as $$
  select case when is_called then last_value else last_value - 1 end from webhook_feed_no_seq
$$;

-- The last number of a project's events before a moment, found by halving, since the times grow with the numbers.
create function everpost_feed_no_before(of_project uuid, moment timestamptz) returns bigint
language plpgsql stable as $$
declare
  low bigint := coalesce((select min(no) - 1 from webhook_feed where project_id = of_project), 0);
  high bigint := coalesce((select max(no) from webhook_feed where project_id = of_project), 0);
  middle bigint;
  next_row webhook_feed;
begin
  while low < high loop
    middle := low + (high - low) / 2;
    select * into next_row from webhook_feed where project_id = of_project and no > middle order by no limit 1;
    if next_row.at < moment then
      low := next_row.no;
    else
      high := middle;
    end if;
  end loop;
  return low;
end
$$;

-- Moves the horizon on, and notes at endpoints that they have news. Whoever takes a number from the sequence has locked
-- the table before, and every role sees the locks of all others. So when the transactions that hold this lock after the
-- last number was read have ended, all events up to that number are settled. Transactions that write elsewhere or only
-- read delay nothing.
create function everpost_settle_feed() returns void language plpgsql as $$
declare
  horizon webhook_horizon;
  last_no bigint;
  open_writers text[];
  settled bigint;
begin
  select * into horizon from webhook_horizon for update skip locked;
  if not found then
    return;
  end if;
  last_no := everpost_feed_last_no();
  if last_no = horizon.settled_no then
    return;
  end if;
  select coalesce(array_agg(virtualtransaction), '{}') into open_writers from pg_locks
  where locktype = 'relation' and relation = 'webhook_feed'::regclass and mode = 'RowExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database());
  if open_writers = '{}' then
    settled := last_no;
  elsif horizon.marked_no is not null and not horizon.writers && open_writers then
    settled := horizon.marked_no;
  end if;
  if settled is null and horizon.marked_no is not null then
    return;
  end if;
  update webhook_horizon set settled_no = coalesce(settled, settled_no),
    marked_no = case when open_writers <> '{}' then last_no end, writers = open_writers;
  update webhook_endpoint w set news_no = n.no
  from (
    select project_id, max(no) as no from webhook_feed where no > horizon.settled_no and no <= settled group by project_id
  ) n
  where w.project_id = n.project_id and w.cursor_no >= w.news_no;
end
$$;

-- Outbox

-- The outbox is mostly empty, and what the planner knows of it is from then: it would read the whole table, and keep
-- that plan while a hundred thousand rows come in. So the statements of the dispatcher are functions, whose plans must
-- take the indexes.
--
-- Claims take turns among projects, kind by kind, and cost what they take, not what waits. `step` finds the next
-- projects with rows that are due, as many as a claim has rows, each with one look into the index. There is always a
-- row: `turns` and `last_project` say how far the claim looked, the rest is null where it took nothing.
create function everpost_claim_outbox(p_kind text, p_rows integer, p_batch integer, p_after uuid, p_lease interval)
returns table (
  turns bigint, last_project uuid, project_id uuid, subject_id uuid, batch_id uuid, attempts integer, is_restart boolean
)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
  return query
  with recursive step (project_id, n) as (
    (
      select o.project_id, 1 from outbox o
      where o.kind = p_kind and o.batch_id is null and o.project_id > p_after and o.available_at <= now()
      order by o.project_id limit 1
    )
    union all
    select (
      select o.project_id from outbox o
      where o.kind = p_kind and o.batch_id is null and o.project_id > step.project_id and o.available_at <= now()
      order by o.project_id limit 1
    ), step.n + 1
    from step where step.project_id is not null and step.n < p_rows
  ),
  turn as materialized (
    select step.project_id, step.n, count(*) over () as sharers from step where step.project_id is not null
  ),
  due as (
    select o.* from turn cross join lateral (
      select id, project_id, subject_id, is_restart from outbox
      where kind = p_kind and batch_id is null and project_id = turn.project_id and available_at <= now()
      order by id limit greatest(1, p_rows / turn.sharers) for update skip locked
    ) o
  ),
  placed as (
    select *, (row_number() over (partition by project_id, is_restart order by id) - 1) / p_batch as place from due
  ),
  batched as (
    select id, first_value(case when p_kind in ('email', 'automationEmail') then subject_id else id end)
      over (partition by project_id, is_restart, place order by id) as batch_id
    from placed
  ),
  claimed as (
    update outbox o set batch_id = b.batch_id, available_at = now() + p_lease
    from batched b where o.id = b.id and o.id = any(array(select id from batched))
    returning o.project_id, o.subject_id, o.batch_id, o.attempts, o.is_restart
  )
  select t.turns, t.last_project, c.*
  from (
    select count(*) as turns, (select project_id from turn order by n desc limit 1) as last_project from turn
  ) t left join claimed c on true;
end
$$;

-- Takes whole batches whose lease is over, in the same turns.
create function everpost_recover_outbox(p_kind text, p_rows integer, p_lease interval)
returns table (project_id uuid, subject_id uuid, batch_id uuid, attempts integer, is_restart boolean)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
  return query
  with recursive step (project_id, n) as (
    (
      select o.project_id, 1 from outbox o
      where o.kind = p_kind and o.batch_id is not null and o.project_id > '00000000-0000-0000-0000-000000000000'::uuid
        and o.available_at <= now()
      order by o.project_id limit 1
    )
    union all
    select (
      select o.project_id from outbox o
      where o.kind = p_kind and o.batch_id is not null and o.project_id > step.project_id and o.available_at <= now()
      order by o.project_id limit 1
    ), step.n + 1
    from step where step.project_id is not null and step.n < p_rows
  ),
  turn as materialized (
    select step.project_id, step.n, count(*) over () as sharers from step where step.project_id is not null
  )
  update outbox set available_at = now() + p_lease, attempts = attempts + 1
  where batch_id = any(array(
    select o.batch_id from turn cross join lateral (
      select batch_id from outbox
      where kind = p_kind and batch_id is not null and project_id = turn.project_id and available_at <= now()
      order by available_at limit greatest(1, p_rows / turn.sharers)
    ) o
  ))
  returning project_id, subject_id, batch_id, attempts, is_restart;
end
$$;

create function everpost_finish_outbox(p_batches uuid[]) returns void
language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  delete from outbox where batch_id = any(p_batches);
end
$$;

create function everpost_due_outbox(p_kinds text[]) returns table (kind text, has_new boolean, has_lapsed boolean)
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
  return query
  select * from (
    select kind,
      coalesce((select true from outbox o where o.kind = k.kind and o.batch_id is null and o.available_at <= now()
        order by o.project_id limit 1), false) as has_new,
      coalesce((select true from outbox o where o.kind = k.kind and o.batch_id is not null and o.available_at <= now()
        order by o.project_id limit 1), false) as has_lapsed
    from unnest(p_kinds) as k (kind)
  ) due where has_new or has_lapsed;
end
$$;

-- ==================== Triggers ====================

create trigger contact_data_limit before insert or update of data on contact
  for each row when (pg_column_size(new.data) > 4000) execute function everpost_check_contact_data();
create trigger contact_former_address after update of email on contact
  for each row when (old.email <> new.email) execute function everpost_note_former_address();
create trigger contact_fields_limit after insert on contact_field
  referencing new table as noted for each statement execute function everpost_check_contact_fields();
create trigger event_names after insert on event
  referencing new table as recorded for each statement execute function everpost_note_event_names();

create trigger executions_inserted after insert on automation_execution
  referencing new table as changed for each statement execute function everpost_count_ended_executions();
create trigger executions_ended after update on automation_execution
  referencing old table as former new table as changed
  for each statement execute function everpost_count_ended_executions();
create trigger executions_deleted after delete on automation_execution
  referencing old table as former for each statement execute function everpost_count_ended_executions();

-- The argument is the number of the source in `webhook_feed`.
create trigger webhook_feed_of_events after insert on event
  referencing new table as recorded for each statement execute function everpost_feed_events(0);
create trigger webhook_feed_of_scheduled after update on campaign for each row
  when (new.scheduled_at is not null and new.scheduled_at is distinct from old.scheduled_at)
  execute function everpost_feed_event(1);
create trigger webhook_feed_of_sent after update on campaign for each row
  when (new.sent_at is not null and new.sent_at is distinct from old.sent_at)
  execute function everpost_feed_event(2);
create trigger webhook_feed_of_started after insert on automation_execution
  referencing new table as recorded for each statement execute function everpost_feed_events(3);
create trigger webhook_feed_of_ended after update on automation_execution for each row
  when (new.completed_at is not null and new.completed_at is distinct from old.completed_at)
  execute function everpost_feed_event(4);
create trigger webhook_feed_of_refusals after insert on automation_refusal
  referencing new table as recorded for each statement execute function everpost_feed_events(5);

-- ==================== Indexes ====================

-- Projects
create index sender_domain_by_next_check on sender_domain (next_check_at);

-- Contacts
create index contact_by_creation on contact (project_id, created_at, id);
create index contact_by_id on contact (project_id, id);
create index former_address_by_hash on former_address (project_id, address_hash, contact_id);
create index erased_contact_by_address on erased_contact (project_id, address_hash);
create index erased_contact_by_time on erased_contact (project_id, erased_at);
create index erased_contact_due on erased_contact (project_id, due_at) where due_at is not null;
create index suppression_by_creation on suppression (project_id, created_at, address_hash);

-- Templates, segments and campaigns
create index template_by_creation on template (project_id, created_at, id);
create index template_by_reply_to on template (lower(reply_to)) where reply_to is not null;
create index reply_address_by_project on reply_address (project_id);
create index segment_by_creation on segment (project_id, created_at, id);
create index segment_member_by_contact on segment_member (contact_id);
create index campaign_by_creation on campaign (project_id, created_at, id);
create index campaign_by_reply_to on campaign (lower(reply_to)) where reply_to is not null;
create index campaign_by_scheduled_at on campaign (project_id, scheduled_at, id) where scheduled_at is not null;
create index campaign_by_segment on campaign (segment_id) where segment_id is not null;
create index campaign_by_sent_at on campaign (project_id, sent_at, id) where sent_at is not null;
-- The few campaigns that are being sent, which metrics ask for every few seconds.
create index campaign_sending on campaign (id) where status = 'SENDING';

-- Emails
create index email_by_creation on email (project_id, created_at, id);
-- The hard bounces of a project that took something.
create index email_by_hard_bounce on email (project_id, bounced_at, id)
  where bounced_at is not null and refusal ->> 'kind' = 'hard' and refusal ->> 'undoneAt' is null;
create index email_by_trouble on email (project_id, trouble, created_at, id) where trouble is not null;
create unique index email_campaign_contact on email (campaign_id, contact_id) where campaign_id is not null;
create unique index email_campaign_seq on email (campaign_id, campaign_seq) where campaign_id is not null;
create index email_delivery_due on email (delivery_due_at) where delivery_due_at is not null;
create index email_of_automation on email (automation_id, created_at, id) where automation_id is not null;
create index email_of_contact on email (contact_id, created_at, id) where contact_id is not null;
-- An attempt that follows a lost one finds the emails that had joined its delivery.
create index email_of_delivery on email (delivery_id) where delivery_id is not null and delivery_due_at is not null;
create index email_of_template on email (template_id, created_at, id) where template_id is not null;
create index email_trouble_of_campaign on email (campaign_id, trouble, campaign_seq) where trouble is not null;
-- Emails to an address are found through the contacts that have it or had it before, so that a campaign writes no index
-- of addresses. Those without a contact are found by a number in place of the text.
create index email_without_contact
  on email (hashtextextended(to_address, uuid_hash_extended(project_id, 0)), created_at, id)
  where contact_id is null and to_address is not null;
create index email_content_by_attachments on email_content (attachment_set_id) where attachment_set_id is not null;
create index provider_day_complained on provider_day (project_id, day) where complained > 0;

-- Events
create index event_by_contact on event (contact_id, name, created_at);
create index event_by_creation on event (project_id, created_at, id);
create index event_by_name on event (project_id, name, created_at);
-- One row for each email that was opened, clicked or bounced hard: what statistics count.
create index event_first_of_mail on event (project_id, name, created_at)
  where (name = 'email.open' and data ->> 'isFirstOpen' = 'true')
  or (name = 'email.click' and data ->> 'isFirstClick' = 'true')
  or (name = 'email.bounce' and data ->> 'bounceType' = 'hard');
create index event_of_email_without_contact on event (email_id) where contact_id is null and email_id is not null;

-- Automations
create index automation_by_creation on automation (project_id, created_at, id);
create index automation_by_trigger on automation (project_id, trigger_event) where enabled and trigger_type = 'EVENT';
create index automation_step_by_automation on automation_step (automation_id);
create index automation_step_by_template on automation_step (template_id) where template_id is not null;
create unique index automation_step_trigger on automation_step (automation_id) where type = 'TRIGGER';
create unique index automation_transition_branch on automation_transition (from_step_id, coalesce(branch, ''));
create index automation_transition_by_automation on automation_transition (automation_id);
create index automation_graph_by_automation on automation_graph (automation_id);
-- A contact is in an automation once at a time. Of all its executions one is the first, so that where re-entry is not
-- allowed a second is refused by the index alone.
create unique index automation_execution_active on automation_execution (automation_id, contact_id)
  where status in ('RUNNING', 'WAITING');
create index automation_execution_by_completion on automation_execution (project_id, completed_at, id)
  where completed_at is not null;
create index automation_execution_by_contact on automation_execution (contact_id, automation_id, started_at);
create index automation_execution_by_creation on automation_execution (automation_id, created_at, id);
create index automation_execution_by_project on automation_execution (project_id, started_at);
create index automation_execution_by_status on automation_execution (automation_id, status, created_at, id)
  where completed_at is not null;
create index automation_execution_due on automation_execution (resume_at) where status = 'WAITING';
create unique index automation_execution_first on automation_execution (automation_id, contact_id) where is_first;
create index automation_execution_running on automation_execution (updated_at) where status = 'RUNNING';
create index automation_execution_to_strip on automation_execution (project_id, completed_at)
  where completed_at is not null and not is_stripped;
create index event_wait_open on event_wait (contact_id, event_name) where event_id is null;
create index event_wait_resolved on event_wait (resolved_at) where resolved_at is not null;
create index automation_refusal_by_age on automation_refusal (created_at);
create index automation_refusal_by_creation on automation_refusal (project_id, created_at, id);

-- Webhooks
create index webhook_endpoint_by_creation on webhook_endpoint (project_id, created_at, id);
create index webhook_endpoint_with_news on webhook_endpoint (id)
  where enabled and (cursor_no < news_no or parked_at is not null);
create index webhook_delivery_by_contact on webhook_delivery (contact_id) where contact_id is not null;
create unique index webhook_delivery_of_event on webhook_delivery (endpoint_id, event_at, source, event_id);
create index webhook_delivery_to_retry on webhook_delivery (endpoint_id, contact_id) where retry_at is not null;
create index webhook_feed_of_project on webhook_feed (project_id, no);

-- Requests, jobs and the outbox
create index idempotency_claim_by_age on idempotency_claim (created_at);
create index job_by_project on job (project_id);
-- Open jobs that nothing has moved for a while, and ended ones that are old.
create index job_by_state on job (state, updated_at);
create index outbox_by_batch on outbox (batch_id) where batch_id is not null;
create index outbox_lapsing on outbox (kind, project_id, available_at) where batch_id is not null;
create index outbox_new on outbox (kind, project_id, id) where batch_id is null;
create index trace_context_by_creation on trace_context (created_at);
