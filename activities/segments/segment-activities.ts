import { isDatabaseUnavailable } from '../../shared/domain/database-errors.ts';
import { computeMembership, type ComputedMembership } from '../../shared/domain/segments/compute-membership.ts';
import { listSegmentsToRefresh, refreshMemberCountOf } from '../../shared/domain/segments/refresh-segments.ts';
import type { SegmentComputationInput } from '../../shared/pure/workflow-contracts.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';

/** Segments of one batch; a batch that dies is done again, which changes nothing twice. */
const BATCH_SIZE = 50;
/** A batch of large segments ends early, so that the place reached is kept. */
const BATCH_MS = 60_000;

/** Activities on the members and counts of segments. */
export function createSegmentActivities(deps: ActivityDeps) {
  const em = () => deps.orm.em.fork();

  async function compute(
    segmentId: string,
    signal: AbortSignal,
    advance: () => void,
  ): Promise<ComputedMembership | undefined> {
    const computed = await computeMembership(em(), segmentId, {
      asOf: new Date(),
      async onChunk() {
        advance();
        signal.throwIfAborted();
      },
    });
    deps.wakeDispatcher();
    return computed;
  }

  return {
    /** Brings the members of a tracked segment in line with its condition. Safe to run twice, and beside another run. */
    async computeSegment({ segmentId }: SegmentComputationInput): Promise<ComputedMembership | null> {
      return withHeartbeat(deps, async (signal, advance) => (await compute(segmentId, signal, advance)) ?? null);
    },

    /**
     * Counts the next segments by id and computes the tracked ones. A segment that cannot be evaluated does not hold up
     * the others. @returns the last segment done, null when there are no more
     */
    async refreshSegments({ afterId }: { afterId: string | null }): Promise<{ lastId: string | null }> {
      return withHeartbeat(deps, async (signal, advance) => {
        const deadline = Date.now() + BATCH_MS;
        let lastId: string | null = null;
        for (const segment of await listSegmentsToRefresh(em(), afterId, BATCH_SIZE)) {
          if (Date.now() > deadline) break;
          signal.throwIfAborted();
          try {
            if (segment.isComputed) await compute(segment.id, signal, advance);
            else await refreshMemberCountOf(em(), segment.id);
          } catch (error) {
            if (isDatabaseUnavailable(error) || signal.aborted) throw error;
            deps.logger.error({ err: error, segmentId: segment.id }, 'a segment could not be refreshed');
          }
          lastId = segment.id;
          advance();
        }
        return { lastId };
      });
    },
  };
}
