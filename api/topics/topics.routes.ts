import { deleteTopic } from '../../shared/domain/lifecycle/delete-topic.ts';
import { createTopic, findTopic, listTopics, updateTopic } from '../../shared/domain/topics/topics.ts';
import { countTopicContacts, findTopicUsage } from '../../shared/domain/usage/topic-usage.ts';
import { created, endpoint, noContent, ok, type Endpoint } from '../http/endpoint.ts';
import { idParams, offsetPage } from '../http/pagination.ts';
import {
  createTopicBody,
  patchTopicBody,
  topicListQuery,
  topicListSchema,
  topicSchema,
  topicUsageSchema,
  topicView,
} from './topics.schemas.ts';

const base = { tag: 'Topics' } as const;
const withId = { ...base, params: idParams, malformedIdCode: 'TOPIC_NOT_FOUND' } as const;

const list = endpoint({
  ...base,
  operationId: 'listTopics',
  roles: ['marketing', 'read'],
  method: 'get',
  path: '/topics',
  summary: 'List topics by page',
  query: topicListQuery,
  replies: { 200: { description: 'A page of topics', schema: topicListSchema } },
  async handle({ em, project, query }) {
    const [topics, total] = await listTopics(em, project.id, query);
    return ok(offsetPage(topics.map(topicView), total, query));
  },
});

const create = endpoint({
  ...base,
  operationId: 'createTopic',
  roles: ['marketing'],
  method: 'post',
  path: '/topics',
  summary: 'Create a topic',
  body: createTopicBody,
  replies: { 201: { description: 'The topic', schema: topicSchema } },
  errors: ['CONFLICT'],
  handle: async ({ em, project, body }) => created(topicView(await createTopic(em, project.id, body))),
});

const get = endpoint({
  ...withId,
  operationId: 'getTopic',
  roles: ['marketing', 'read'],
  method: 'get',
  path: '/topics/:id',
  summary: 'Get a topic',
  replies: { 200: { description: 'The topic', schema: topicSchema } },
  handle: async ({ em, project, params }) => ok(topicView(await findTopic(em, project.id, params.id))),
});

const patch = endpoint({
  ...withId,
  operationId: 'updateTopic',
  roles: ['marketing'],
  method: 'patch',
  path: '/topics/:id',
  summary: 'Change the given fields of a topic',
  description: '`key` and `defaultSubscription` never change; they may be sent as they are.',
  body: patchTopicBody,
  replies: { 200: { description: 'The topic after the change', schema: topicSchema } },
  handle: async ({ em, project, params, body }) => ok(topicView(await updateTopic(em, project.id, params.id, body))),
});

const remove = endpoint({
  ...withId,
  operationId: 'deleteTopic',
  roles: ['marketing'],
  isHeavy: true,
  method: 'delete',
  path: '/topics/:id',
  summary: 'Delete a topic with the choices about it; the record of consent stays',
  description: 'Refused while a template, a step, a segment, or a campaign that has not ended uses it.',
  replies: { 204: { description: 'Deleted' } },
  errors: ['CONFLICT'],
  async handle({ em, project, params }) {
    await deleteTopic(em, project.id, params.id);
    return noContent();
  },
});

const usage = endpoint({
  ...withId,
  operationId: 'getTopicUsage',
  roles: ['marketing', 'read'],
  isHeavy: true,
  method: 'get',
  path: '/topics/:id/usage',
  summary: 'Where a topic is used, and how many contacts have it',
  replies: { 200: { description: 'What uses it', schema: topicUsageSchema } },
  async handle({ em, project, params }) {
    const topic = await findTopic(em, project.id, params.id);
    const contacts = await countTopicContacts(em, project.id, topic);
    return ok({ ...(await findTopicUsage(em, project.id, topic)), contacts });
  },
});

export const topicEndpoints: Endpoint[] = [list, create, get, patch, remove, usage];
