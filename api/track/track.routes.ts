import { ruledOutFields } from '../../shared/pure/public-key-rules.ts';
import { endpoint, ok, type Endpoint } from '../http/endpoint.ts';
import { trackBody, trackedSchema } from './track.schemas.ts';

const track = endpoint({
  operationId: 'track',
  roles: ['track'],
  effect: 'data',
  method: 'post',
  path: '/v1/track',
  tag: 'Public API',
  summary: 'Track an event of a contact',
  description: 'Creates or updates the contact, then records the event.',
  isIdempotent: true,
  isGrouped: true,
  hasEnvelope: true,
  body: trackBody,
  ruledOut: ruledOutFields,
  replies: { 200: { description: 'The contact and the event', schema: trackedSchema } },
  async handle({ project, keyKind, body, claim, deps }) {
    const event = await deps.track(
      { projectId: project.id, ...body, name: body.event, rules: project.publicKeyRules, key: keyKind },
      claim,
    );
    return ok({ contact: event.contactId, event: event.id, timestamp: event.createdAt.toISOString() });
  },
});

export const trackEndpoints: Endpoint[] = [track];
