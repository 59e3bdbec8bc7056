import { AppError, validationError } from '../../pure/app-error.ts';
import { needsSubscription, type EmailType } from '../../pure/emails/email-types.ts';
import type { EmailTopic } from '../../pure/emails/email-topic.ts';
import { columnsOf, query, queryPrepared, sql, type Em } from '../../database/sql.ts';
import { pick, tables } from '../../database/tables.ts';
import { holdTopic } from './topics.ts';

const EMAIL_TOPIC = pick(tables.topic, 'id', 'defaultSubscription', 'name', 'texts');

/**
 * The topic of an email; null when it has none. A topic that is missing refuses the email, because nobody knows any
 * more who has left it.
 * @throws AppError TOPIC_NOT_FOUND
 */
export async function findEmailTopic(
  em: Em,
  projectId: string,
  topicId: string | null | undefined,
): Promise<EmailTopic | null> {
  if (!topicId) return null;
  const [topic] = await queryPrepared(
    em,
    sql`select ${columnsOf(EMAIL_TOPIC)} from topic where id = ${topicId} and project_id = ${projectId}`,
    EMAIL_TOPIC,
  );
  if (!topic) throw new AppError('TOPIC_NOT_FOUND');
  return topic;
}

/**
 * Checks the topic of content that the caller's transaction stores, and keeps the topic from being deleted until that
 * transaction has ended.
 * @param field the field of the request that an error names
 * @throws AppError TOPIC_NOT_FOUND, VALIDATION_ERROR for TRANSACTIONAL content, which has no topic
 */
export async function assertEmailTopic(
  tx: Em,
  projectId: string,
  { type, topicId }: { type: EmailType; topicId?: string | null | undefined },
  field = 'topicId',
): Promise<void> {
  if (!topicId) return;
  if (!needsSubscription(type)) {
    const message = 'TRANSACTIONAL email has no topic: it reaches everybody. Set it to null, or choose another type';
    throw validationError([{ field, message, code: 'custom' }]);
  }
  await holdTopic(tx, projectId, topicId);
}

/** What contacts chose for a topic, by their ids; nothing for a contact without a choice. */
export async function choicesAbout(
  em: Em,
  topicId: string,
  contacts: readonly { id: string }[],
): Promise<Map<string, boolean>> {
  const rows = await query(
    em,
    sql`
      select contact_id as "contactId", subscribed from topic_subscription
      where topic_id = ${topicId} and contact_id = any(${contacts.map(({ id }) => id)}::uuid[])`,
    pick(tables.topicSubscription, 'contactId', 'subscribed'),
  );
  return new Map(rows.map(({ contactId, subscribed }) => [contactId, subscribed]));
}
