import { createJob } from '../jobs/jobs.ts';
import type { Em } from '../database/em.ts';
import { countFieldHolders, deleteFieldChunk, forgetField } from '../contacts/field-removal.ts';
import { inTransaction } from '../database/transaction.ts';

/** Up to this many contacts are changed while the caller waits; more become a job. */
const INLINE_MAX = 5_000;

export interface FieldDeletion {
  /** Contacts that had a value. */
  deletedFrom: number;
  /** Set when contacts are still to be changed. */
  jobId?: string;
}

/**
 * Removes a field of custom data from every contact and from the catalogue, at once or, from many contacts, by a job.
 * Conditions that refer to it remain and stop matching. Wake the dispatcher afterwards.
 */
export async function deleteField(em: Em, projectId: string, path: string): Promise<FieldDeletion> {
  const holders = await countFieldHolders(em, projectId, path);
  return inTransaction(em, async (tx) => {
    if (holders > INLINE_MAX) {
      await forgetField(tx, projectId, path);
      const jobId = await createJob(tx, { projectId, kind: 'DELETE_FIELD', input: { path }, total: holders });
      return { deletedFrom: holders, jobId };
    }
    // Contacts that got the field after the count are changed as well.
    const { count } = await deleteFieldChunk(tx, projectId, path, { limit: 2 * INLINE_MAX });
    // In the order of locks, contacts come before fields.
    await forgetField(tx, projectId, path);
    return { deletedFrom: count };
  });
}
