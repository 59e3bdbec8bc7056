import type { FilterQuery } from '@mikro-orm/core';
import { AppError, validationError } from '../../pure/app-error.ts';
import { isUniqueViolation } from '../../database/database-errors.ts';
import { assertRoom } from '../../database/row-limit.ts';
import { likePattern, query, sql, type Em } from '../../database/sql.ts';
import { TopicEntity, type Topic } from './topic.entity.ts';

export type NewTopic = Pick<Topic, 'key' | 'name' | 'defaultSubscription' | 'visibility'> &
  Partial<Pick<Topic, 'description' | 'texts' | 'doubleOptIn'>>;

/** What a change may say; `key` and `defaultSubscription` only what they are. */
export type TopicChanges = Partial<NewTopic>;

export interface TopicListQuery {
  page: number;
  pageSize: number;
  search?: string;
  sort: 'name' | 'key' | 'createdAt' | 'updatedAt';
  dir: 'asc' | 'desc';
}

/** One page of a project's topics, and how many there are. */
export async function listTopics(em: Em, projectId: string, list: TopicListQuery): Promise<[Topic[], number]> {
  const where: FilterQuery<Topic> = { projectId };
  if (list.search !== undefined) {
    const matches = { $ilike: likePattern(list.search) };
    where.$or = [{ key: matches }, { name: matches }, { description: matches }];
  }
  return em.findAndCount(TopicEntity, where, {
    orderBy: [{ [list.sort]: list.dir }, { id: list.dir }],
    limit: list.pageSize,
    offset: (list.page - 1) * list.pageSize,
  });
}

/** All topics of a project, oldest first. There are `LIMITS.topicsPerProject` at most, a few more after a race. */
export async function allTopics(em: Em, projectId: string): Promise<Topic[]> {
  return em.find(TopicEntity, { projectId }, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** Loads a topic. @throws AppError TOPIC_NOT_FOUND */
export async function findTopic(em: Em, projectId: string, topicId: string): Promise<Topic> {
  const topic = await em.findOne(TopicEntity, { id: topicId, projectId });
  if (!topic) throw new AppError('TOPIC_NOT_FOUND');
  return topic;
}

/**
 * Loads the topic that something is about to refer to. Until the transaction ends, the topic cannot be deleted.
 * @throws AppError TOPIC_NOT_FOUND
 */
export async function holdTopic(tx: Em, projectId: string, topicId: string): Promise<Topic> {
  await query(tx, sql`select from topic where id = ${topicId} and project_id = ${projectId} for key share`);
  return findTopic(tx, projectId, topicId);
}

/** Creates a topic. @throws AppError CONFLICT for a key that exists, VALIDATION_ERROR beyond the limit */
export async function createTopic(em: Em, projectId: string, input: NewTopic): Promise<Topic> {
  await assertRoom(em, projectId, 'topic');
  const topic = em.create(TopicEntity, { projectId, texts: {}, ...input });
  await em.flush().catch((error: unknown) => {
    if (!isUniqueViolation(error, 'topic_project_id_key_key')) throw error;
    throw new AppError('CONFLICT', {
      message: 'Another topic in this project has this key',
      details: { field: 'key' },
    });
  });
  return topic;
}

/** The fields that never change, and why. */
const FIXED = {
  key: 'imports, filters and requests name the topic by it',
  defaultSubscription: 'it would change who gets the topic without anybody having chosen so',
} as const;

/**
 * Changes the fields that are given.
 * @throws AppError TOPIC_NOT_FOUND, VALIDATION_ERROR for a field that never changes
 */
export async function updateTopic(em: Em, projectId: string, topicId: string, changes: TopicChanges): Promise<Topic> {
  const topic = await findTopic(em, projectId, topicId);
  const faults = (Object.keys(FIXED) as (keyof typeof FIXED)[])
    .filter((field) => changes[field] !== undefined && changes[field] !== topic[field])
    .map((field) => ({
      field,
      message: `Is fixed when the topic is created, because ${FIXED[field]}; create another topic`,
      code: 'fixed',
      received: changes[field],
    }));
  if (faults.length > 0) throw validationError(faults);
  em.assign(topic, changes);
  await em.flush();
  return topic;
}
