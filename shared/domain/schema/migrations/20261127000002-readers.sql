-- Automations that only people start, and waits that only people end.

alter table automation add column trigger_human_only boolean not null default false;
alter table event_wait add column human_only boolean not null default false;

-- The confirmations of a mailbox are counted over all projects.
create index confirmation_mail_by_mailbox on confirmation_mail (address_hash, queued_at);

-- Whether an open or a click is a machine's, by the data of its event.
create function everpost_is_of_machine(data jsonb) returns boolean language sql immutable parallel safe as $$
  select coalesce(data -> 'isMachine' = 'true', false)
$$;

-- As before, without the events of machines where only people count.
create or replace function everpost_start_executions(events event[]) returns table (project_id uuid, execution_id uuid)
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
    where n.contact_id is not null and not (a.trigger_human_only and everpost_is_of_machine(n.data))
      and (n.email_id is null or n.data ->> 'workflowId' is distinct from a.id::text)
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

create or replace function everpost_end_waits(events event[]) returns table (project_id uuid, execution_id uuid)
language plpgsql rows 1 set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  return query
  update event_wait w set event_id = first.id, event_data = first.data, resolved_at = now()
  from (
    select distinct on (o.execution_id) o.execution_id, n.id, n.data
    from unnest(events) n
    join (
      select execution_id, contact_id, event_name, human_only from event_wait
      where event_id is null and (contact_id, event_name) in (select contact_id, name from unnest(events))
      order by execution_id for update
    ) o on o.contact_id = n.contact_id and o.event_name = n.name
      and not (o.human_only and everpost_is_of_machine(n.data))
    order by o.execution_id, n.id
  ) first
  where w.execution_id = first.execution_id and w.event_id is null
  returning w.project_id, w.execution_id;
end
$$;
