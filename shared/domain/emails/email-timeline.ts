import { AppError } from '../../pure/app-error.ts';
import { isWaitCurrent, type ProviderWait } from '../../pure/emails/provider-wait.ts';
import type { Em } from '../database/em.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { EMAIL_COLUMNS, emailTables, type ListedEmail } from './email-lists.ts';

/** An attempt that a server did not take. */
interface RecordedAttempt {
  at: string;
  verdict: 'deferred' | 'uncertain' | 'failed' | 'bounced';
  server?: string;
  words?: string;
  nextAt?: string;
}

export const TIMELINE_TYPES = [
  'queued',
  'deferred',
  'refused',
  'accepted',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
  'replied',
  'failed',
  'suppressed',
] as const;

/** Something that happened to an email. */
export interface TimelineEntry {
  at: Date;
  type: (typeof TIMELINE_TYPES)[number];
  /** The server that spoke. */
  server?: string;
  /** What the server said, or our own words if none answered. */
  words?: string;
  /** The rule that judged a refusal or a report. */
  rule?: string;
  bounceType?: 'hard' | 'soft';
  nextAttemptAt?: Date;
  link?: string;
}

export const WAITING_REASONS = [
  'project disabled',
  'campaign paused',
  'complaints',
  'provider paused',
  'deferred',
  'throttled',
  'no relay',
  'queued',
] as const;

/** Why an email is not sent yet, and until when where that is known. */
export interface Waiting {
  reason: (typeof WAITING_REASONS)[number];
  until: Date | null;
  /** Further text: the server's, or our own. */
  words: string | null;
}

export interface EmailStory {
  email: ListedEmail;
  /** Null when it is being sent just now, or has its outcome. */
  waiting: Waiting | null;
  timeline: TimelineEntry[];
}

interface StoryRow extends ListedEmail {
  attempts: RecordedAttempt[] | null;
  refusal: { rule?: string; server?: string } | null;
  isDisabled: boolean;
  isPaused: boolean;
  wasGivenBack: boolean;
  heldAt: Date | null;
  campaignWait: ProviderWait | null;
  budgetUntil: Date | null;
}

interface EventRow {
  name: string;
  at: Date;
  data: Record<string, unknown>;
}

const TYPE_OF_EVENT: Record<string, TimelineEntry['type']> = {
  'email.sent': 'accepted',
  'email.delivery': 'delivered',
  'email.open': 'opened',
  'email.click': 'clicked',
  'email.bounce': 'bounced',
  'email.complaint': 'complained',
  'email.received': 'replied',
  'email.failed': 'failed',
  'email.suppressed': 'suppressed',
};

/** Events of one name that are shown, and those of the contact that are looked through for them. */
const SHOWN_OF_NAME = 50;
const WINDOW = 2_000;

/** Found by the contact, because events have no index on their email; events without a contact have one. */
async function eventsOf(em: Em, email: ListedEmail): Promise<EventRow[]> {
  const found = sql`select e.name, e.created_at as at, e.data, e.id, e.email_id from event e`;
  if (email.contactId === null) {
    return query<EventRow>(
      em,
      sql`
        ${found} where e.contact_id is null and e.email_id = ${email.id}
        order by e.created_at, e.id limit ${SHOWN_OF_NAME * Object.keys(TYPE_OF_EVENT).length}`,
    );
  }
  return query<EventRow>(
    em,
    sql`
      select mine.* from unnest(${Object.keys(TYPE_OF_EVENT)}::text[]) as n (name) cross join lateral (
        select seen.* from (
          ${found} where e.contact_id = ${email.contactId} and e.name = n.name and e.created_at >= ${email.createdAt}
          order by e.created_at limit ${WINDOW}
        ) seen where seen.email_id = ${email.id} order by seen.at, seen.id limit ${SHOWN_OF_NAME}
      ) mine order by mine.at, mine.id`,
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function entryOfEvent({ name, at, data }: EventRow): TimelineEntry[] {
  const type = TYPE_OF_EVENT[name];
  if (type === undefined) return [];
  const words = textOf(data['diagnostic']) ?? textOf(data['reason']);
  const server = textOf(data['server']);
  const rule = textOf(data['rule']);
  const link = textOf(data['link']);
  const bounceType = name === 'email.bounce' ? (data['bounceType'] === 'soft' ? 'soft' : 'hard') : undefined;
  return [
    {
      at,
      type,
      ...(server !== undefined && { server }),
      ...(words !== undefined && { words }),
      ...(rule !== undefined && { rule }),
      ...(bounceType && { bounceType }),
      ...(link !== undefined && { link }),
    },
  ];
}

function entryOfAttempt({ at, verdict, server, words, nextAt }: RecordedAttempt): TimelineEntry {
  return {
    at: new Date(at),
    type: verdict === 'failed' || verdict === 'bounced' ? 'refused' : 'deferred',
    ...(server !== undefined && { server }),
    ...(words !== undefined && { words }),
    ...(nextAt !== undefined && { nextAttemptAt: new Date(nextAt) }),
  };
}

/** The entries known from the email itself, for emails whose events were deleted. */
function entriesOfRow(row: StoryRow): TimelineEntry[] {
  const { rule, server } = row.refusal ?? {};
  const moments: [TimelineEntry['type'], Date | null][] = [
    ['accepted', row.sentAt],
    ['delivered', row.deliveredAt],
    ['opened', row.openedAt],
    ['clicked', row.clickedAt],
    ['complained', row.complainedAt],
    ['unsubscribed', row.unsubscribedAt],
  ];
  const entries = moments.flatMap(([type, at]): TimelineEntry[] => (at === null ? [] : [{ at, type }]));
  if (row.bouncedAt === null) return entries;
  const bounce = {
    ...(server !== undefined && { server }),
    ...(row.error !== null && { words: row.error }),
    ...(rule !== undefined && { rule }),
  };
  return [...entries, { at: row.bouncedAt, type: 'bounced', ...bounce, bounceType: 'hard' }];
}

function timelineOf(row: StoryRow, events: EventRow[]): TimelineEntry[] {
  const told = events.flatMap(entryOfEvent);
  const isHardBounceTold = told.some(({ bounceType }) => bounceType === 'hard');
  const untold = entriesOfRow(row).filter((entry) =>
    entry.type === 'bounced' ? !isHardBounceTold : !told.some(({ type }) => type === entry.type),
  );
  const queued: TimelineEntry = { at: row.createdAt, type: 'queued' };
  const rest = [...(row.attempts ?? []).map(entryOfAttempt), ...untold, ...told];
  return [queued, ...rest.sort((left, right) => left.at.getTime() - right.at.getTime())];
}

/** An email that was held has no attempt that says when it is tried next. */
function isHeld({ heldAt, attempts, retryAt }: StoryRow): boolean {
  const nextAt = attempts?.at(-1)?.nextAt;
  return heldAt !== null && !(nextAt !== undefined && retryAt !== null && Date.parse(nextAt) >= retryAt.getTime() - 1);
}

function waitingOf(row: StoryRow, now: Date): Waiting | null {
  if (row.status !== 'PENDING') return null;
  const { retryAt, budgetUntil, campaignWait, error } = row;
  const wait = (reason: Waiting['reason'], until: Date | null = null, words: string | null = null): Waiting => ({
    reason,
    until,
    words,
  });
  if (row.isDisabled) return wait('project disabled');
  if (row.isPaused) return wait('campaign paused');
  const held = campaignWait && isWaitCurrent(campaignWait, now.getTime()) ? campaignWait : undefined;
  const heldUntil = held ? new Date(held.until) : null;
  // Relays have nothing to do with the only other reason there is.
  if (held && held.relay === undefined) return wait('complaints', heldUntil, held.reason);
  if (retryAt && retryAt > now) return wait(isHeld(row) ? 'provider paused' : 'deferred', retryAt, error);
  if (held?.isUnreachable) return wait('no relay', heldUntil, held.reason);
  if (budgetUntil && budgetUntil > now) return wait('throttled', budgetUntil);
  return wait(row.wasGivenBack ? 'no relay' : 'queued');
}

/**
 * An email, what happened to it and why it waits. That no relay answered is concluded from an attempt that took the
 * email and gave it back without having handed it over.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function readEmailStory(em: Em, projectId: string, emailId: string): Promise<EmailStory> {
  const row = await queryOne<StoryRow & { now: Date }>(
    em,
    sql`
      select ${EMAIL_COLUMNS}, e.attempts, e.refusal, p.disabled as "isDisabled", c.paused_at is not null as "isPaused", now() as now,
        e.delivery_id is not null and e.retry_at is null as "wasGivenBack", e.held_at as "heldAt", c.waiting as "campaignWait",
        case when e.campaign_id is null then b.urgent_free_at else b.next_free_at end as "budgetUntil"
      from ${emailTables(sql`email`)} join project p on p.id = e.project_id
        left join send_budget b on b.project_id = e.project_id
      where e.id = ${emailId} and e.project_id = ${projectId}`,
  );
  if (!row) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Email not found' });
  return { email: row, waiting: waitingOf(row, row.now), timeline: timelineOf(row, await eventsOf(em, row)) };
}
