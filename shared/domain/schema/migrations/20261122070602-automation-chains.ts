import { Migration } from '@mikro-orm/migrations';

/** Where an execution stands in a chain of automations that start one another: 1 for one that something outside started. */
const COLUMNS = `
alter table automation_execution add column depth smallint not null default 1;
-- The deepest execution that changed the contact of late: entering or leaving a segment may follow from that.
alter table contact add column changed_depth smallint, add column changed_depth_at timestamptz(3);

drop index automation_execution_by_contact;
create index automation_execution_by_contact on automation_execution (contact_id, automation_id, started_at);

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
create index automation_refusal_by_creation on automation_refusal (project_id, created_at, id);
create index automation_refusal_by_age on automation_refusal (created_at);
`;

/** Whether a contact has been through an automation as often as it may in an hour, whatever let it in. */
const STARTED_OFTEN = `
create function everpost_has_started_often(p_automation uuid, p_contact uuid) returns boolean language sql stable as $$
  select count(*) >= 100 from (
    select from automation_execution
    where contact_id = p_contact and automation_id = p_automation and started_at > now() - interval '1 hour' limit 100
  ) recent
$$;
`;

/**
 * The depth of the execution that an event follows from; 0 where it follows from none. An email follows from the
 * execution that sent it, and so do its events; a subscription says in its data which execution changed it; a segment is
 * entered and left because of what an execution did to the contact within the last hour. What a person does with an email
 * follows from it only where that comes within an hour: machines that open and answer are as quick, and people who do it
 * later are not in a loop. The names of these events are reserved, so nobody outside can say any of this.
 */
const DEPTH = `
create function everpost_depth_of_cause(p_name text, p_contact uuid, p_email uuid, p_data jsonb)
returns smallint language sql stable as $$
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
`;

/**
 * What an event sets going, in the transaction that records it, whichever statement that is: a new execution of every
 * enabled automation with that trigger, and the end of every wait of that contact for it. Both are found by index, for
 * all events of a statement at once; re-entry is refused by the unique indexes.
 *
 * Automations can start one another, and nothing says that they stop: so a chain ends after eight, and a contact enters
 * an automation a hundred times an hour at most. What is refused is noted. Mail that an automation sent starts no further
 * execution of the same automation in any case.
 */
const FAN_OUT = `
create or replace function everpost_fan_out() returns trigger language plpgsql as $$
begin
  with matched as (
    select distinct on (a.id, n.contact_id) a.id as automation_id, a.project_id, a.graph_id, a.allow_reentry,
      n.contact_id, n.data, n.id as event_id,
      everpost_depth_of_cause(n.name, n.contact_id, n.email_id, n.data) + 1 as depth
    from recorded n
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
  ),
  started as (
    insert into automation_execution
      (id, project_id, automation_id, graph_id, contact_id, is_first, context, depth, started_at, created_at, updated_at)
    select everpost_uuid_v7(), project_id, automation_id, graph_id, contact_id,
      not allow_reentry or not exists (
        select from automation_execution e where e.automation_id = j.automation_id and e.contact_id = j.contact_id),
      data, depth, now(), now(), now()
    from judged j where refusal is null
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
`;

/** Ends chains of automations that start one another, and bounds how often a contact enters one. */
export class AutomationChainsMigration extends Migration {
  override up(): void {
    this.addSql(COLUMNS);
    this.addSql(STARTED_OFTEN);
    this.addSql(DEPTH);
    this.addSql(FAN_OUT);
  }
}
