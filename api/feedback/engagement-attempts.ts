import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../../shared/database/database-errors.ts';
import { GROUP_LOCK_MS } from '../../shared/database/project-writer.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { createGate } from '../../shared/platform/turns.ts';
import type { WaitingEngagement } from './engagement-queue.ts';

const RETRY_MS = { first: 100, longest: 5_000, draining: 200 } as const;
/** How often an error that is not an outage, such as a refused value, is retried. */
const FAULTS_MAX = 5;
/** The connections that may wait for the locks of projects at the same time. */
const LANE_CONNECTIONS = 2;

/** Repeats an attempt to record engagements until it succeeds. */
export type Attempts = (
  count: number,
  attempt: () => Promise<void>,
  onUnavailable?: (error: unknown) => void,
) => Promise<void>;

/** Waits before engagements are tried again: longer each time, but only shortly once `draining` is aborted. */
function pauseBeforeRetry(attempt: number, draining: AbortSignal): Promise<void> {
  if (draining.aborted) return delay(RETRY_MS.draining);
  const ms = Math.min(RETRY_MS.first * 2 ** Math.min(attempt, 10), RETRY_MS.longest);
  return delay(ms, undefined, { signal: draining }).catch(() => undefined);
}

/**
 * Creates the function that repeats attempts: without an end while PostgreSQL cannot serve, and a few times after other
 * errors.
 * @param draining aborted when the process ends soon
 * @param givenUp aborted when nothing is tried any more
 */
export function createAttempts(logger: Logger, draining: AbortSignal, givenUp: AbortSignal): Attempts {
  return async (count, attempt, onUnavailable) => {
    for (let number = 0, faults = 0; !givenUp.aborted; number++) {
      try {
        await attempt();
        return;
      } catch (error) {
        if (isDatabaseUnavailable(error)) onUnavailable?.(error);
        else if (++faults >= FAULTS_MAX) {
          logger.error({ err: error, count }, 'opens and clicks could not be recorded and are lost');
          return;
        }
        await pauseBeforeRetry(number, draining);
      }
    }
  };
}

export interface ProjectLanesOptions {
  repeat: Attempts;
  write: (entries: WaitingEngagement[], lockMs?: number) => Promise<void>;
  projectsOf: (emailIds: string[]) => Promise<ReadonlyMap<string, string>>;
  logger: Logger;
  /** The most engagements that may wait; further ones are lost. */
  capacity: number;
  onFull: () => void;
}

/** Records engagements project by project. Those of a project whose rows are locked wait; the others do not. */
export interface ProjectLanes {
  /** The engagements that wait. */
  readonly count: number;
  /** Resolves when the engagements are recorded, or wait in memory. */
  record: (entries: WaitingEngagement[]) => Promise<void>;
  /** Resolves when nothing waits. */
  ended: () => Promise<void>;
}

/** Creates the lanes. The groups of a project are recorded one after another, each as a whole. */
export function createProjectLanes(options: ProjectLanesOptions): ProjectLanes {
  const { repeat, write, projectsOf, logger, capacity, onFull } = options;
  const lanes = new Map<string, Promise<void>>();
  const withConnection = createGate(LANE_CONNECTIONS);
  let count = 0;

  function wait(projectId: string, group: WaitingEngagement[]): void {
    if (count + group.length > capacity) {
      onFull();
      return;
    }
    count += group.length;
    const lane = (lanes.get(projectId) ?? Promise.resolve())
      .then(() => repeat(group.length, () => withConnection(() => write(group))))
      .then(() => {
        count -= group.length;
        if (lanes.get(projectId) === lane) lanes.delete(projectId);
      });
    lanes.set(projectId, lane);
  }

  async function recordGroup(projectId: string, group: WaitingEngagement[]): Promise<void> {
    if (!lanes.has(projectId)) {
      try {
        await write(group, GROUP_LOCK_MS);
        return;
      } catch (error) {
        logger.warn({ err: error, projectId }, 'opens and clicks of a project wait in memory');
      }
    }
    wait(projectId, group);
  }

  return {
    get count() {
      return count;
    },
    async record(entries) {
      const projects = await projectsOf(entries.map(({ engagement }) => engagement.emailId));
      for (const [projectId, group] of Map.groupBy(entries, ({ engagement }) => projects.get(engagement.emailId))) {
        if (projectId !== undefined) await recordGroup(projectId, group);
      }
    },
    async ended() {
      while (lanes.size > 0) await Promise.all(lanes.values());
    },
  };
}
