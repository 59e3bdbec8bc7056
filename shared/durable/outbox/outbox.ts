import { uuidV7 } from '../../platform/uuid.ts';
import type { OutboxKind } from '../../pure/outbox-kinds.ts';
import { queryPrepared, sql, type SqlFragment, type Em } from '../../database/sql.ts';

/**
 * The statement of `addToOutbox`, for a CTE of another statement. `isBatched` is for rows that may wait up to a second:
 * all rows of that second go into one start, because a start costs Temporal as much as some hundred rows cost
 * PostgreSQL. With `isRestart`, a closed workflow is followed by another one with the same id. `delaySeconds` is for
 * rows that must not be handed over at once.
 */
export function outboxInsert(
  kind: OutboxKind,
  projectId: string,
  subjectIds: string[],
  options: { isBatched?: boolean; isRestart?: boolean; delaySeconds?: number } = {},
): SqlFragment {
  const { isBatched, delaySeconds = 0 } = options;
  const due = isBatched
    ? sql`date_trunc('second', now()) + interval '1 second'`
    : sql`now() + ${delaySeconds}::int * interval '1 second'`;
  return sql`
    insert into outbox (id, project_id, kind, subject_id, available_at, is_restart)
    select i, ${projectId}, ${kind}, s, ${due}, ${options.isRestart ?? false}::boolean
    from unnest(${subjectIds.map(() => uuidV7())}::uuid[], ${subjectIds}::uuid[]) as n (i, s)`;
}

/** Adds outbox rows in the caller's transaction. */
export async function addToOutbox(
  em: Em,
  kind: OutboxKind,
  projectId: string,
  subjectIds: string[],
  options?: { isRestart: boolean },
): Promise<void> {
  await queryPrepared(em, outboxInsert(kind, projectId, subjectIds, options));
}
