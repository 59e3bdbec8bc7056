import { z } from 'zod';
import { inTransaction, type Em } from '../../shared/database/sql.ts';
import { findContact } from '../../shared/domain/contacts/contacts.ts';
import { chooseTopics, findContactTopics } from '../../shared/domain/topics/topic-choices.ts';
import { topicChoicesSchema, VISIBILITIES } from '../../shared/pure/topics.ts';
import { endpointsOf, ok, type Endpoint } from '../http/endpoint.ts';
import { listOf, model } from '../../shared/pure/model.ts';

const endpoint = endpointsOf('Topics', 'CONTACT_NOT_FOUND');

export const contactTopicsSchema = model('ContactTopics', 'The topics of a contact', {
  topics: listOf('ContactTopic', 'A topic as it holds for a contact', 'All topics of the project, oldest first', {
    id: z.uuid(),
    key: z.string(),
    name: z.string(),
    visibility: z.enum(VISIBILITIES),
    subscribed: z.boolean().describe('Whether the contact has the topic'),
    isChosen: z.boolean().describe('Whether the contact has chosen so; otherwise it is the default of the topic'),
    changedAt: z.iso.datetime().nullable().describe('When the contact chose; null without a choice'),
  }),
});

const replies = { 200: { description: 'The topics', schema: contactTopicsSchema } };

async function topicsOf(em: Em, projectId: string, contactId: string): Promise<z.infer<typeof contactTopicsSchema>> {
  const topics = await findContactTopics(em, projectId, contactId);
  return { topics: topics.map((each) => ({ ...each, changedAt: each.changedAt?.toISOString() ?? null })) };
}

const get = endpoint('getContactTopics', 'GET /contacts/:id/topics', {
  roles: ['marketing', 'support', 'read'],
  summary: 'List all topics as they hold for a contact',
  replies,
  async handle({ em, project, params }) {
    await findContact(em, project.id, params.id);
    return ok(await topicsOf(em, project.id, params.id));
  },
});

const put = endpoint('setContactTopics', 'PUT /contacts/:id/topics', {
  roles: ['marketing', 'support'],
  summary: 'Change which topics a contact has',
  description: 'Topics that are left out stay as they are.',
  body: z.object({ topics: topicChoicesSchema }),
  replies,
  async handle({ em, project, params, body }) {
    return inTransaction(em, async (tx) => {
      await findContact(tx, project.id, params.id);
      const cause = { reason: 'api', endpoint: 'PUT /contacts/:id/topics' } as const;
      await chooseTopics(tx, project.id, params.id, body.topics, cause);
      return ok(await topicsOf(tx, project.id, params.id));
    });
  },
});

export const contactTopicEndpoints: Endpoint[] = [get, put];
