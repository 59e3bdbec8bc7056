import type { EmailStatus, EmailType } from '../../pure/emails/email-types.ts';
import { emailStatus, emailType } from '../../database/constants.ts';
import {
  columnsOf,
  inSnapshot,
  joinSql,
  json,
  query,
  queryOne,
  sql,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { nullable, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { periodConditions, type Period } from '../events/event-lists.ts';
import { normalizeAddress, spellingsOf } from '../../pure/emails/email-address.ts';
import { contactIdsOfAddress, wentWithoutContact } from './by-address.ts';

/** Stands for the statuses of emails that reached nobody. */
export const UNREACHED = 'UNREACHED';

/** The last email of a page: in a list by number its `seq` counts, in other lists its time and id. */
export const EMAIL_CURSOR = { at: tables.email.createdAt, id: tables.email.id, seq: tables.email.campaignSeq };
export type EmailCursor = RowOf<typeof EMAIL_CURSOR>;

export interface EmailFilters {
  /** Only those of POST /v1/send with this key. */
  keyId?: string | undefined;
  address?: string | undefined;
  contactId?: string | undefined;
  campaignId?: string | undefined;
  templateId?: string | undefined;
  workflowId?: string | undefined;
  status?: EmailStatus | typeof UNREACHED | undefined;
  type?: EmailType | undefined;
  tag?: string | undefined;
  period?: Period;
}

export interface EmailListQuery extends EmailFilters {
  limit: number;
  /** The end of the page before. */
  after?: EmailCursor | undefined;
}

const OF_EMAIL = {
  /** Null once its contact was erased. */
  to: tables.email.toAddress,
  seq: tables.email.campaignSeq,
  workflowId: tables.email.automationId,
  /** The words of the server, or Everpost's own. */
  error: tables.email.error,
  ...pick(
    tables.email,
    'id',
    'status',
    'contactId',
    'campaignId',
    'templateId',
    'executionId',
    'deferrals',
    'scheduledAt',
    'tags',
  ),
  ...pick(tables.email, 'createdAt', 'sentAt', 'deliveredAt', 'openedAt', 'clickedAt', 'bouncedAt', 'complainedAt'),
  ...pick(tables.email, 'unsubscribedAt', 'opens', 'clicks', 'humanOpenedAt', 'humanClickedAt'),
};

export const LISTED_EMAIL = {
  ...OF_EMAIL,
  type: tables.template.type,
  topicId: tables.email.topicId,
  subject: nullable(text),
  retryAt: tables.email.retryAt,
};
export type ListedEmail = RowOf<typeof LISTED_EMAIL>;

export interface EmailPage {
  emails: ListedEmail[];
  /** The `after` of the next page; missing on the last page. */
  next?: EmailCursor;
}

/** Rare statuses that callers search for among many emails. The column `trouble` repeats them, and has an index. */
const TROUBLES: readonly EmailStatus[] = ['BOUNCED', 'COMPLAINED', 'FAILED', 'SKIPPED', 'SUPPRESSED', 'CANCELLED'];

/** Emails that one page reads at most, so that a filter that fits few emails costs no more than one that fits all. */
const WINDOW = 3_000;
/** A rendered subject may be megabytes. */
const SUBJECT_LENGTH_MAX = 1_000;

/** The type is that of the campaign or the template, as it is now. */
export const EMAIL_TYPE = sql`coalesce(c.type, t.type, ${emailType.TRANSACTIONAL})`;

export const EMAIL_TOPIC_ID = sql`coalesce(e.topic_id, c.topic_id)`;
export const EMAIL_SUBJECT = sql`case when e.to_address is not null then left(coalesce(e.subject, c.subject), ${SUBJECT_LENGTH_MAX}::int) end`;

/** The columns of a `ListedEmail`, to be selected from `emailTables`. */
export const EMAIL_COLUMNS = sql`
  ${columnsOf(OF_EMAIL, 'e')}, ${EMAIL_TYPE} as type, ${EMAIL_TOPIC_ID} as "topicId",
  case when e.status = ${emailStatus.PENDING} then e.retry_at end as "retryAt",
  ${EMAIL_SUBJECT} as subject`;

/** Emails `e` joined with the tables that `EMAIL_COLUMNS` reads. */
export function emailTables(emails: SqlFragment): SqlFragment {
  return sql`${emails} e left join campaign c on c.id = e.campaign_id left join template t on t.id = e.template_id`;
}

function hasStatus(status: EmailStatus | typeof UNREACHED): SqlFragment {
  if (status === UNREACHED) return sql`e.trouble <> ${emailStatus.COMPLAINED}`;
  return TROUBLES.includes(status) ? sql`e.trouble = ${status}` : sql`e.status = ${status}`;
}

/**
 * The conditions that the index has not checked. When a statement repeats a condition, PostgreSQL expects so few
 * matches that it reads and sorts the whole window: 46 ms instead of 0.3 ms for a page of 5,000 bounces.
 */
function uncheckedConditions(conditions: SqlFragment[], checked: SqlFragment[]): SqlFragment[] {
  const texts = new Set(checked.map((condition) => condition.sql));
  const left = conditions.filter((condition) => !texts.has(condition.sql));
  return left.length > 0 ? left : [sql`true`];
}

/** How a list is read: by one index, or by several whose emails are merged. */
interface AccessPath {
  /** The conditions of each index scan. An email is found by one scan only. */
  branches: SqlFragment[][];
  isByNumber: boolean;
}

/**
 * Whether a list is in the order of the recipients of a campaign. If a contact or an address is given as well, it is in
 * the order of time, like the index that finds the emails of a contact.
 */
export function isListedByNumber({ campaignId, contactId, address }: EmailFilters): boolean {
  return campaignId !== undefined && contactId === undefined && address === undefined;
}

/**
 * The access path of the filter that fits the fewest emails. `contactIds` have or had the address that is searched for.
 */
function accessPathOf(projectId: string, filters: EmailFilters, contactIds: string[]): AccessPath {
  const { campaignId, contactId, address, templateId, workflowId, status } = filters;
  const isByNumber = isListedByNumber(filters);
  const byIndex = (...conditions: SqlFragment[]): AccessPath => ({ branches: [conditions], isByNumber });
  const ofContact = (id: string) => [sql`e.contact_id = ${id}`];
  if (contactId !== undefined) return byIndex(...ofContact(contactId));
  if (address !== undefined) {
    return {
      branches: [
        ...spellingsOf(normalizeAddress(address)).map((each) => [wentWithoutContact(projectId, sql`${each}::text`)]),
        ...contactIds.map(ofContact),
      ],
      isByNumber,
    };
  }
  const isTrouble = status === UNREACHED || (status !== undefined && TROUBLES.includes(status));
  const ofTrouble = isTrouble ? [hasStatus(status), sql`e.trouble is not null`] : [];
  if (campaignId !== undefined) return byIndex(sql`e.campaign_id = ${campaignId}`, ...ofTrouble);
  if (templateId !== undefined) return byIndex(sql`e.template_id = ${templateId}`);
  if (workflowId !== undefined) return byIndex(sql`e.automation_id = ${workflowId}`);
  return byIndex(sql`e.project_id = ${projectId}`, ...ofTrouble);
}

/** The emails `e` that the index scans of an access path find, in order. */
function scannedEmails(branches: SqlFragment[][], order: SqlFragment): SqlFragment {
  const emails = branches.map((conditions) => sql`email e where ${joinSql(conditions, ' and ')}`);
  const [only] = emails;
  if (only && emails.length === 1) return sql`from ${only} order by ${order}`;
  const all = emails.map((part) => sql`select * from ${part}`);
  return sql`from (${joinSql(all, ' union all ')}) e order by ${order}`;
}

/** The conditions on every email of the list, whichever index found it. */
function filterConditions(projectId: string, list: EmailFilters): SqlFragment[] {
  const conditions = [sql`e.project_id = ${projectId}`];
  if (list.campaignId !== undefined) conditions.push(sql`e.campaign_id = ${list.campaignId}`);
  if (list.contactId !== undefined) conditions.push(sql`e.contact_id = ${list.contactId}`);
  if (list.address !== undefined)
    conditions.push(sql`e.to_address = any(${spellingsOf(normalizeAddress(list.address))}::text[])`);
  if (list.templateId !== undefined) conditions.push(sql`e.template_id = ${list.templateId}`);
  if (list.workflowId !== undefined) conditions.push(sql`e.automation_id = ${list.workflowId}`);
  if (list.status !== undefined) conditions.push(hasStatus(list.status));
  if (list.keyId !== undefined) conditions.push(sql`e.key_id = ${list.keyId}`);
  if (list.tag !== undefined) conditions.push(sql`e.tags @> ${json([list.tag])}::jsonb`);
  if (list.type !== undefined) conditions.push(sql`${EMAIL_TYPE} = ${list.type}`);
  return [...conditions, ...periodConditions(sql`e.created_at`, list.period ?? {})];
}

/** The conditions by which every index scan begins after the page before. */
function pageBounds({ after, period }: Omit<EmailListQuery, 'limit'>, isByNumber: boolean): SqlFragment[] {
  if (isByNumber) {
    const isRecipient = sql`e.campaign_seq is not null`;
    return after ? [isRecipient, sql`e.campaign_seq < ${after.seq}`] : [isRecipient];
  }
  const bounds = periodConditions(sql`e.created_at`, period ?? {});
  if (after) bounds.push(sql`(e.created_at, e.id) < (${after.at}::timestamptz, ${after.id}::uuid)`);
  return bounds;
}

/** The last email of a window; undefined when the list ends within it. */
async function findWindowEnd(
  em: Em,
  projectId: string,
  scanned: SqlFragment,
  isByNumber: boolean,
): Promise<EmailCursor | undefined> {
  // The index alone has these columns, so the emails of the window are not read.
  const key = isByNumber ? sql`campaign_id, campaign_seq` : sql`id`;
  return queryOne(
    em,
    sql`
      select e.created_at as at, e.id, e.campaign_seq as seq
      from (select ${key} ${scanned} offset ${WINDOW - 1} limit 1) w join email e using (${key})
      where e.project_id = ${projectId}`,
    EMAIL_CURSOR,
  );
}

/** How the emails of a list are found and ordered. */
export async function scanEmails(em: Em, projectId: string, list: Omit<EmailListQuery, 'limit'>) {
  const { address, contactId } = list;
  const isByAddress = address !== undefined && contactId === undefined;
  const contactIds = isByAddress ? await contactIdsOfAddress(em, projectId, address) : [];
  const { branches, isByNumber } = accessPathOf(projectId, list, contactIds);
  const bounds = pageBounds(list, isByNumber);
  const order = isByNumber ? sql`e.campaign_seq desc` : sql`e.created_at desc, e.id desc`;
  const scans = branches.map((conditions) => [...conditions, ...bounds]);
  const scanned = scannedEmails(scans, order);
  const checked = scans.length === 1 ? scans.flat() : bounds;
  const conditions = uncheckedConditions(filterConditions(projectId, list), checked);
  const page = (columns: SqlFragment, limit: number) => sql`
    select ${columns} from ${emailTables(sql`(select * ${scanned} limit ${WINDOW})`)}
    where ${joinSql(conditions, ' and ')} order by ${order} limit ${limit}`;
  return { page, findEnd: () => findWindowEnd(em, projectId, scanned, isByNumber) };
}

/**
 * One page of a project's emails, newest first; those of a campaign by the number of the recipient, highest first. A
 * page reads a bounded number of emails. So with filters it may have fewer than `limit` emails, or none, and still a
 * next page.
 */
export async function listEmails(em: Em, projectId: string, list: EmailListQuery): Promise<EmailPage> {
  return inSnapshot(em, async (tx) => {
    const { page: pageOf, findEnd } = await scanEmails(tx, projectId, list);
    const emails = await query(tx, pageOf(EMAIL_COLUMNS, list.limit + 1), LISTED_EMAIL);
    if (emails.length > list.limit) {
      const page = emails.slice(0, list.limit);
      const last = page.at(-1);
      return last ? { emails: page, next: { at: last.createdAt, id: last.id, seq: last.seq } } : { emails: page };
    }
    const next = await findEnd();
    return next ? { emails, next } : { emails };
  });
}
