import { validate as isUuid } from 'uuid';
import { uuidV7 } from '../../platform/uuid.ts';
import { columnsOf, joinSql, json, query, sql, storableText, type SqlFragment, type Em } from '../../database/sql.ts';
import { pick, tables, type RowOf } from '../../database/tables.ts';

/** One request, command or action in the console, as the record of who did what keeps it. */
const AUDIT_ENTRY = pick(
  tables.auditEntry,
  ...(['id', 'projectId', 'actor', 'keyId', 'keyName', 'operation'] as const),
  ...(['subjectIds', 'status', 'requestId', 'createdAt'] as const),
);
export type AuditEntry = RowOf<typeof AUDIT_ENTRY>;
export type NewAuditEntry = Omit<AuditEntry, 'id' | 'createdAt'>;

/** What became of it, by its status. */
export const AUDIT_OUTCOMES = ['done', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

export function outcomeOf({ status }: Pick<AuditEntry, 'status'>): AuditOutcome {
  if (status < 400) return 'done';
  return status < 500 ? 'refused' : 'failed';
}

const OUTCOME_CONDITIONS: Record<AuditOutcome, SqlFragment> = {
  done: sql`status < 400`,
  refused: sql`status between 400 and 499`,
  failed: sql`status >= 500`,
};

/** Ids that one entry has at most. What changes more has a job or a campaign, whose id it is then. */
const SUBJECTS_MAX = 20;

/** The different ids among values from a request or an answer; everything else, such as an address, is left out. */
export function subjectIdsOf(values: readonly unknown[]): string[] {
  const ids = values.filter((value): value is string => typeof value === 'string' && isUuid(value));
  return [...new Set(ids.map((id) => id.toLowerCase()))].slice(0, SUBJECTS_MAX);
}

/** Records entries, in the caller's transaction if there is one. */
export async function recordAudit(em: Em, entries: readonly NewAuditEntry[]): Promise<void> {
  const rows = entries.map((entry) => ({
    id: uuidV7(),
    project_id: entry.projectId,
    actor: entry.actor,
    key_id: entry.keyId,
    key_name: entry.keyName,
    operation: entry.operation,
    subject_ids: entry.subjectIds,
    status: entry.status,
    request_id: entry.requestId === null ? null : storableText(entry.requestId),
  }));
  await query(
    em,
    sql`
      insert into audit_entry (id, project_id, actor, key_id, key_name, operation, subject_ids, status, request_id)
      select * from jsonb_to_recordset(${json(rows)}::jsonb) as e (id uuid, project_id uuid, actor text, key_id uuid,
        key_name text, operation text, subject_ids uuid[], status smallint, request_id text)`,
  );
}

export interface AuditFilters {
  operation?: string | undefined;
  actor?: AuditEntry['actor'] | undefined;
  keyId?: string | undefined;
  subjectId?: string | undefined;
  outcome?: AuditOutcome | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/**
 * A page of a project's entries, newest first; null means the entries of the whole instance.
 * @param list `after` is the last entry of the page before
 */
export async function listAudit(
  em: Em,
  projectId: string | null,
  list: AuditFilters & { limit: number; after?: { at: string; id: string } | undefined },
): Promise<{ entries: AuditEntry[]; hasMore: boolean }> {
  const { operation, actor, keyId, subjectId, outcome, from, to, after, limit } = list;
  const conditions = [projectId === null ? sql`project_id is null` : sql`project_id = ${projectId}`];
  if (operation !== undefined) conditions.push(sql`operation = ${operation}`);
  if (actor !== undefined) conditions.push(sql`actor = ${actor}`);
  if (keyId !== undefined) conditions.push(sql`key_id = ${keyId}`);
  if (subjectId !== undefined) conditions.push(sql`subject_ids @> array[${subjectId}::uuid]`);
  if (outcome !== undefined) conditions.push(OUTCOME_CONDITIONS[outcome]);
  if (from !== undefined) conditions.push(sql`created_at >= ${from}`);
  if (to !== undefined) conditions.push(sql`created_at < ${to}`);
  if (after) conditions.push(sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`);
  const entries = await query(
    em,
    sql`
      select ${columnsOf(AUDIT_ENTRY)} from audit_entry where ${joinSql(conditions, ' and ')}
      order by created_at desc, id desc limit ${limit + 1}`,
    AUDIT_ENTRY,
  );
  return { entries: entries.slice(0, limit), hasMore: entries.length > limit };
}

/** Operations on a campaign that say who set it going, stopped it, or let it go on. */
const CAMPAIGN_OPERATIONS = ['send', 'cancel', 'pause', 'resume', 'continue', 'resend'].map(
  (verb) => `${verb}Campaign`,
);
const CAMPAIGN_ENTRIES_MAX = 50;

/** Who sent, paused, resumed, resent or cancelled a campaign, newest first. */
export async function campaignHistory(em: Em, projectId: string, campaignId: string): Promise<AuditEntry[]> {
  return query(
    em,
    sql`
      select ${columnsOf(AUDIT_ENTRY)} from audit_entry
      where project_id = ${projectId} and subject_ids @> array[${campaignId}::uuid] and status < 400
        and operation = any(${CAMPAIGN_OPERATIONS}::text[])
      order by created_at desc, id desc limit ${CAMPAIGN_ENTRIES_MAX}`,
    AUDIT_ENTRY,
  );
}
