import { Migration } from '@mikro-orm/migrations';

/**
 * The events of projects with endpoints, numbered in the order in which endpoints get them. A number comes from a
 * sequence, so it does not depend on a clock, and a backup keeps it. \`webhook_horizon\` has one row: up to \`settled_no\`
 * every event is committed or will never be; \`writers\` are the transactions that may still commit events up to
 * \`marked_no\`.
 */
const FEED = `
create table webhook_feed (
  no bigint generated always as identity primary key,
  project_id uuid not null,
  source smallint not null,
  id uuid not null,
  at timestamptz not null default clock_timestamp()
);
create index webhook_feed_of_project on webhook_feed (project_id, no);
create table webhook_horizon (
  is_only boolean primary key default true check (is_only),
  settled_no bigint not null default 0,
  marked_no bigint,
  writers text[] not null default '{}'
);
insert into webhook_horizon default values;
`;

/** What is stored behind the position of an endpoint, and the events that are set aside, keep their order and times. */
const POSITIONS = `
alter table webhook_delivery add column no bigint;
alter table webhook_endpoint add column cursor_no bigint not null default 0;
alter table webhook_endpoint add column news_no bigint not null default 0;
alter table webhook_endpoint add column parked_at timestamptz(3);
create index webhook_endpoint_with_news on webhook_endpoint (id)
  where enabled and (cursor_no < news_no or parked_at is not null);
`;

/**
 * The triggers come before the events of the past are copied: a trigger is created when all transactions that write
 * into its table have ended, and later ones find it.
 */
const TRIGGERS = `
create function everpost_feed_events() returns trigger language plpgsql as $$
begin
  insert into webhook_feed (project_id, source, id)
  select r.project_id, tg_argv[0]::smallint, r.id from recorded r
  where exists (select from webhook_endpoint w where w.project_id = r.project_id) order by r.id;
  return null;
end
$$;
create function everpost_feed_event() returns trigger language plpgsql as $$
begin
  insert into webhook_feed (project_id, source, id)
  select new.project_id, tg_argv[0]::smallint, new.id
  where exists (select from webhook_endpoint w where w.project_id = new.project_id);
  return null;
end
$$;
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
`;

const PAST = `
with least_position as (select project_id, min(cursor_at) as at from webhook_endpoint group by project_id),
past (project_id, source, id, at) as (
  select e.project_id, 0, e.id, e.recorded_at from least_position p
  join event e on e.project_id = p.project_id and e.recorded_at >= p.at
  union all
  select c.project_id, 1, c.id, c.scheduled_at from least_position p
  join campaign c on c.project_id = p.project_id and c.scheduled_at >= p.at
  union all
  select c.project_id, 2, c.id, c.sent_at from least_position p
  join campaign c on c.project_id = p.project_id and c.sent_at >= p.at
  union all
  select x.project_id, 3, x.id, x.started_at from least_position p
  join automation_execution x on x.project_id = p.project_id and x.started_at >= p.at
  union all
  select x.project_id, 4, x.id, x.updated_at from least_position p
  join automation_execution x on x.project_id = p.project_id and x.updated_at >= p.at and x.completed_at is not null
  union all
  select r.project_id, 5, r.id, r.created_at from least_position p
  join automation_refusal r on r.project_id = p.project_id and r.created_at >= p.at
)
insert into webhook_feed (project_id, source, id, at) select * from past order by at, source, id;

update webhook_endpoint w set
  cursor_no = coalesce((
    select max(f.no) from webhook_feed f
    where f.project_id = w.project_id and (f.at, f.source, f.id) <= (w.cursor_at, w.cursor_source, w.cursor_id)
  ), 0),
  parked_at = (select min(d.retry_at) from webhook_delivery d where d.endpoint_id = w.id and d.retry_at is not null);
`;

/** The number of the last event, committed or not. */
const LAST = `
create function everpost_feed_last_no() returns bigint language sql volatile as $$
  select case when is_called then last_value else last_value - 1 end from webhook_feed_no_seq
$$;
`;

/**
 * Moves the horizon on, and notes at endpoints that they have news. Whoever takes a number from the sequence has locked
 * the table before, and every role sees the locks of all others. So when the transactions that hold this lock after the
 * last number was read have ended, all events up to that number are settled. Transactions that write elsewhere or only
 * read delay nothing.
 */
const SETTLE = `
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
`;

/** The last number of a project's events before a moment, found by halving, since the times grow with the numbers. */
const SEARCH = `
create function everpost_feed_no_before(of_project uuid, moment timestamptz) returns bigint language plpgsql stable as $$
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
`;

const FORMER_ORDER = `
drop index event_by_recording;
drop function everpost_settled_at();
alter table webhook_endpoint drop column cursor_at, drop column cursor_source, drop column cursor_id;
`;

export class WebhookFeedMigration extends Migration {
  override up(): void {
    for (const statement of [FEED, POSITIONS, TRIGGERS, PAST, LAST, SETTLE, SEARCH, FORMER_ORDER]) {
      this.addSql(statement);
    }
  }
}
