import { Migration } from '@mikro-orm/migrations';

/**
 * A failed execution may run again. Its failure is kept for webhook endpoints that have not received it yet. `last_no`
 * is the last number of their feed at the retry: an end of the execution with a number up to it is this failure. The
 * counts of ended executions follow executions that are active again.
 */
const SQL = `
create table former_failure (
  execution_id uuid not null references automation_execution (id) on delete cascade,
  last_no bigint not null,
  completed_at timestamptz(3) not null,
  exit_reason text,
  primary key (execution_id, last_no)
);

alter table job drop constraint job_kind_check;
alter table job add constraint job_kind_check check (kind in
  ('IMPORT', 'SUBSCRIBE', 'UNSUBSCRIBE', 'DELETE', 'DELETE_FIELD', 'CANCEL_EXECUTIONS', 'DELETE_EXECUTIONS',
   'RETRY_EXECUTIONS'));

create or replace function everpost_count_ended_executions() returns trigger language plpgsql as $$
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
`;

export class ExecutionRetriesMigration extends Migration {
  override up(): void {
    this.addSql(SQL);
  }
}
