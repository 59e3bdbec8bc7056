import type { z } from 'zod';
import { readHeader, readTable } from '../../shared/domain/contact-jobs/import-header.ts';
import { findImportedTopics } from '../../shared/domain/contact-jobs/import-contacts.ts';
import { createJob, findJob } from '../../shared/domain/jobs/jobs.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import type { UploadedFile } from '../http/multipart-body.ts';
import { importForm, importQuery, readMap, readUpload } from './import-map.ts';
import { importJobSchema, jobView, queuedJobSchema } from './job.view.ts';
import { inTransaction } from '../../shared/database/sql.ts';

const endpoint = endpointsOf('Contacts', 'JOB_NOT_FOUND');

const upload = endpoint<UploadedFile, z.infer<typeof importQuery>>('importContacts', 'POST /contacts/import', {
  roles: ['marketing'],
  summary: 'Import contacts from a CSV file, in the background',
  description:
    'With a header row, which is read at once: a column of addresses (`email`, `Email Address` …) is required, `subscribed`, `trackingAllowed` and `topic.<key>` are optional, and columns such as `status` or `unsubscribed_at` say who has left. Every other column is custom data, in which numbers, true, false and JSON are recognised. An empty cell changes nothing. Commas, semicolons or tabs; UTF-8 or UTF-16. Rows that cannot be stored are reported, the others are kept. A file of `GET /contacts/export` brings back everything, as CSV and as JSON lines. A value that leaves open who is subscribed fails the import before anything is stored.',
  query: importQuery,
  multipart: importForm,
  replies: { 202: { description: 'Queued; poll /contacts/import/{jobId}', schema: queuedJobSchema } },
  subjects: ({ jobId }: z.infer<typeof queuedJobSchema>) => [jobId],
  async handle({ em, project, query, body }) {
    const map = readMap(query, body);
    const { value } = await readUpload(() => readTable(body.content, (cells) => readHeader(cells, map)).next());
    const { columns } = value;
    const keys = columns.topics.map(({ key }) => key);
    await readUpload(() => findImportedTopics(em, project.id, keys));
    const input = { map, columns: columns.report };
    const jobId = await inTransaction(em, (tx) =>
      createJob(tx, { projectId: project.id, kind: 'IMPORT', input, file: body.content }),
    );
    return { status: 202, data: { message: 'The file is queued for import', jobId } };
  },
});

const poll = endpoint('getImportJob', 'GET /contacts/import/:jobId', {
  roles: ['marketing', 'read'],
  summary: 'Get the progress of an import',
  replies: { 200: { description: 'The job', schema: importJobSchema } },
  handle: async ({ em, project, params }) => ok(jobView(await findJob(em, project.id, params.jobId, ['IMPORT']))),
});

export const importEndpoints: Endpoint[] = [upload, poll];
