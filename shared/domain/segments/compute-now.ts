import { AppError } from '../../pure/app-error.ts';
import { isStatementTimeout } from '../../database/database-errors.ts';
import type { Em } from '../../database/em.ts';
import { dropFromOutbox, extendOutboxLease, leaseInOutbox } from '../../durable/outbox/outbox.ts';
import { assertComputable, computeMembership, type ComputedMembership } from './compute-membership.ts';

/** A chunk of a segment of a million contacts takes less time. */
const LEASE_SECONDS = 60;

/**
 * Computes the membership of a tracked segment while the caller waits, because the answer has the number of changes.
 * The computation is first added to the outbox, under a lease that every chunk renews. If this process dies, a workflow
 * does the rest. Both run the same chunks, so no event is recorded twice.
 * @throws AppError SEGMENT_NOT_FOUND, BAD_REQUEST unless the segment is dynamic and tracked
 */
export async function computeMembershipNow(em: Em, projectId: string, segmentId: string): Promise<ComputedMembership> {
  await assertComputable(em, projectId, segmentId);
  const leaseId = await leaseInOutbox(em, 'segment', projectId, segmentId, LEASE_SECONDS);
  const computed = await computeMembership(em, segmentId, {
    asOf: new Date(),
    onChunk: (tx) => extendOutboxLease(tx, leaseId, LEASE_SECONDS),
  }).catch(async (error: unknown) => {
    // Another attempt would fail on a fault of the segment itself, so none is made in the background.
    if (error instanceof AppError) await dropFromOutbox(em, leaseId);
    if (!isStatementTimeout(error)) throw error;
    throw new AppError('SERVICE_UNAVAILABLE', {
      message: 'The segment takes too long to compute within the request, so it is computed in the background',
      cause: error,
    });
  });
  await dropFromOutbox(em, leaseId);
  if (!computed) throw new AppError('CONFLICT', { message: 'The segment was changed while it was computed' });
  return computed;
}
