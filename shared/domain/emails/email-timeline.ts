import { AppError } from '../../pure/app-error.ts';
import { MACHINE_REASONS, type MachineReason } from '../../pure/engagement/machine-judge.ts';
import type { Hold, WaitingReason } from '../../pure/emails/hold.ts';
import type { RecordedAttempt } from '../../database/column-types.ts';
import { query, queryOne, sql, type Em } from '../../database/sql.ts';
import { boolean, date, jsonAs, nullable, pick, tables, type RowOf } from '../../database/tables.ts';
import { currentHold } from './held-mail.ts';
import { EMAIL_COLUMNS, emailTables, LISTED_EMAIL, type ListedEmail } from './email-lists.ts';

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
  /** The server that answered or reported. */
  server?: string;
  /** The words of the server, or Everpost's own if none answered. */
  words?: string;
  /** The rule that judged a refusal or a report. */
  rule?: string;
  bounceType?: 'hard' | 'soft';
  nextAttemptAt?: Date;
  link?: string;
  /** Of an open or a click: whether a machine made it, and how that shows. */
  isMachine?: boolean;
  machineReason?: MachineReason;
}

/** Why an email is not sent yet, and until when, if that is known. */
export interface Waiting {
  reason: WaitingReason;
  until: Date | null;
  /** The words of the server, or Everpost's own. */
  words: string | null;
}

export interface EmailStory {
  email: ListedEmail;
  /** Null when the email is being sent or has its outcome. */
  waiting: Waiting | null;
  timeline: TimelineEntry[];
}

const STORY = {
  ...LISTED_EMAIL,
  ...pick(tables.email, 'attempts', 'refusal', 'waitReason'),
  isDisabled: tables.project.disabled,
  isPaused: boolean,
  campaignHold: tables.campaign.waiting,
  streamHold: nullable(jsonAs<Hold>()),
  now: date,
};
type StoryRow = RowOf<typeof STORY>;

const EVENT_ROW = {
  ...pick(tables.event, 'id', 'name', 'data'),
  at: tables.event.createdAt,
  email_id: tables.event.emailId,
};
type EventRow = RowOf<typeof EVENT_ROW>;

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

/** Events of one name that are shown. */
const SHOWN_OF_NAME = 50;
/** Events of one name that are read of a contact to find those of one email. */
const WINDOW = 2_000;

/**
 * The events of an email. They are found by its contact: only events without a contact have an index on their email.
 */
async function eventsOf(em: Em, email: ListedEmail): Promise<EventRow[]> {
  const found = sql`select e.name, e.created_at as at, e.data, e.id, e.email_id from event e`;
  if (email.contactId === null) {
    return query(
      em,
      sql`
        ${found} where e.contact_id is null and e.email_id = ${email.id}
        order by e.created_at, e.id limit ${SHOWN_OF_NAME * Object.keys(TYPE_OF_EVENT).length}`,
      EVENT_ROW,
    );
  }
  return query(
    em,
    sql`
      select shown.* from unnest(${Object.keys(TYPE_OF_EVENT)}::text[]) as n (name) cross join lateral (
        select w.* from (
          ${found} where e.contact_id = ${email.contactId} and e.name = n.name and e.created_at >= ${email.createdAt}
          order by e.created_at limit ${WINDOW}
        ) w where w.email_id = ${email.id} order by w.at, w.id limit ${SHOWN_OF_NAME}
      ) shown order by shown.at, shown.id`,
    EVENT_ROW,
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function machineOf({ isMachine, machineReason }: EventRow['data']): Pick<TimelineEntry, 'isMachine' | 'machineReason'> {
  if (typeof isMachine !== 'boolean') return {};
  const reason = MACHINE_REASONS.find((each) => each === machineReason);
  return { isMachine, ...(reason && { machineReason: reason }) };
}

function bounceTypeOf({ name, data }: EventRow): TimelineEntry['bounceType'] {
  if (name !== 'email.bounce') return undefined;
  return data['bounceType'] === 'soft' ? 'soft' : 'hard';
}

/** The entry of an event; none for an event that timelines do not show. */
function entryOfEvent(event: EventRow): TimelineEntry[] {
  const { name, at, data } = event;
  const type = TYPE_OF_EVENT[name];
  if (type === undefined) return [];
  const words = textOf(data['diagnostic']) ?? textOf(data['reason']);
  const server = textOf(data['server']);
  const rule = textOf(data['rule']);
  const link = textOf(data['link']);
  const bounceType = bounceTypeOf(event);
  return [
    {
      at,
      type,
      ...(server !== undefined && { server }),
      ...(words !== undefined && { words }),
      ...(rule !== undefined && { rule }),
      ...(bounceType && { bounceType }),
      ...(link !== undefined && { link }),
      ...machineOf(data),
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

/** The entries that the email's own row knows, for emails whose events were deleted. */
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
  const ofEvents = events.flatMap(entryOfEvent);
  const hasHardBounceEvent = ofEvents.some(({ bounceType }) => bounceType === 'hard');
  const withoutEvent = entriesOfRow(row).filter((entry) =>
    entry.type === 'bounced' ? !hasHardBounceEvent : !ofEvents.some(({ type }) => type === entry.type),
  );
  const queued: TimelineEntry = { at: row.createdAt, type: 'queued' };
  const later = [...(row.attempts ?? []).map(entryOfAttempt), ...withoutEvent, ...ofEvents];
  return [queued, ...later.sort((left, right) => left.at.getTime() - right.at.getTime())];
}

function waitingOf(row: StoryRow, now: Date): Waiting | null {
  if (row.status !== 'PENDING') return null;
  const { retryAt, error, waitReason } = row;
  if (row.isDisabled) return { reason: 'project disabled', until: null, words: null };
  if (row.isPaused) return { reason: 'campaign paused', until: null, words: null };
  const { campaignHold: ofCampaign, streamHold: ofStream } = row;
  const waitFor = ({ reason, until, words }: Hold): Waiting => ({ reason, until: new Date(until), words });
  if (ofCampaign?.reason === 'complaints') return waitFor(ofCampaign);
  const isScheduled = row.scheduledAt !== null && row.scheduledAt > now;
  if (isScheduled) return { reason: 'scheduled', until: row.scheduledAt, words: null };
  if (retryAt && retryAt > now) return { reason: waitReason ?? 'deferred', until: retryAt, words: error };
  return ofStream ? waitFor(ofStream) : { reason: 'queued', until: null, words: null };
}

/**
 * An email, what happened to it and why it waits.
 * @param keyId only if it was sent with this key
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function readEmailStory(em: Em, projectId: string, emailId: string, keyId?: string): Promise<EmailStory> {
  const ofKey = keyId === undefined ? sql`` : sql`and e.key_id = ${keyId}`;
  const row = await queryOne(
    em,
    sql`
      select ${EMAIL_COLUMNS}, e.attempts, e.refusal, p.disabled as "isDisabled", c.paused_at is not null as "isPaused",
        now() as now, e.wait_reason as "waitReason", ${currentHold(sql`c.waiting`)} as "campaignHold",
        ${currentHold(sql`(h.holds -> case when e.campaign_id is null then 'transactional' else 'campaign' end)`)} as "streamHold"
      from ${emailTables(sql`email`)} join project p on p.id = e.project_id
        left join project_permit h on h.project_id = e.project_id
      where e.id = ${emailId} and e.project_id = ${projectId} ${ofKey}`,
    STORY,
  );
  if (!row) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Email not found' });
  return { email: row, waiting: waitingOf(row, row.now), timeline: timelineOf(row, await eventsOf(em, row)) };
}
