import { isDatabaseUnavailable, isTooSlow } from '../../shared/database/database-errors.ts';
import { computeMembership } from '../../shared/domain/segments/compute-membership.ts';
import {
  listSegmentsToRefresh,
  noteRefresh,
  refreshMemberCountOf,
  type SegmentToRefresh,
} from '../../shared/domain/segments/refresh-segments.ts';
import { describeSegmentFault, recordSegmentFault } from '../../shared/domain/segments/segment-faults.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';

/** Segments of one query. A repeated batch changes nothing twice. */
const BATCH_SIZE = 50;
/** A call ends after this time, so that its progress is kept. */
const BATCH_MS = 60_000;

/** The time limit of one statement for a segment, so that the segments of other projects get their turn. */
const SEGMENT_STATEMENT_MS = 30_000;

/** Activities on the members and counts of segments. */
export function createSegmentActivities(deps: ActivityDeps, { statementMs } = { statementMs: SEGMENT_STATEMENT_MS }) {
  const em = () => deps.orm.em.fork();

  async function compute(segmentId: string, signal: AbortSignal, advance: () => void): Promise<void> {
    await computeMembership(em(), segmentId, {
      statementMs,
      async onChunk() {
        advance();
        signal.throwIfAborted();
      },
    });
  }

  /**
   * Marks the segment if the fault is its own, so that it does not delay others.
   * @throws any other error
   */
  async function markFaulty(segmentId: string, error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw error;
    const message = describeSegmentFault(error, statementMs);
    if (message !== undefined) {
      deps.logger.warn({ segmentId, reason: message }, 'a segment cannot be computed');
      await recordSegmentFault(em(), segmentId, message);
      return;
    }
    // Another process is computing it.
    if (isTooSlow(error)) return;
    if (isDatabaseUnavailable(error)) throw error;
    deps.logger.error({ err: error, segmentId }, 'a segment could not be computed');
    await recordSegmentFault(em(), segmentId, 'An internal error; the operator finds it in the log of the worker');
  }

  async function refresh(segment: SegmentToRefresh, signal: AbortSignal, advance: () => void): Promise<void> {
    try {
      if (segment.isComputed) await compute(segment.id, signal, advance);
      else await refreshMemberCountOf(em(), segment.id, statementMs);
    } catch (error) {
      await markFaulty(segment.id, error, signal);
    }
  }

  return {
    /**
     * Counts or computes segments that were last refreshed before `startedAt`; the projects take turns. A segment that
     * cannot be computed is marked, and does not delay the others.
     * @returns the last refreshed segment, null when none is left
     */
    async refreshSegments({ startedAt }: { startedAt: string }): Promise<{ lastId: string | null }> {
      const since = new Date(startedAt);
      return withHeartbeat(deps, async (signal, advance) => {
        const deadline = Date.now() + BATCH_MS;
        let lastId: string | null = null;
        for (;;) {
          const segments = await listSegmentsToRefresh(em(), since, BATCH_SIZE);
          for (const segment of segments) {
            signal.throwIfAborted();
            await refresh(segment, signal, advance);
            await noteRefresh(em(), segment.id, since);
            lastId = segment.id;
            advance();
            if (Date.now() > deadline) return { lastId };
          }
          if (segments.length === 0) return { lastId };
        }
      });
    },
  };
}
