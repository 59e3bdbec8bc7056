import { z } from 'zod';
import { findAutomationsUsingEvent } from '../../shared/domain/automations/automations.ts';
import { findContact } from '../../shared/domain/contacts/contacts.ts';
import {
  countEvents,
  deleteEvents,
  listEventNames,
  listEvents,
  type EventPage,
} from '../../shared/domain/events/event-lists.ts';
import { findEventUsage } from '../../shared/domain/usage/event-usage.ts';
import { recordNamedEvent, trackEvent } from '../../shared/domain/tracking/track.ts';
import { created, endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { eventSchema, eventView, listedEventView } from './event.view.ts';
import {
  contactEventsQuery,
  eventCursors,
  eventListQuery,
  eventListSchema,
  eventNameParams,
  eventStatsQuery,
  eventStatsSchema,
  eventUsageSchema,
  periodOf,
  recordEventBody,
} from './events.schemas.ts';

const endpoint = endpointsOf('Events', 'CONTACT_NOT_FOUND');

function pageView({ events, hasMore }: EventPage) {
  const last = hasMore ? events.at(-1) : undefined;
  return { events: events.map(listedEventView), ...eventCursors.after(last && { at: last.createdAt, id: last.id }) };
}

const record = endpoint('recordEvent', 'POST /events/track', {
  roles: ['marketing'],
  effect: 'data',
  summary: 'Track an event with the secret key',
  description:
    'Takes the body of POST /v1/track, or a `name` with or without a `contactId`. With a `name`, `data` is kept with the event alone.',
  body: recordEventBody,
  replies: { 201: { description: 'The event', schema: eventSchema } },
  errors: ['CONTACT_NOT_FOUND'],
  subjects: ({ id }: z.infer<typeof eventSchema>) => [id],
  async handle({ em, project, body }) {
    const event =
      'email' in body
        ? await trackEvent(em, { projectId: project.id, ...body, name: body.event, key: 'secret' })
        : await recordNamedEvent(em, { projectId: project.id, ...body });
    return created(eventView(event));
  },
});

const list = endpoint('listEvents', 'GET /events', {
  roles: ['marketing', 'support', 'read'],
  summary: 'List recent events by cursor, newest first',
  query: eventListQuery,
  replies: { 200: { description: 'A page of events', schema: eventListSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, query }) {
    const { limit, eventName: name } = query;
    return ok(pageView(await listEvents(em, project.id, { limit, name, cursor: eventCursors.read(query.cursor) })));
  },
});

const stats = endpoint('getEventStats', 'GET /events/stats', {
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'Count events by name',
  query: eventStatsQuery,
  replies: { 200: { description: 'Names and counts, the most frequent first', schema: eventStatsSchema } },
  handle: async ({ em, project, query }) => ok(await countEvents(em, project.id, periodOf(query))),
});

const ofContact = endpoint('listContactEvents', 'GET /events/contact/:contactId', {
  roles: ['marketing', 'support', 'read'],
  summary: 'List the events of a contact by cursor, newest first',
  query: contactEventsQuery,
  replies: { 200: { description: 'A page of events', schema: eventListSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, params, query }) {
    const { id: contactId } = await findContact(em, project.id, params.contactId);
    const cursor = eventCursors.read(query.cursor);
    return ok(pageView(await listEvents(em, project.id, { limit: query.limit, contactId, cursor })));
  },
});

const names = endpoint('listEventNames', 'GET /events/names', {
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'List the distinct event names',
  replies: {
    200: {
      description: 'The most frequent first; those with more than 10,000 events come in alphabetical order',
      schema: z.object({ eventNames: z.array(z.string()) }),
    },
  },
  handle: async ({ em, project }) => ok({ eventNames: await listEventNames(em, project.id) }),
});

const usage = endpoint('getEventUsage', 'GET /events/:eventName/usage', {
  roles: ['marketing', 'support', 'read'],
  isHeavy: true,
  summary: 'Where an event name is used',
  params: eventNameParams,
  replies: { 200: { description: 'What uses it, and how often it happened', schema: eventUsageSchema } },
  async handle({ em, project, params }) {
    const usedInWorkflows = await findAutomationsUsingEvent(em, project.id, params.eventName);
    return ok({ ...(await findEventUsage(em, project.id, params.eventName)), usedInWorkflows });
  },
});

const remove = endpoint('deleteEvents', 'DELETE /events/:eventName', {
  roles: ['marketing'],
  isHeavy: true,
  summary: 'Delete every event of a name',
  params: eventNameParams,
  replies: { 200: { description: 'How many were deleted', schema: z.object({ deletedCount: z.int() }) } },
  handle: async ({ em, project, params }) => ok({ deletedCount: await deleteEvents(em, project.id, params.eventName) }),
});

/** The event endpoints. `usage` goes before `ofContact`: /events/contact/usage is about the event "contact". */
export const eventEndpoints: Endpoint[] = [record, list, stats, usage, ofContact, names, remove];
