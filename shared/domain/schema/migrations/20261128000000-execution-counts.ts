import { Migration } from '@mikro-orm/migrations';

/**
 * Ended executions are counted when they end and when they are deleted, so that a list need not count them. Each statement
 * that ends executions adds a row, because one row for each automation would make its executions wait for each other. One
 * such statement in a hundred adds up the rows of its automations, and each deletion does. A trigger does it, so that
 * executions are counted that programs of the version before end. A second index finds the ended executions in one status.
 */
const SQL = `
create table ended_execution_count (
  id uuid not null default gen_random_uuid(),
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
    select c.automation_id, c.status, count(*) from changed c join former f using (id)
    where c.completed_at is not null and f.completed_at is null group by c.automation_id, c.status;
  else
    insert into ended_execution_count (automation_id, status, count)
    select automation_id, status, count(*) from changed where completed_at is not null group by automation_id, status;
  end if;
  if found and random() < 0.01 then
    perform everpost_add_up_ended_executions(automation_id) from (select distinct automation_id from changed) c;
  end if;
  return null;
end $$;
create trigger executions_ended after update on automation_execution referencing old table as former new table as changed
  for each statement execute function everpost_count_ended_executions();
create trigger executions_inserted after insert on automation_execution referencing new table as changed
  for each statement execute function everpost_count_ended_executions();
create trigger executions_deleted after delete on automation_execution referencing old table as former
  for each statement execute function everpost_count_ended_executions();

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
