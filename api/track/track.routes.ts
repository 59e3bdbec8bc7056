import type { z } from 'zod';
import { trackEvent } from '../../shared/domain/tracking/track.ts';
import { EVENT_WAKE_MS } from '../../shared/domain/outbox/outbox.ts';
import { endpoint, ok, type Endpoint } from '../http/endpoint.ts';
import { trackBody, trackedSchema } from './track.schemas.ts';

const track = endpoint({
  operationId: 'track',
  method: 'post',
  path: '/v1/track',
  tag: 'Public API',
  summary: 'Track an event of a contact',
  description: 'Creates or updates the contact, then records the event.',
  key: 'public',
  idempotent: true,
  isGrouped: true,
  envelope: true,
  body: trackBody,
  replies: { 200: { description: 'The contact and the event', schema: trackedSchema } },
  subjects: ({ event }: z.infer<typeof trackedSchema>) => [event],
  async handle({ em, project, body, deps }) {
    const tracked = { projectId: project.id, ...body, name: body.event };
    const event = em.isInTransaction() ? await trackEvent(em, tracked) : await deps.track(tracked);
    deps.wakeDispatcher(EVENT_WAKE_MS);
    return ok({ contact: event.contactId, event: event.id, timestamp: event.createdAt.toISOString() });
  },
});

export const trackEndpoints: Endpoint[] = [track];
