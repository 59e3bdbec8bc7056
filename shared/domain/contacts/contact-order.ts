import { MAX, NIL } from 'uuid';
import { sql, type SqlFragment } from '../../database/sql.ts';

/**
 * The condition for the contacts of a project whose ids are greater than `afterId`, in statements that `order by
 * project_id, id`. With `project_id = …`, PostgreSQL may go through the contacts of all projects in the order of ids.
 */
export function contactsAfter(projectId: string, afterId: string = NIL): SqlFragment {
  return sql`
    (project_id, id) > (${projectId}::uuid, ${afterId}::uuid) and (project_id, id) <= (${projectId}::uuid, ${MAX}::uuid)`;
}
