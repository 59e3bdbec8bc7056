import { validationError } from '../../pure/app-error.ts';
import { causeData, emailIdOf, type SubscriptionCause } from '../../pure/events/subscription-reasons.ts';
import type { TopicChoices } from '../../pure/topics.ts';
import { json, query, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, jsonAs, nullable, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { lockContacts } from '../contacts/contact-locks.ts';
import { recordConsents, type Evidence } from '../consent/records.ts';
import { recordedEvents } from '../events/recorded-events.ts';

/** What a contact chooses about a topic. null takes the choice back, so that the default of the topic holds again. */
export interface TopicChange {
  contactId: string;
  topicId: string;
  subscribed: boolean | null;
}

export interface ChoiceOptions extends Evidence {
  /** Whether a topic that a contact has left stays left. */
  keepsLeft?: boolean;
}

const CHANGED = { contactId: tables.contact.id, topicId: tables.topic.id, subscribed: boolean };
/** A change of what holds: whether the contact has the topic from now on. */
export type ChangedTopic = RowOf<typeof CHANGED>;

/**
 * Stores choices of contacts about topics, and records the event `topic.subscribed` or `topic.unsubscribed`, and the
 * consent, for each that changes what holds. Nothing else writes choices. What holds is the choice, or without one the
 * default of the topic. A choice that says what holds already is stored, so that it is explicit from now on, but it is
 * no change: it records nothing and leaves `updatedAt` of the contact. The contacts are locked first, so concurrent equal
 * changes record one event.
 *
 * Unknown contacts and topics, and those of other projects, are left out. Of several changes of one contact and topic
 * the last one counts.
 * @param cause what changes them
 * @returns the changes of what holds
 */
export async function changeTopics(
  em: Em,
  projectId: string,
  changes: readonly TopicChange[],
  cause: SubscriptionCause,
  { keepsLeft = false, ...evidence }: ChoiceOptions = {},
): Promise<ChangedTopic[]> {
  const last = [...new Map(changes.map((change) => [`${change.contactId} ${change.topicId}`, change])).values()];
  if (last.length === 0) return [];
  const emailId = emailIdOf(cause);
  return inTransaction(em, async (tx) => {
    // In a statement of its own, so that the next one sees the versions that are locked.
    const held = new Set(await lockContacts(tx, projectId, [...new Set(last.map((each) => each.contactId))], 'change'));
    const wanted = last.filter(({ contactId }) => held.has(contactId));
    if (wanted.length === 0) return [];
    const changed = await query(
      tx,
      sql`
        with wanted as materialized (
          select * from unnest(
            ${wanted.map(({ contactId }) => contactId)}::uuid[], ${wanted.map(({ topicId }) => topicId)}::uuid[],
            ${wanted.map(({ subscribed }) => subscribed)}::boolean[]) as w (contact_id, topic_id, subscribed)
        ),
        own as materialized (
          select id, key, default_subscription = 'opt_in' as by_default from topic
          where project_id = ${projectId} and id in (select topic_id from wanted) for key share
        ),
        stored as (
          insert into topic_subscription (topic_id, contact_id, subscribed)
          select w.topic_id, w.contact_id, w.subscribed from wanted w
          where w.subscribed is not null and w.topic_id in (select id from own)
          on conflict (topic_id, contact_id) do update set subscribed = excluded.subscribed, updated_at = now()
            where topic_subscription.subscribed <> excluded.subscribed
              and (topic_subscription.subscribed or not ${keepsLeft})
          returning topic_id, contact_id, subscribed, (xmax = 0) as is_new
        ),
        taken_back as (
          delete from topic_subscription s using wanted w
          where w.subscribed is null and s.topic_id = w.topic_id and s.contact_id = w.contact_id
            and (s.subscribed or not ${keepsLeft})
          returning s.topic_id, s.contact_id, s.subscribed
        ),
        changed as materialized (
          select s.contact_id, s.topic_id, o.key, s.subscribed from stored s join own o on o.id = s.topic_id
          where not s.is_new or s.subscribed <> o.by_default
          union all
          select b.contact_id, b.topic_id, o.key, o.by_default from taken_back b join own o on o.id = b.topic_id
          where b.subscribed <> o.by_default
        ),
        touched as (update contact set updated_at = now() where id in (select contact_id from changed)),
        ${recordedEvents(sql`
          select everpost_uuid_v7(), ${projectId}::uuid, contact_id, ${emailId}::uuid,
            case when subscribed then 'topic.subscribed' else 'topic.unsubscribed' end,
            ${json(causeData(cause))}::jsonb || jsonb_build_object('topicId', topic_id, 'key', key)
              || jsonb_strip_nulls(jsonb_build_object('campaignId',
                (select campaign_id from email where id = ${emailId}::uuid))),
            now()
          from changed`)}
        select contact_id as "contactId", topic_id as "topicId", subscribed from changed`,
      CHANGED,
    );
    const consents = changed.map(({ subscribed, ...which }) => {
      return { ...which, state: subscribed ? 'subscribed' : 'unsubscribed', cause, evidence } as const;
    });
    await recordConsents(tx, projectId, consents);
    return changed;
  });
}

/**
 * The ids of topics by their keys.
 * @param field the field of the request that has the keys
 * @throws AppError VALIDATION_ERROR that names each key without a topic
 */
export async function findTopicIds(
  em: Em,
  projectId: string,
  keys: readonly string[],
  field = 'topics',
): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map();
  const topics = await query(
    em,
    sql`select id, key from topic where project_id = ${projectId} and key = any(${[...keys]}::text[])`,
    pick(tables.topic, 'id', 'key'),
  );
  const ids = new Map(topics.map(({ id, key }) => [key, id]));
  const unknown = keys.filter((key) => !ids.has(key));
  if (unknown.length > 0) throw validationError(unknown.map((key) => unknownTopic(`${field}.${key}`, key)));
  return ids;
}

/** The changes that choices of a contact by keys are. @param ids of the topics, as `findTopicIds` returns them */
export function changesOf(contactId: string, choices: TopicChoices, ids: ReadonlyMap<string, string>): TopicChange[] {
  return Object.entries(choices).flatMap(([key, subscribed]) => {
    const topicId = ids.get(key);
    return topicId === undefined ? [] : { contactId, topicId, subscribed };
  });
}

/** The fault of a field that names a topic that does not exist. */
export function unknownTopic(field: string, key: string) {
  return { field, message: `There is no topic with the key "${key}"`, code: 'unknown_topic' };
}

/**
 * As `changeTopics`, for choices of one contact by the keys of topics.
 * @throws AppError VALIDATION_ERROR that names each key without a topic
 */
export async function chooseTopics(
  em: Em,
  projectId: string,
  contactId: string,
  choices: TopicChoices = {},
  cause: SubscriptionCause,
): Promise<void> {
  const ids = await findTopicIds(em, projectId, Object.keys(choices));
  await changeTopics(em, projectId, changesOf(contactId, choices, ids), cause);
}

const CONTACT_TOPIC = {
  ...pick(tables.topic, 'id', 'key', 'name', 'visibility'),
  subscribed: boolean,
  /** Whether the contact has chosen so; otherwise it is the default of the topic. */
  isChosen: boolean,
  changedAt: nullable(tables.topicSubscription.updatedAt),
};
/** A topic as it holds for a contact. */
export type ContactTopic = RowOf<typeof CONTACT_TOPIC>;

const HOLDS = sql`coalesce(s.subscribed, t.default_subscription = 'opt_in')`;

/** All topics of a project as they hold for a contact, oldest topic first. */
export async function findContactTopics(em: Em, projectId: string, contactId: string): Promise<ContactTopic[]> {
  return query(
    em,
    sql`
      select t.id, t.key, t.name, t.visibility, ${HOLDS} as subscribed, s.subscribed is not null as "isChosen",
        s.updated_at as "changedAt"
      from topic t left join topic_subscription s on s.topic_id = t.id and s.contact_id = ${contactId}
      where t.project_id = ${projectId} order by t.created_at, t.id`,
    CONTACT_TOPIC,
  );
}

/** Which topics contacts have, by the keys of the topics; undefined in a project without topics. */
export type TopicsOf = (contactId: string) => Record<string, boolean> | undefined;

/** Finds which topics contacts have, with one statement for all of them. */
export async function findTopicsOf(em: Em, projectId: string, contactIds: readonly string[]): Promise<TopicsOf> {
  const rows = await query(
    em,
    sql`
      select c.id, jsonb_object_agg(t.key, ${HOLDS}) as topics
      from unnest(${[...contactIds]}::uuid[]) as c (id) cross join topic t
      left join topic_subscription s on s.topic_id = t.id and s.contact_id = c.id
      where t.project_id = ${projectId} group by c.id`,
    { id: text, topics: jsonAs<Record<string, boolean>>() },
  );
  const byId = new Map(rows.map(({ id, topics }) => [id, topics]));
  return (contactId) => byId.get(contactId);
}
