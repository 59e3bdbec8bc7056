import { Migration } from '@mikro-orm/migrations';

/**
 * Endpoints that events are sent to. What an endpoint has had is a place in the order of the project's events, so an
 * event costs nothing for the endpoints that wait for it.
 */
const ENDPOINTS = `
create table webhook_endpoint (
  id uuid primary key,
  project_id uuid not null references project (id) on delete cascade,
  url text not null,
  events text[] not null,
  description text,
  enabled boolean not null default true,
  batch_size smallint not null default 1,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz(3),
  cursor_at timestamptz not null default now(),
  cursor_source smallint not null default 0,
  cursor_id uuid not null default '00000000-0000-0000-0000-000000000000',
  failures smallint not null default 0,
  failing_since timestamptz(3),
  retry_at timestamptz(3),
  disabled_at timestamptz(3),
  disabled_reason text,
  wake_at timestamptz not null default now(),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create index webhook_endpoint_by_creation on webhook_endpoint (project_id, created_at, id);
`;

/**
 * What became of each event at an endpoint, in the order of the events. \`retry_at\` stands in those that are behind the
 * endpoint's place and have still to be delivered. No content is kept.
 */
const DELIVERIES = `
create table webhook_delivery (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
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
  updated_at timestamptz(3) not null default now()
);
create unique index webhook_delivery_of_event on webhook_delivery (endpoint_id, event_at, source, event_id);
create index webhook_delivery_to_retry on webhook_delivery (endpoint_id, contact_id) where retry_at is not null;
create index webhook_delivery_by_contact on webhook_delivery (contact_id) where contact_id is not null;
`;

/**
 * \`created_at\` of an event is when it happened, which may be long before it is stored; \`recorded_at\` is when the
 * transaction that stores it began. Events from before this migration have none and are not sent.
 */
const EVENTS = `
alter table event add column recorded_at timestamptz;
alter table event alter column recorded_at set default now();
create index event_by_recording on event (project_id, recorded_at, id) where recorded_at is not null;
`;

/**
 * Nothing that is stored from now on has a time of recording before this moment: every transaction that began before it
 * has ended. A backup reads only. The second is for a transaction that has its time and does not show it yet.
 */
const SETTLED = `
create function everpost_settled_at() returns timestamptz language sql volatile as $$
  select coalesce(least(min(xact_start), clock_timestamp()), clock_timestamp()) - interval '1 second'
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
    and application_name <> 'pg_dump'
$$;
`;

export class WebhooksMigration extends Migration {
  override up(): void {
    this.addSql(ENDPOINTS);
    this.addSql(DELIVERIES);
    this.addSql(EVENTS);
    this.addSql(SETTLED);
  }
}
