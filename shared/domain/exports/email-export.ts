import { chosenColumns, type ExportColumn, type ExportSource } from '../../database/exported-rows.ts';
import { sql, type Em } from '../../database/sql.ts';
import {
  EMAIL_CURSOR,
  EMAIL_SUBJECT,
  EMAIL_TOPIC_ID,
  EMAIL_TYPE,
  scanEmails,
  type EmailCursor,
  type EmailFilters,
} from '../emails/email-lists.ts';

const EXPORTED: readonly ExportColumn[] = [
  { name: 'id', value: sql`e.id`, kind: 'word' },
  { name: 'status', value: sql`e.status`, kind: 'word' },
  { name: 'type', value: EMAIL_TYPE, kind: 'word' },
  { name: 'to', value: sql`e.to_address`, kind: 'text' },
  { name: 'subject', value: EMAIL_SUBJECT, kind: 'text' },
  { name: 'contactId', value: sql`e.contact_id`, kind: 'word' },
  { name: 'campaignId', value: sql`e.campaign_id`, kind: 'word' },
  { name: 'templateId', value: sql`e.template_id`, kind: 'word' },
  { name: 'topicId', value: EMAIL_TOPIC_ID, kind: 'word' },
  { name: 'workflowId', value: sql`e.automation_id`, kind: 'word' },
  { name: 'executionId', value: sql`e.execution_id`, kind: 'word' },
  { name: 'error', value: sql`e.error`, kind: 'text' },
  { name: 'tags', value: sql`coalesce(e.tags, '[]')`, kind: 'json' },
  { name: 'createdAt', value: sql`e.created_at`, kind: 'moment' },
  { name: 'scheduledAt', value: sql`e.scheduled_at`, kind: 'moment' },
  { name: 'sentAt', value: sql`e.sent_at`, kind: 'moment' },
  { name: 'deliveredAt', value: sql`e.delivered_at`, kind: 'moment' },
  { name: 'openedAt', value: sql`e.opened_at`, kind: 'moment' },
  { name: 'clickedAt', value: sql`e.clicked_at`, kind: 'moment' },
  { name: 'bouncedAt', value: sql`e.bounced_at`, kind: 'moment' },
  { name: 'complainedAt', value: sql`e.complained_at`, kind: 'moment' },
  { name: 'unsubscribedAt', value: sql`e.unsubscribed_at`, kind: 'moment' },
  { name: 'humanOpenedAt', value: sql`e.human_opened_at`, kind: 'moment' },
  { name: 'humanClickedAt', value: sql`e.human_clicked_at`, kind: 'moment' },
  { name: 'opens', value: sql`e.opens`, kind: 'number' },
  { name: 'clicks', value: sql`e.clicks`, kind: 'number' },
];

/** The emails of a list as an export, in its order. @throws AppError VALIDATION_ERROR for an unknown column */
export function emailExport(
  projectId: string,
  filters: EmailFilters,
  columns?: readonly string[],
): ExportSource<typeof EMAIL_CURSOR> {
  const scanAfter = (tx: Em, after: EmailCursor | undefined) => scanEmails(tx, projectId, { ...filters, after });
  return {
    columns: chosenColumns(EXPORTED, columns),
    position: EMAIL_CURSOR,
    page: async (tx, line, after, limit) =>
      (await scanAfter(tx, after)).page(sql`e.created_at as at, e.id, e.campaign_seq as seq, ${line}`, limit),
    searchedUpTo: async (tx, after) => (await scanAfter(tx, after)).findEnd(),
  };
}
