import { uuidV7 } from '../../shared/platform/uuid.ts';
import { isDatabaseFault } from '../../shared/database/database-errors.ts';
import { GROUP_LOCK_MS } from '../../shared/database/project-writer.ts';
import {
  ENGAGEMENT_EVENTS_MAX,
  type EngagedEmail,
  type Engagement,
  type Revision,
} from '../../shared/domain/engagement/engagement.ts';
import { DroppedError, Gather, gatherByOwner } from '../../shared/platform/gather.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { createReminder } from '../../shared/platform/reminder.ts';
import { Share } from '../../shared/platform/share.ts';
import { judge, judgeRequest, type RequestFacts } from '../../shared/pure/engagement/machine-judge.ts';
import type { Visit } from './visits.ts';

export interface NewEngagement extends Pick<Engagement, 'emailId' | 'url'> {
  /** What is known of who did it. When left out, a person did. */
  by?: { request: RequestFacts; visit: Visit };
}

export interface EngagementRecorderOptions {
  /** @param lockMs the longest wait for a lock; that of the session when undefined */
  record: (engagements: Engagement[], lockMs?: number) => Promise<void>;
  /** Turns recorded engagements into those of machines. */
  revise: (revisions: Revision[], lockMs?: number) => Promise<void>;
  /** What is known of emails, by their id. Emails that are gone are missing. */
  emailsOf: (emailIds: string[]) => Promise<ReadonlyMap<string, EngagedEmail>>;
  logger: Logger;
  /** The most engagements that may wait; then the oldest is dropped. */
  capacity?: number;
}

const CAPACITY = 100_000;
const BATCH_MAX = 200;
/** The connections for groups, and for groups that may wait for the locks of their project. */
const CONNECTIONS = 2;

/** An engagement that is not recorded yet, or only the news that its visitor is a machine. */
interface WaitingEngagement {
  emailId: string;
  engagement: Omit<Engagement, 'ageMs'> | undefined;
  request: RequestFacts | undefined;
  visit: Visit | undefined;
  /** Those of its email, kind and verdict so far; see `createRepeats`. */
  group?: string;
  /** Whether it has its verdict, which stays when the group is written again. */
  isJudged?: boolean;
  /** When it happened, in milliseconds of the monotonic clock. */
  atMs: number;
  projectId?: string;
  /** When the email was handed over, by the same clock; undefined while that is unknown. */
  handedOverAtMs?: number | undefined;
  /** Resolves when `settle` is called: nobody needs to wait for it any longer. */
  settled: Promise<void>;
  settle: () => void;
}

/** Judges an engagement as late as possible, when most is known of its client. */
function toEngagement(entry: WaitingEngagement): Engagement[] {
  const { engagement, request, visit, atMs, handedOverAtMs } = entry;
  if (!engagement) return [];
  if (request && visit && !entry.isJudged) {
    const afterMs = handedOverAtMs === undefined ? undefined : atMs - handedOverAtMs;
    const reason = judge(request, { ...visit, afterMs })?.reason ?? null;
    if (reason === 'many_links') visit.machine ??= reason;
    engagement.machineReason = reason;
  }
  entry.isJudged = true;
  return [{ ...engagement, ageMs: performance.now() - atMs }];
}

/** What has been recorded as a person's of visitors that are machines. */
function revisionsOf(visits: Iterable<Visit>): Revision[] {
  return [...visits].flatMap(({ emailId, machine, recorded }) =>
    machine === undefined ? [] : [...recorded].map((id) => ({ id, emailId, machineReason: machine })),
  );
}

type News = Pick<WaitingEngagement, 'emailId' | 'engagement' | 'request' | 'visit'>;

function entryOf(news: News): WaitingEngagement {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return { ...news, atMs: performance.now(), settled: promise, settle: () => resolve(undefined) };
}

function entryOfNew({ emailId, url, by }: NewEngagement): WaitingEngagement {
  return entryOf({
    engagement: { id: uuidV7(), repeats: 0, emailId, url, machineReason: null },
    emailId,
    request: by?.request,
    visit: by?.visit,
  });
}

/** Notes when the email of an entry was handed over. @returns its project; undefined when it is gone */
function noteEmail(entry: WaitingEngagement, emails: ReadonlyMap<string, EngagedEmail>): string | undefined {
  const { projectId, sentAgoMs = null } = emails.get(entry.emailId) ?? {};
  entry.handedOverAtMs = sentAgoMs === null ? undefined : performance.now() - sentAgoMs;
  return projectId;
}

/** Writes entries of a project, and what they say of earlier ones. */
async function writeEntries(
  { record, revise }: Pick<EngagementRecorderOptions, 'record' | 'revise'>,
  entries: WaitingEngagement[],
  lockMs: number | undefined,
): Promise<void> {
  const engagements = entries.flatMap(toEngagement);
  if (engagements.length > 0) await record(engagements, lockMs);
  for (const { engagement, visit } of entries) {
    const isPerson = engagement?.machineReason === null;
    if (isPerson && visit && visit.recorded.size < ENGAGEMENT_EVENTS_MAX) visit.recorded.add(engagement.id);
  }
  const visits = new Set(entries.flatMap(({ visit }) => visit ?? []));
  const revisions = revisionsOf(visits);
  if (revisions.length === 0) return;
  await revise(revisions, lockMs);
  for (const { id } of revisions) for (const { recorded } of visits) recorded.delete(id);
}

/**
 * The engagements that wait, by their email, their kind, and whether a machine's. When there are as many as an email
 * may have, a further one is counted as a repeat of the latest. So an email that is opened again and again fills little
 * of the memory.
 */
function createRepeats() {
  const groups = new Map<string, WaitingEngagement[]>();
  const keyOf = ({ emailId, url, by }: NewEngagement) => {
    const isMachine = by !== undefined && (by.visit.machine ?? judgeRequest(by.request)) !== undefined;
    return `${url === null ? 'open' : 'click'} ${isMachine} ${emailId}`;
  };
  return {
    /** @returns the latest one, if the engagement has been counted with it */
    count: (engagement: NewEngagement): WaitingEngagement | undefined => {
      const group = groups.get(keyOf(engagement)) ?? [];
      const latest = group.length < ENGAGEMENT_EVENTS_MAX ? undefined : group.at(-1);
      if (latest?.engagement) latest.engagement.repeats += 1;
      return latest;
    },
    enter: (engagement: NewEngagement, entry: WaitingEngagement): void => {
      const key = keyOf(engagement);
      entry.group = key;
      groups.set(key, [...(groups.get(key) ?? []), entry]);
    },
    leave: (entry: WaitingEngagement): void => {
      if (entry.group === undefined) return;
      const left = groups.get(entry.group)?.filter((each) => each !== entry) ?? [];
      if (left.length > 0) groups.set(entry.group, left);
      else groups.delete(entry.group);
    },
  };
}

/**
 * Knows what is away, which makes engagements wait in memory: the database, or the locked rows of a project. Nobody
 * waits for these engagements any longer.
 */
function createAbsences(logger: Logger) {
  const away = new Set<string | undefined>();
  return {
    has: (projectId?: string) => away.has(projectId),
    begin(error: unknown, entries: WaitingEngagement[], projectId?: string): void {
      for (const { settle } of entries) settle();
      if (away.has(projectId)) return;
      away.add(projectId);
      logger.warn({ err: error, projectId }, 'opens and clicks wait in memory until the database is back');
    },
    end(projectId?: string): void {
      if (away.delete(projectId)) logger.info({ projectId }, 'opens and clicks are recorded again');
    },
  };
}

/** Creates the function that logs why an engagement is lost. */
function createLossReport(logger: Logger, capacity: number) {
  const isToBeLogged = createReminder();
  return (error: unknown): void => {
    if (!(error instanceof DroppedError)) {
      logger.error({ err: error }, 'an open or a click could not be recorded and is lost');
    } else if (isToBeLogged('dropped')) {
      logger.error({ capacity }, 'too many opens and clicks wait to be recorded: some are lost');
    }
  };
}

/** Waits until nothing is open, and gives up after a time. @returns how many were given up */
async function giveUpAfter(ms: number, open: Map<unknown, Promise<void>>, givenUp: AbortController): Promise<number> {
  let lost = 0;
  const timer = setTimeout(() => {
    lost = open.size;
    givenUp.abort();
  }, ms);
  while (open.size > 0) await Promise.all(open.values());
  clearTimeout(timer);
  return lost;
}

/**
 * Creates a recorder. A single engagement waits for nothing; under load, many of a project share a commit and the lock
 * on the campaign's counters. While the database is unavailable, engagements wait in memory and keep their time. A group
 * whose commit was not confirmed is tried again, always as a whole; the ids of its engagements keep it from being
 * counted twice. Projects do not share transactions, so only the engagements of a project whose rows are locked wait.
 */
export function createEngagementRecorder(options: EngagementRecorderOptions) {
  const { emailsOf, logger, capacity = CAPACITY } = options;
  const givenUp = new AbortController();
  const { signal } = givenUp;
  const repeats = createRepeats();
  const absences = createAbsences(logger);
  const reportLoss = createLossReport(logger, capacity);
  const connections = { first: new Share({ total: CONNECTIONS }), again: new Share({ total: CONNECTIONS }) };
  /** Engagements that are not recorded yet; resolved when they are recorded or lost. */
  const open = new Map<WaitingEngagement, Promise<void>>();
  let inProjects = 0;

  const afterFault = (projectId?: string) => (error: unknown, entries: WaitingEngagement[]) => {
    if (!isDatabaseFault(error)) return 'split';
    absences.begin(error, projectId === undefined ? [...open.keys()] : entries, projectId);
    return 'repeat';
  };

  const projects = new Gather<WaitingEngagement, string | undefined>({
    async write(entries) {
      const found = await emailsOf(entries.map(({ emailId }) => emailId));
      absences.end();
      return entries.map((entry) => noteEmail(entry, found));
    },
    itemsMax: BATCH_MAX,
    waitingMax: capacity,
    afterFault: afterFault(),
    signal,
  });

  const recordInGroup = gatherByOwner<WaitingEngagement, undefined>(
    ({ projectId = '' }) => projectId,
    (projectId) =>
      new Gather<WaitingEngagement>({
        async write(entries, isFirst) {
          entries.forEach(repeats.leave);
          const share = isFirst ? connections.first : connections.again;
          await share.run(projectId, () => writeEntries(options, entries, isFirst ? GROUP_LOCK_MS : undefined));
          absences.end(projectId);
          return entries.map(() => undefined);
        },
        itemsMax: BATCH_MAX,
        afterFault: afterFault(projectId),
        signal,
      }),
  );

  async function keep(entry: WaitingEngagement): Promise<void> {
    entry.projectId = await projects.add(entry);
    if (entry.projectId === undefined) return;
    // The group under way is not counted.
    if (inProjects >= capacity + BATCH_MAX) throw new DroppedError();
    if (absences.has(entry.projectId)) entry.settle();
    inProjects += 1;
    await recordInGroup(entry).finally(() => (inProjects -= 1));
  }

  function start(entry: WaitingEngagement): Promise<void> {
    if (absences.has()) entry.settle();
    const ended = keep(entry)
      .catch((error: unknown) => signal.aborted || reportLoss(error))
      .then(() => {
        open.delete(entry);
        repeats.leave(entry);
        entry.settle();
      });
    open.set(entry, ended);
    return entry.settled;
  }

  return {
    /**
     * Adds an engagement. Resolves when it has been recorded, or is kept in memory because the database is unavailable.
     * Never rejects.
     */
    add(engagement: NewEngagement) {
      const repeated = repeats.count(engagement);
      if (repeated) return repeated.settled;
      const entry = entryOfNew(engagement);
      repeats.enter(engagement, entry);
      return start(entry);
    },
    /** Turns what a visitor did before into a machine's, because it has shown to be one. Resolves as above. */
    async revise(visit: Visit) {
      if (visit.recorded.size === 0) return;
      await start(entryOf({ emailId: visit.emailId, engagement: undefined, request: undefined, visit }));
    },
    /**
     * Records the waiting engagements before the process ends. Those that take longer than `withinMs` are lost and
     * logged.
     */
    async drain(withinMs: number) {
      const lost = await giveUpAfter(withinMs, open, givenUp);
      if (lost > 0) logger.error({ count: lost }, 'opens and clicks are lost: the database was not back in time');
    },
  };
}

/** Records opens and clicks, each once, even those that come while PostgreSQL is unavailable. */
export type EngagementRecorder = ReturnType<typeof createEngagementRecorder>;
