import { sql, type SqlFragment } from '../../database/sql.ts';

/**
 * The names of a project's events, as a recursive query `names (name)`. It skips from name to name through the index on
 * (project_id, name, created_at), so it takes one step for each name, whatever the number of events.
 */
export function eventNames(projectId: string): SqlFragment {
  return sql`
    names (name) as (
      (select name from event where project_id = ${projectId} order by name limit 1)
      union all
      select (select e.name from event e where e.project_id = ${projectId} and e.name > n.name order by e.name limit 1)
      from names n where n.name is not null
    )`;
}
