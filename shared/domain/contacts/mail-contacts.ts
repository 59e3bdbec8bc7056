import { sql, type SqlFragment } from '../../database/sql.ts';
import { successorUpdate } from './successors.ts';

/**
 * The common table expressions that give each address of a message a contact: `held` has those that exist, which are
 * locked against deletion and not changed, and `created` the others. A contact that another transaction creates
 * meanwhile is in neither. The statement needs a table `lock_limit`; when that is empty, nothing is locked or created.
 * @param contacts each address once, with the id of its contact if it is new
 */
export function mailContacts(projectId: string, contacts: readonly { id: string; email: string }[]): SqlFragment {
  // Sorted like `IN_LOCK_ORDER`.
  const sorted = [...contacts].sort((left, right) => (left.email < right.email ? -1 : 1));
  const emails = sorted.map(({ email }) => email);
  return sql`
    held as materialized (
      select k.* from lock_limit, unnest(${emails}::text[]) a cross join lateral (
        select c.id, c.email from contact c where c.project_id = ${projectId} and c.email = a limit 1 for key share
      ) k
    ),
    created as (
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select n.id, ${projectId}, n.email, false, now(), now()
      from lock_limit, unnest(${sorted.map(({ id }) => id)}::uuid[], ${emails}::text[]) as n (id, email)
      where not exists (select from held h where h.email = n.email)
      on conflict do nothing returning id, email
    ),
    returned as (${successorUpdate(projectId, sql`created n`)})`;
}
