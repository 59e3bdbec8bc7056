import { z } from 'zod';
import { findRecords, FOUND_KINDS, type FoundKind } from '../../shared/domain/lifecycle/find-records.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { model } from '../../shared/pure/model.ts';

const endpoint = endpointsOf('Activity');

const TEXT_LENGTH_MAX = 320;
/** What a key for support may read about. */
const ABOUT_PEOPLE: readonly FoundKind[] = ['contact', 'email', 'execution', 'segment'];

const foundSchema = model('FoundRecords', 'What was found', {
  records: z.array(
    model('FoundRecord', 'A record that was found', {
      kind: z.enum(FOUND_KINDS).describe('what it is'),
      id: z.uuid(),
      parentId: z
        .uuid()
        .nullable()
        .meta({ description: 'of an execution: its workflow', examples: ['01997c1e-5b7a-7c3e-8f2a-6d1e0b9a4c21'] }),
      title: z.string().meta({ description: 'its name, or its address', examples: ['ada@example.com'] }),
      hint: z.nullable(z.string()).meta({ description: 'what else tells it from others', examples: ['waiting'] }),
    }),
  ),
});

export const findEndpoints: Endpoint[] = [
  endpoint('findRecords', 'POST /find', {
    roles: ['marketing', 'support', 'read'],
    effect: 'reads',
    isHeavy: true,
    summary: 'Find records by id, by name, or by part of an address',
    description:
      'An id finds the record of any kind. Another text finds contacts with it in their address or name, and campaigns, workflows, templates, segments and webhooks with it in their name. A key for support finds contacts, emails, executions and segments.',
    body: z.object({
      text: z
        .string()
        .trim()
        .min(1)
        .max(TEXT_LENGTH_MAX)
        .meta({ examples: ['ada@'] }),
    }),
    replies: { 200: { description: 'The records, at most 28', schema: foundSchema } },
    async handle({ em, project, key, body }) {
      const kinds =
        key.role === 'support'
          ? ABOUT_PEOPLE
          : FOUND_KINDS.filter((kind) => kind !== 'webhook' || key.role !== 'marketing');
      return ok({ records: await findRecords(em, project.id, kinds, body.text) });
    },
  }),
];
