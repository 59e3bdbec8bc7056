import { Migration } from '@mikro-orm/migrations';

/**
 * Tables of automations. Executions carry no foreign keys, as the other hot tables: an event that starts a thousand
 * executions of one automation must not lock its row a thousand times.
 */
const AUTOMATION_TABLES_SQL = `
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
create index automation_by_creation on automation (project_id, created_at, id);
create index automation_by_trigger on automation (project_id, trigger_event) where enabled and trigger_type = 'EVENT';

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
create index automation_step_by_automation on automation_step (automation_id);
create index automation_step_by_template on automation_step (template_id) where template_id is not null;
create unique index automation_step_trigger on automation_step (automation_id) where type = 'TRIGGER';

create table automation_transition (
  id uuid primary key,
  automation_id uuid not null references automation on delete cascade,
  from_step_id uuid not null references automation_step on delete cascade,
  to_step_id uuid not null references automation_step on delete cascade,
  branch text check (branch in ('yes', 'no', 'event', 'timeout')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
create index automation_transition_by_automation on automation_transition (automation_id);
create unique index automation_transition_branch on automation_transition (from_step_id, coalesce(branch, ''));

-- The graph as executions were given it: never changed, shared by all that started on it.
create table automation_graph (
  id uuid primary key,
  automation_id uuid not null references automation on delete cascade,
  graph jsonb not null,
  created_at timestamptz(3) not null
);
create index automation_graph_by_automation on automation_graph (automation_id);

create table automation_execution (
  id uuid primary key,
  project_id uuid not null,
  automation_id uuid not null,
  graph_id uuid not null,
  contact_id uuid not null,
  status text not null default 'RUNNING'
    check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')),
  is_first boolean not null,
  visit integer not null default 0,
  current_step_id uuid,
  resume_at timestamptz(3),
  exit_reason text,
  context jsonb not null default '{}',
  temporal_run_id text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
) with (fillfactor = 70);
create index automation_execution_by_creation on automation_execution (automation_id, created_at, id);
create index automation_execution_running on automation_execution (updated_at) where status = 'RUNNING';
create index automation_execution_due on automation_execution (resume_at) where status = 'WAITING';
create index automation_execution_by_contact on automation_execution (contact_id);
create index automation_execution_by_project on automation_execution (project_id, started_at);
-- A contact is in an automation once at a time. Of all its executions one is the first, so that where re-entry is not
-- allowed a second can be refused by the index alone.
create unique index automation_execution_active on automation_execution (automation_id, contact_id)
  where status in ('RUNNING', 'WAITING');
create unique index automation_execution_first on automation_execution (automation_id, contact_id) where is_first;

create table step_execution (
  id uuid primary key,
  execution_id uuid not null,
  visit integer not null,
  step_id uuid not null,
  status text not null check (status in ('PENDING', 'RUNNING', 'WAITING', 'COMPLETED', 'SKIPPED', 'FAILED')),
  output jsonb,
  error text,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3),
  unique (execution_id, visit)
) with (fillfactor = 70);

create table event_wait (
  execution_id uuid primary key,
  project_id uuid not null,
  contact_id uuid not null,
  event_name text not null,
  event_id uuid,
  event_data jsonb,
  resolved_at timestamptz(3)
);
create index event_wait_open on event_wait (contact_id, event_name) where event_id is null;
create index event_wait_resolved on event_wait (resolved_at) where resolved_at is not null;

alter table email add column automation_id uuid, add column execution_id uuid;
alter table project add column webhook_secret text not null
  default 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64');

create index outbox_urgent on outbox (id) where batch_id is null and kind <> 'execution';
create index outbox_execution on outbox (id) where batch_id is null and kind = 'execution';
`;

/**
 * What an event sets going, in the transaction that records it, whichever statement that is: a new execution of every
 * enabled automation with that trigger, and the end of every wait of that contact for it. Both are found by index, for
 * all events of a statement at once; re-entry is refused by the unique indexes. Mail that an automation sent starts no
 * further execution of the same automation: it would send mail for ever.
 */
const FAN_OUT_SQL = `
create function everpost_fan_out() returns trigger language plpgsql as $$
begin
  with matched as (
    select distinct on (a.id, n.contact_id) a.id as automation_id, a.project_id, a.graph_id, a.allow_reentry,
      n.contact_id, n.data
    from recorded n
    join automation a on a.project_id = n.project_id and a.trigger_event = n.name and a.enabled and a.trigger_type = 'EVENT'
    join project p on p.id = a.project_id and not p.disabled
    where n.contact_id is not null and (n.email_id is null or n.data ->> 'workflowId' is distinct from a.id::text)
    order by a.id, n.contact_id, n.id
  ),
  started as (
    insert into automation_execution
      (id, project_id, automation_id, graph_id, contact_id, is_first, context, started_at, created_at, updated_at)
    select everpost_uuid_v7(), project_id, automation_id, graph_id, contact_id,
      not allow_reentry or not exists (
        select from automation_execution e where e.automation_id = m.automation_id and e.contact_id = m.contact_id),
      data, now(), now(), now()
    from matched m
    on conflict do nothing
    returning id, project_id
  )
  insert into outbox (id, project_id, kind, subject_id)
  select everpost_uuid_v7(), project_id, 'execution', id from started;

  with ended as (
    update event_wait w set event_id = first.id, event_data = first.data, resolved_at = now()
    from (
      select distinct on (o.execution_id) o.execution_id, n.id, n.data
      from recorded n
      join (
        select execution_id, contact_id, event_name from event_wait
        where event_id is null and (contact_id, event_name) in (select contact_id, name from recorded)
        order by execution_id for update
      ) o on o.contact_id = n.contact_id and o.event_name = n.name
      order by o.execution_id, n.id
    ) first
    where w.execution_id = first.execution_id and w.event_id is null
    returning w.execution_id, w.project_id
  )
  insert into outbox (id, project_id, kind, subject_id)
  select everpost_uuid_v7(), project_id, 'executionEvent', execution_id from ended;
  return null;
end
$$;

create trigger event_fan_out after insert on event
  referencing new table as recorded for each statement execute function everpost_fan_out();
`;

/** Automations and their executions; webhook secrets; which execution a mail comes from. */
export class AutomationsMigration extends Migration {
  override up(): void {
    this.addSql(AUTOMATION_TABLES_SQL);
    this.addSql(FAN_OUT_SQL);
  }
}
