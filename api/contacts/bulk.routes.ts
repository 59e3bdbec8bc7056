import { z } from 'zod';
import { createJob, findJob, type BulkKind } from '../../shared/domain/jobs/jobs.ts';
import { findTopic } from '../../shared/domain/topics/topics.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { bulkJobSchema, jobView, queuedJobSchema } from './job.view.ts';
import { inTransaction } from '../../shared/database/sql.ts';

const endpoint = endpointsOf('Contacts', 'JOB_NOT_FOUND');

const IDS_MAX = 1_000;

const idsSchema = z.array(z.uuid()).min(1).max(IDS_MAX).optional();

const deletionBody = z
  .object({
    mode: z.literal('ids').optional(),
    contactIds: idsSchema.describe('The ids of the contacts; required'),
    ids: idsSchema.describe('Another name for `contactIds`'),
  })
  .superRefine(({ contactIds, ids }, context) => {
    if (contactIds ?? ids) return;
    context.addIssue({
      code: 'invalid_type',
      expected: 'array',
      path: ['contactIds'],
      input: undefined,
      message: 'The ids of the contacts are required',
    });
  });

const bulkBody: z.ZodType<z.infer<typeof deletionBody> & { topicId?: string | null }> = deletionBody.safeExtend({
  topicId: z.uuid().nullish().describe('The topic that the contacts join or leave; all marketing when left out'),
});

function bulkEndpoint(kind: BulkKind, verb: 'subscribe' | 'unsubscribe' | 'delete'): Endpoint {
  const name = `${verb[0]?.toUpperCase()}${verb.slice(1)}`;
  return endpoint(`bulk${name}Contacts`, `POST /contacts/bulk-${verb}`, {
    roles: ['marketing'],
    summary: `${name} up to ${IDS_MAX} contacts by id, in the background`,
    body: kind === 'DELETE' ? deletionBody : bulkBody,
    replies: { 202: { description: 'Queued; poll /contacts/bulk/{jobId}', schema: queuedJobSchema } },
    errors: kind === 'DELETE' ? [] : ['TOPIC_NOT_FOUND'],
    subjects: ({ jobId }: z.infer<typeof queuedJobSchema>) => [jobId],
    async handle({ em, project, body }) {
      const contactIds = (body.contactIds ?? body.ids ?? []).map((id) => id.toLowerCase());
      const topicId = 'topicId' in body ? body.topicId : undefined;
      const jobId = await inTransaction(em, async (tx) => {
        if (topicId) await findTopic(tx, project.id, topicId);
        const input = { contactIds, ...(topicId && { topicId }) };
        return createJob(tx, { projectId: project.id, kind, input, total: contactIds.length });
      });
      return { status: 202, data: { message: `${contactIds.length} contacts are queued to ${verb}`, jobId } };
    },
  });
}

const poll = endpoint('getBulkJob', 'GET /contacts/bulk/:jobId', {
  roles: ['marketing', 'read'],
  summary: 'Get the progress of a bulk operation',
  replies: { 200: { description: 'The job', schema: bulkJobSchema } },
  async handle({ em, project, params }) {
    const kinds = ['SUBSCRIBE', 'UNSUBSCRIBE', 'DELETE', 'DELETE_FIELD'] as const;
    return ok(jobView(await findJob(em, project.id, params.jobId, kinds)));
  },
});

/** Operations on many contacts, in the order of the interface document. */
export const bulkEndpoints: Endpoint[] = [
  bulkEndpoint('SUBSCRIBE', 'subscribe'),
  bulkEndpoint('UNSUBSCRIBE', 'unsubscribe'),
  bulkEndpoint('DELETE', 'delete'),
  poll,
];
