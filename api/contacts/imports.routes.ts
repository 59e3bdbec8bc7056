import type { z } from 'zod';
import { createJob, findJob } from '../../shared/domain/jobs/jobs.ts';
import { endpoint, ok, type Endpoint } from '../http/endpoint.ts';
import type { UploadedFile } from '../http/multipart-body.ts';
import { jobIdParams } from './bulk.routes.ts';
import { importJobSchema, jobView, queuedJobSchema } from './job.view.ts';
import { inTransaction } from '../../shared/domain/database/transaction.ts';

const upload = endpoint<unknown, unknown, UploadedFile>({
  operationId: 'importContacts',
  method: 'post',
  path: '/contacts/import',
  tag: 'Contacts',
  summary: 'Import contacts from a CSV file, in the background',
  description:
    'UTF-8, with a header row: `email` is required, `subscribed` is optional, every other column is custom data, in which numbers, true and false are recognised. An empty cell changes nothing. Rows that cannot be stored are reported, the others are kept.',
  key: 'secret',
  multipart: { field: 'file' },
  replies: { 202: { description: 'Queued; poll /contacts/import/{jobId}', schema: queuedJobSchema } },
  subjects: ({ jobId }: z.infer<typeof queuedJobSchema>) => [jobId],
  async handle({ em, project, body, deps }) {
    const jobId = await inTransaction(em, (tx) =>
      createJob(tx, { projectId: project.id, kind: 'IMPORT', file: body.content }),
    );
    deps.wakeDispatcher();
    return { status: 202, data: { message: 'The file is queued for import', jobId } };
  },
});

const poll = endpoint({
  operationId: 'getImportJob',
  method: 'get',
  path: '/contacts/import/:jobId',
  tag: 'Contacts',
  summary: 'Get the progress of an import',
  key: 'secret',
  params: jobIdParams,
  malformedIdCode: 'JOB_NOT_FOUND',
  replies: { 200: { description: 'The job', schema: importJobSchema } },
  async handle({ em, project, params }) {
    return ok(jobView(await findJob(em, project.id, params.jobId, ['IMPORT'])));
  },
});

/** The import endpoints, in the order of the interface document. */
export const importEndpoints: Endpoint[] = [upload, poll];
