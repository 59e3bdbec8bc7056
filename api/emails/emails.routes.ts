import { z } from 'zod';
import { cancelScheduledEmail, rescheduleEmail } from '../../shared/domain/emails/scheduled-emails.ts';
import { isListedByNumber, listEmails } from '../../shared/domain/emails/email-lists.ts';
import { readEmailStory } from '../../shared/domain/emails/email-timeline.ts';
import { periodOf } from '../events/events.schemas.ts';
import type { RequestKey } from '../http/context.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { scheduledAtSchema } from '../send/send.schemas.ts';
import { searchByBody } from '../http/search-by-body.ts';
import { emailListSchema, emailStorySchema, emailStoryView, emailView } from './email.view.ts';
import { continuationOf, emailListQuery, emailSearchBody, readEmailCursor } from './emails.schemas.ts';

const endpoint = endpointsOf('Emails', 'RESOURCE_NOT_FOUND');

/** A send key reads and changes only the emails that were sent with it. */
export function ownKeyIdOf({ id, role }: RequestKey): string | undefined {
  return role === 'send' ? id : undefined;
}

const list = endpoint('listEmails', 'GET /emails', {
  roles: ['send', 'marketing', 'support', 'read'],
  summary: 'List emails by cursor, newest first',
  description:
    'A page searches at most 3,000 emails: those of the contact, the address, the campaign, the template or the workflow, or else all of the project. When few of them fit the other filters, it has fewer than `limit`, or none: go on while `hasMore` is true.',
  query: emailListQuery,
  replies: { 200: { description: 'A page of emails', schema: emailListSchema } },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, key, query: { cursor, since, until, ...filters } }) {
    const page = await listEmails(em, project.id, {
      ...filters,
      keyId: ownKeyIdOf(key),
      period: periodOf({ startDate: since, endDate: until }),
      after: readEmailCursor(cursor, isListedByNumber(filters)),
    });
    return ok({ emails: page.emails.map(emailView), ...continuationOf(page) });
  },
});

const search = searchByBody(list, {
  operationId: 'searchEmails',
  summary: 'Find emails, with the address in the body',
  body: emailSearchBody,
});

const read = endpoint('getEmail', 'GET /emails/:id', {
  roles: ['send', 'marketing', 'support', 'read'],
  summary: 'An email, what happened to it, and why it waits',
  description: 'The timeline has the first fifty opens, clicks and reports of each kind.',
  replies: { 200: { description: 'The email', schema: emailStorySchema } },
  handle: async ({ em, project, key, params }) =>
    ok(emailStoryView(await readEmailStory(em, project.id, params.id, ownKeyIdOf(key)))),
});

const scheduled = {
  roles: ['send'],
  replies: { 200: { description: 'The email', schema: emailStorySchema } },
  errors: ['CONFLICT'],
} as const;

const reschedule = endpoint('rescheduleEmail', 'PATCH /emails/:id', {
  ...scheduled,
  summary: 'Give a scheduled email another moment',
  description: 'A moment in the past sends it at once.',
  body: z.object({ scheduledAt: scheduledAtSchema }),
  async handle({ em, project, key, params, body }) {
    const email = { projectId: project.id, emailId: params.id, keyId: ownKeyIdOf(key) };
    await rescheduleEmail(em, email, body.scheduledAt);
    return ok(emailStoryView(await readEmailStory(em, project.id, params.id)));
  },
});

const cancel = endpoint('cancelEmail', 'POST /emails/:id/cancel', {
  ...scheduled,
  summary: 'Cancel a scheduled email for good',
  async handle({ em, project, key, params }) {
    await cancelScheduledEmail(em, { projectId: project.id, emailId: params.id, keyId: ownKeyIdOf(key) });
    return ok(emailStoryView(await readEmailStory(em, project.id, params.id)));
  },
});

export const emailEndpoints: Endpoint[] = [list, search, read, reschedule, cancel];
