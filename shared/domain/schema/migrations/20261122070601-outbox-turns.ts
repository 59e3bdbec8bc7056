import { Migration } from '@mikro-orm/migrations';

/** A queue is emptied as fast as it is filled, so its dead rows are removed early. */
const INDEXES = `
drop index outbox_due;
drop index outbox_urgent;
drop index outbox_execution;
create index outbox_new on outbox (kind, project_id, id) where batch_id is null;
create index outbox_lapsing on outbox (kind, project_id, available_at) where batch_id is not null;
create index outbox_by_batch on outbox (batch_id) where batch_id is not null;
alter table outbox set (
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0
);
`;

/**
 * The outbox is mostly empty, and what the planner knows of it is from then: it would read the whole table, and keep that
 * plan while a hundred thousand rows come in. So the statements of the dispatcher are functions, whose plans must take the indexes.
 */
const INDEXES_ONLY = 'set enable_seqscan = off set enable_bitmapscan = off';

/**
 * The next projects with rows of a kind that are due, as many as a claim has rows: new ones, or claimed ones whose lease
 * is over. Each is one look into the index, however many rows the project has there.
 */
function turns(rows: string, afterProject: string): string {
  const next = (after: string): string => `
    select o.project_id from outbox o
    where o.kind = p_kind and o.batch_id is ${rows} and o.project_id > ${after} and o.available_at <= now()
    order by o.project_id limit 1`;
  return `
    with recursive step (project_id, n) as (
      (select head.project_id, 1 from (${next(afterProject)}) head)
      union all
      select (${next('step.project_id')}), step.n + 1 from step where step.project_id is not null and step.n < p_rows
    ),
    turn as materialized (
      select step.project_id, step.n, count(*) over () as sharers from step where step.project_id is not null
    )`;
}

/** Always answers a row: \`turns\` and \`last_project\` say how far the claim looked, the rest is null where it took nothing. */
const CLAIM = `
create function everpost_claim_outbox(
  p_kind text, p_rows integer, p_batch integer, p_after uuid, p_lease interval
) returns table (
  turns bigint, last_project uuid, project_id uuid, subject_id uuid, batch_id uuid, attempts integer, is_restart boolean
) language plpgsql ${INDEXES_ONLY} as $$
#variable_conflict use_column
begin
  return query
  ${turns('null', 'p_after')},
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
`;

/** Whole batches. */
const RECOVER = `
create function everpost_recover_outbox(p_kind text, p_rows integer, p_lease interval)
returns table (project_id uuid, subject_id uuid, batch_id uuid, attempts integer, is_restart boolean)
language plpgsql ${INDEXES_ONLY} as $$
#variable_conflict use_column
begin
  return query
  ${turns('not null', "'00000000-0000-0000-0000-000000000000'::uuid")}
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
`;

const FINISH = `
create function everpost_finish_outbox(p_batches uuid[]) returns void language plpgsql ${INDEXES_ONLY} as $$
begin
  delete from outbox where batch_id = any(p_batches);
end
$$;
`;

const DUE = `
create function everpost_due_outbox(p_kinds text[])
returns table (kind text, has_new boolean, has_lapsed boolean)
language plpgsql stable ${INDEXES_ONLY} as $$
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
`;

/** Claims take turns among projects, kind by kind, and cost what they take, not what waits. */
export class OutboxTurnsMigration extends Migration {
  override up(): void {
    this.addSql(INDEXES);
    this.addSql(CLAIM);
    this.addSql(RECOVER);
    this.addSql(FINISH);
    this.addSql(DUE);
  }
}
