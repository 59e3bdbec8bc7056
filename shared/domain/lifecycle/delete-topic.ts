import { AppError } from '../../pure/app-error.ts';
import { query, sql, inTransaction, type Em } from '../../database/sql.ts';
import { findTopic } from '../topics/topics.ts';
import { findTopicUsage } from '../usage/topic-usage.ts';

/**
 * Deletes a topic with the choices about it. The record of consent stays. A campaign that has ended does not keep its
 * topic, because nothing is sent by it any more.
 * @throws AppError TOPIC_NOT_FOUND, CONFLICT with what uses it: templates, steps, segments and other campaigns
 */
export async function deleteTopic(em: Em, projectId: string, topicId: string): Promise<void> {
  await inTransaction(em, async (tx) => {
    // Whatever is being stored with the topic holds it, and is seen once the topic is locked.
    await query(tx, sql`select from topic where id = ${topicId} and project_id = ${projectId} for update`);
    const usage = await findTopicUsage(tx, projectId, await findTopic(tx, projectId, topicId));
    const campaigns = usage.campaigns.filter(({ status }) => status !== 'SENT' && status !== 'CANCELLED');
    const users = { ...usage, campaigns };
    if (Object.values(users).some((list) => list.length > 0)) {
      throw new AppError('CONFLICT', {
        message: 'The topic is in use',
        details: users,
        suggestion: 'Take it out of what details names first',
      });
    }
    await query(tx, sql`delete from topic where id = ${topicId}`);
  });
}
