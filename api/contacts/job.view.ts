import { z } from 'zod';
import type { Job, JobKind } from '../../shared/domain/jobs/jobs.ts';
import { listOf, model } from '../../shared/pure/model.ts';

const jobFields = {
  id: z.uuid(),
  state: z.enum(['waiting', 'active', 'completed', 'failed']),
  progress: z.int().min(0).max(100),
  failedReason: z.string().nullable(),
};

const importResultSchema = model('ImportResult', 'What an import has done', {
  totalRows: z.int(),
  createdCount: z.int(),
  updatedCount: z.int(),
  failureCount: z.int(),
  errors: listOf(
    'ImportError',
    'A row that was not imported',
    'The first 100; rows count as in a spreadsheet, the header being row 1',
    {
      row: z.int(),
      email: z.string().nullable(),
      error: z.string(),
    },
  ),
  columns: listOf('ImportedColumn', 'What a column of the file became', 'What each column of the file became', {
    column: z.string().describe('Its name in the file'),
    becomes: z.string().meta({
      description: 'email, subscribed, trackingAllowed, ignored, `topic.<key>`, or `data.<key>`',
      examples: ['data.plan'],
    }),
  }),
});

const bulkResultSchema = model('BulkResult', 'What a bulk operation has done', {
  operation: z.string(),
  totalRequested: z.int(),
  successCount: z.int(),
  unchangedCount: z.int(),
  failureCount: z.int(),
  errors: listOf('BulkError', 'A contact that was not changed', 'The first 100', {
    contactId: z.string().meta({ examples: ['0198c0de-0000-7000-8000-000000000001'] }),
    error: z.string(),
  }),
});

export const importJobSchema = model('ImportJob', 'An import of contacts', {
  ...jobFields,
  result: importResultSchema.nullable(),
});
export const bulkJobSchema = model('BulkJob', 'An operation on many contacts', {
  ...jobFields,
  result: bulkResultSchema.nullable(),
});
export const queuedJobSchema = model('QueuedJob', 'The job that does it in the background', {
  message: z.string(),
  jobId: z.uuid(),
});

const OPERATIONS: Partial<Record<JobKind, string>> = {
  SUBSCRIBE: 'subscribe',
  UNSUBSCRIBE: 'unsubscribe',
  DELETE: 'delete',
  DELETE_FIELD: 'deleteField',
};

function progressOf(job: Job): number {
  if (job.state === 'completed') return 100;
  if (!job.total) return 0;
  // Only a job that has ended is at 100.
  return Math.min(99, Math.floor((100 * job.position) / job.total));
}

function resultOf(job: Job): unknown {
  const { counts, errors } = job;
  if (job.kind === 'IMPORT') {
    return {
      totalRows: job.total ?? 0,
      createdCount: counts['createdCount'] ?? 0,
      updatedCount: counts['updatedCount'] ?? 0,
      failureCount: counts['failureCount'] ?? 0,
      errors,
      columns: job.input['columns'] ?? [],
    };
  }
  return {
    operation: OPERATIONS[job.kind],
    totalRequested: job.total ?? 0,
    successCount: counts['successCount'] ?? 0,
    unchangedCount: counts['unchangedCount'] ?? 0,
    failureCount: counts['failureCount'] ?? 0,
    errors,
  };
}

/** A job as callers see it. A job that failed part of the way has a result, too, because its changes are kept. */
export function jobView(job: Job) {
  const hasResult = job.state === 'completed' || (job.state === 'failed' && job.position > 0);
  return {
    id: job.id,
    state: job.state,
    progress: progressOf(job),
    result: hasResult ? resultOf(job) : null,
    failedReason: job.failedReason,
  };
}
