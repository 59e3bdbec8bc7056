-- Why emails wait. Databases that were made in the days after version 0.1.0 have this from their first migration.

alter table email
  -- Why the email is not tried before retry_at.
  add column if not exists wait_reason text;

do $$
begin
  if to_regclass('project_permit') is null then
    alter table send_budget rename to project_permit;
    alter index send_budget_pkey rename to project_permit_pkey;
    alter table project_permit
      alter column next_free_at drop not null,
      -- Why the emails of each stream wait, as workers decided last.
      add column holds jsonb not null default '{}';
    -- Processes of version 0.1.0 book the speed of projects by the former name.
    create view send_budget as select project_id, next_free_at, urgent_free_at from project_permit;
  end if;
end
$$;
