import { createJob } from '../jobs/jobs.ts';
import { inTransaction, type Em } from '../../database/sql.ts';
import { countFieldHolders, deleteFieldChunk, forgetField } from '../contacts/field-removal.ts';

/** So many contacts are changed while the caller waits; for more, a job is created. */
const INLINE_MAX = 5_000;

export interface FieldDeletion {
  /** The number of contacts that had a value. */
  deletedFrom: number;
  /** The job that changes the contacts; missing when they have been changed already. */
  jobId?: string;
}

/**
 * Removes a field of custom data from every contact and from the catalogue, at once, or by a job if many contacts have
 * it. Conditions that refer to the field remain, and no longer match.
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
    // Every transaction locks contacts before fields.
    await forgetField(tx, projectId, path);
    return { deletedFrom: count };
  });
}
