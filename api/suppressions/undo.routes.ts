import { z } from 'zod';
import { bounceSelectionSchema, previewBounceUndo, undoBounces } from '../../shared/domain/emails/undo-bounces.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';

const endpoint = endpointsOf('Suppressions');

const undoBody = bounceSelectionSchema.extend({
  dryRun: z.boolean().default(false).describe('Count and change nothing'),
});

const undoneSchema = z.object({
  dryRun: z.boolean(),
  emails: z.int().describe('Hard bounces that were selected and not undone before'),
  subscribed: z.int().describe('Contacts that are subscribed again'),
  unsuppressed: z.int().describe('Addresses that may get email again'),
  addresses: z.array(answeredAddress.nullable()).describe('The first recipients; null where erased'),
  hasMore: z.boolean().describe('Whether more is left; then repeat the request'),
});

const undo = endpoint('undoBounces', 'POST /suppressions/undo', {
  roles: ['support'],
  summary: 'Undo what hard bounces have done to contacts',
  description:
    'Subscribes the contacts again that lost their subscription by one of the selected hard bounces, and lifts the ' +
    'suppressions it brought. Contacts that were unsubscribed by a link, the API or a complaint, before or since, stay ' +
    'as they are. Can be repeated.',
  isHeavy: true,
  body: undoBody,
  replies: { 200: { description: 'What was undone, or would be', schema: undoneSchema } },
  async handle({ em, project, body }) {
    const { dryRun, ...selection } = body;
    if (dryRun) return ok({ dryRun, ...(await previewBounceUndo(em, project.id, selection)) });
    return ok({ dryRun, ...(await undoBounces(em, project.id, selection)) });
  },
});

export const bounceUndoEndpoints: Endpoint[] = [undo];
