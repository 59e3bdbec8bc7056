import { ruledOutFields } from '../../shared/pure/public-key-rules.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { trackBody, trackedSchema } from './track.schemas.ts';

const endpoint = endpointsOf('Public API');

const track = endpoint('track', 'POST /v1/track', {
  roles: ['track'],
  effect: 'data',
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
