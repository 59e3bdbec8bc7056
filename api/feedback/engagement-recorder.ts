import { v7 as uuidV7 } from 'uuid';
import { isDatabaseFault } from '../../shared/database/database-errors.ts';
import { GROUP_LOCK_MS } from '../../shared/database/project-writer.ts';
import { ENGAGEMENT_EVENTS_MAX, type Engagement } from '../../shared/domain/engagement/engagement.ts';
import { DroppedError, Gather, gatherByOwner } from '../../shared/platform/gather.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { createReminder } from '../../shared/platform/reminder.ts';
import { Share } from '../../shared/platform/share.ts';

export type NewEngagement = Pick<Engagement, 'emailId' | 'url'>;

/** Records opens and clicks, each once, even those that come while PostgreSQL is unavailable. */
export interface EngagementRecorder {
  /**
   * Adds an engagement. Resolves when it has been recorded, or is kept in memory because the database is unavailable.
   * Never rejects.
   */
  add: (engagement: NewEngagement) => Promise<void>;
  /**
   * Records the waiting engagements before the process ends. Those that take longer than `withinMs` are lost and
   * logged.
   */
  drain: (withinMs: number) => Promise<void>;
}

export interface EngagementRecorderOptions {
  /** @param lockMs the longest wait for a lock; that of the session when undefined */
  record: (engagements: Engagement[], lockMs?: number) => Promise<void>;
  /** The projects of emails, by the id of the email. Emails that are gone are missing. */
  projectsOf: (emailIds: string[]) => Promise<ReadonlyMap<string, string>>;
  logger: Logger;
  /** The most engagements that may wait; then the oldest is dropped. */
  capacity?: number;
}

const CAPACITY = 100_000;
const BATCH_MAX = 200;
/** The connections for groups, and for groups that may wait for the locks of their project. */
const CONNECTIONS = 2;

/** An engagement that is not recorded yet. */
interface WaitingEngagement {
  engagement: Pick<Engagement, 'id' | 'emailId' | 'url' | 'repeats'>;
  /** When it happened, in milliseconds of the monotonic clock. */
  atMs: number;
  projectId?: string;
  /** Resolves when `settle` is called: nobody needs to wait for it any longer. */
  settled: Promise<void>;
  settle: () => void;
}

function toEngagement({ engagement, atMs }: WaitingEngagement): Engagement {
  return { ...engagement, ageMs: performance.now() - atMs };
}

/**
 * The engagements that wait, by their email and kind. When there are as many as an email may have, a further one is
 * counted as a repeat of the latest. So an email that is opened again and again fills little of the memory.
 */
function createRepeats() {
  const groups = new Map<string, WaitingEngagement[]>();
  const keyOf = ({ emailId, url }: NewEngagement) => `${url === null ? 'open' : 'click'} ${emailId}`;
  return {
    /** @returns the latest one, if the engagement has been counted with it */
    count: (engagement: NewEngagement): WaitingEngagement | undefined => {
      const group = groups.get(keyOf(engagement)) ?? [];
      const latest = group.length < ENGAGEMENT_EVENTS_MAX ? undefined : group.at(-1);
      if (latest) latest.engagement.repeats += 1;
      return latest;
    },
    enter: (entry: WaitingEngagement): void => {
      const key = keyOf(entry.engagement);
      groups.set(key, [...(groups.get(key) ?? []), entry]);
    },
    leave: (entry: WaitingEngagement): void => {
      const key = keyOf(entry.engagement);
      const left = groups.get(key)?.filter((each) => each !== entry) ?? [];
      if (left.length > 0) groups.set(key, left);
      else groups.delete(key);
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

/**
 * Creates a recorder. A single engagement waits for nothing; under load, many of a project share a commit and the lock
 * on the campaign's counters. While the database is unavailable, engagements wait in memory and keep their time. A group
 * whose commit was not confirmed is tried again, always as a whole; the ids of its engagements keep it from being
 * counted twice. Projects do not share transactions, so only the engagements of a project whose rows are locked wait.
 */
export function createEngagementRecorder(options: EngagementRecorderOptions): EngagementRecorder {
  const { record, projectsOf, logger, capacity = CAPACITY } = options;
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
      const found = await projectsOf(entries.map(({ engagement }) => engagement.emailId));
      absences.end();
      return entries.map(({ engagement }) => found.get(engagement.emailId));
    },
    ...{ itemsMax: BATCH_MAX, waitingMax: capacity, afterFault: afterFault(), signal },
  });

  const recordInGroup = gatherByOwner<WaitingEngagement, undefined>(
    ({ projectId = '' }) => projectId,
    (projectId) =>
      new Gather<WaitingEngagement>({
        async write(entries, isFirst) {
          entries.forEach(repeats.leave);
          const share = isFirst ? connections.first : connections.again;
          await share.run(projectId, () => record(entries.map(toEngagement), isFirst ? GROUP_LOCK_MS : undefined));
          absences.end(projectId);
          return entries.map(() => undefined);
        },
        ...{ itemsMax: BATCH_MAX, afterFault: afterFault(projectId), signal },
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

  return {
    add(engagement) {
      const repeated = repeats.count(engagement);
      if (repeated) return repeated.settled;
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const entry: WaitingEngagement = {
        engagement: { id: uuidV7(), repeats: 0, ...engagement },
        ...{ atMs: performance.now(), settled: promise, settle: () => resolve(undefined) },
      };
      repeats.enter(entry);
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
    },
    async drain(withinMs) {
      let lost = 0;
      const timer = setTimeout(() => {
        lost = open.size;
        givenUp.abort();
      }, withinMs);
      while (open.size > 0) await Promise.all(open.values());
      clearTimeout(timer);
      if (lost > 0) logger.error({ count: lost }, 'opens and clicks are lost: the database was not back in time');
    },
  };
}
