import { deleteTopic } from '../../shared/domain/lifecycle/delete-topic.ts';
import { createTopic, findTopic, listTopics, updateTopic } from '../../shared/domain/topics/topics.ts';
import { countTopicContacts, findTopicUsage } from '../../shared/domain/usage/topic-usage.ts';
import { created, endpointsOf, noContent, ok, type Endpoint } from '../http/endpoint.ts';
import { offsetPage } from '../http/pagination.ts';
import {
  createTopicBody,
  patchTopicBody,
  topicListQuery,
  topicListSchema,
  topicSchema,
  topicUsageSchema,
  topicView,
} from './topics.schemas.ts';

const endpoint = endpointsOf('Topics', 'TOPIC_NOT_FOUND');

const list = endpoint('listTopics', 'GET /topics', {
  roles: ['marketing', 'read'],
  summary: 'List topics by page',
  query: topicListQuery,
  replies: { 200: { description: 'A page of topics', schema: topicListSchema } },
  async handle({ em, project, query }) {
    const [topics, total] = await listTopics(em, project.id, query);
    return ok(offsetPage(topics.map(topicView), total, query));
  },
});

const create = endpoint('createTopic', 'POST /topics', {
  roles: ['marketing'],
  summary: 'Create a topic',
  body: createTopicBody,
  replies: { 201: { description: 'The topic', schema: topicSchema } },
  errors: ['CONFLICT'],
  handle: async ({ em, project, body }) => created(topicView(await createTopic(em, project.id, body))),
});

const get = endpoint('getTopic', 'GET /topics/:id', {
  roles: ['marketing', 'read'],
  summary: 'Get a topic',
  replies: { 200: { description: 'The topic', schema: topicSchema } },
  handle: async ({ em, project, params }) => ok(topicView(await findTopic(em, project.id, params.id))),
});

const patch = endpoint('updateTopic', 'PATCH /topics/:id', {
  roles: ['marketing'],
  summary: 'Change the given fields of a topic',
  description: '`key` and `defaultSubscription` never change; they may be sent as they are.',
  body: patchTopicBody,
  replies: { 200: { description: 'The topic after the change', schema: topicSchema } },
  handle: async ({ em, project, params, body }) => ok(topicView(await updateTopic(em, project.id, params.id, body))),
});

const remove = endpoint('deleteTopic', 'DELETE /topics/:id', {
  roles: ['marketing'],
  isHeavy: true,
  summary: 'Delete a topic with the choices about it; the record of consent stays',
  description: 'Refused while a template, a step, a segment, or a campaign that has not ended uses it.',
  replies: { 204: { description: 'Deleted' } },
  errors: ['CONFLICT'],
  handle: ({ em, project, params }) => noContent(deleteTopic(em, project.id, params.id)),
});

const usage = endpoint('getTopicUsage', 'GET /topics/:id/usage', {
  roles: ['marketing', 'read'],
  isHeavy: true,
  summary: 'Where a topic is used, and how many contacts have it',
  replies: { 200: { description: 'What uses it', schema: topicUsageSchema } },
  async handle({ em, project, params }) {
    const topic = await findTopic(em, project.id, params.id);
    const contacts = await countTopicContacts(em, project.id, topic);
    return ok({ ...(await findTopicUsage(em, project.id, topic)), contacts });
  },
});

export const topicEndpoints: Endpoint[] = [list, create, get, patch, remove, usage];
