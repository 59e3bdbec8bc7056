import { Migration } from '@mikro-orm/migrations';

/**
 * Ended executions are counted when they end and when they are deleted, so that a list needs not count them. Each end adds a
 * row, because one row for each automation would make its executions wait for each other. From time to time an end adds up
 * the rows of its automation. Triggers do it, so that executions are counted that programs of the version before end. A
 * second index finds the ended executions in one status.
 */
const SQL = `
create table ended_execution_count (
  id uuid not null default everpost_uuid_v7(),
  automation_id uuid not null,
  status text not null,
  count bigint not null,
  primary key (automation_id, id)
);

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

create function everpost_count_ended_execution() returns trigger language plpgsql as $$
begin
  insert into ended_execution_count (automation_id, status, count) values (new.automation_id, new.status, 1);
  if random() < 0.02 then
    perform everpost_add_up_ended_executions(new.automation_id);
  end if;
  return null;
end $$;
create trigger execution_ended after update of completed_at on automation_execution
  for each row when (old.completed_at is null and new.completed_at is not null) execute function everpost_count_ended_execution();
create trigger execution_inserted_ended after insert on automation_execution
  for each row when (new.completed_at is not null) execute function everpost_count_ended_execution();

create function everpost_count_deleted_executions() returns trigger language plpgsql as $$
begin
  insert into ended_execution_count (automation_id, status, count)
  select automation_id, status, -count(*) from deleted where completed_at is not null group by automation_id, status;
  perform everpost_add_up_ended_executions(automation_id) from (select distinct automation_id from deleted) d;
  return null;
end $$;
create trigger executions_deleted after delete on automation_execution
  referencing old table as deleted for each statement execute function everpost_count_deleted_executions();

-- The triggers hold a lock that excludes writers until the migration is committed.
insert into ended_execution_count (automation_id, status, count)
select automation_id, status, count(*) from automation_execution where completed_at is not null group by automation_id, status;

create index automation_execution_by_status on automation_execution (automation_id, status, created_at, id)
  where completed_at is not null;
`;

export class ExecutionCountsMigration extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}
