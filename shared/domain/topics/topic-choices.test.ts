import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { query } from '../../../tests/support/rows.ts';
import { sql } from '../../database/sql.ts';
import { createProject } from '../projects/projects.ts';
import { upsertContacts } from '../contacts/contacts.ts';
import { deleteContacts } from '../lifecycle/delete-contacts.ts';
import { changeTopics, findContactTopics, findTopicIds, type TopicChange } from './topic-choices.ts';
import { createTopic } from './topics.ts';

const CAUSE = { reason: 'api', endpoint: 'PUT /contacts/:id/topics' } as const;

let projectId: string;
let count = 0;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Test')).project.id;
});

async function addTopic(defaultSubscription: 'opt_in' | 'opt_out', owner = projectId) {
  const key = `topic-${++count}`;
  return createTopic(em(), owner, { key, name: key, defaultSubscription, visibility: 'public' });
}

async function addContact(owner = projectId): Promise<string> {
  const emails = [`reader-${++count}@mail.test`];
  const [contact] = await upsertContacts(em(), { projectId: owner, emails, subscribedDefault: true, cause: CAUSE });
  return contact!.id;
}

const change = (changes: TopicChange[]) => changeTopics(em(), projectId, changes, CAUSE);

async function eventsOf(contactId: string) {
  return query(em(), sql`select name, data from event where contact_id = ${contactId} order by id`);
}

async function choicesOf(contactId: string) {
  return query(em(), sql`select topic_id, subscribed from topic_subscription where contact_id = ${contactId}`);
}

describe.each([
  { before: null, to: true, opt_in: [], opt_out: ['topic.subscribed'] },
  { before: null, to: false, opt_in: ['topic.unsubscribed'], opt_out: [] },
  { before: null, to: null, opt_in: [], opt_out: [] },
  { before: true, to: true, opt_in: [], opt_out: [] },
  { before: true, to: false, opt_in: ['topic.unsubscribed'], opt_out: ['topic.unsubscribed'] },
  { before: true, to: null, opt_in: [], opt_out: ['topic.unsubscribed'] },
  { before: false, to: true, opt_in: ['topic.subscribed'], opt_out: ['topic.subscribed'] },
  { before: false, to: false, opt_in: [], opt_out: [] },
  { before: false, to: null, opt_in: ['topic.subscribed'], opt_out: [] },
])('a choice that goes from $before to $to', ({ before, to, ...expected }) => {
  it.each(['opt_in', 'opt_out'] as const)(
    'records only what changes what holds of a topic with %s',
    async (byDefault) => {
      const { id: topicId, key } = await addTopic(byDefault);
      const contactId = await addContact();
      if (before !== null) await change([{ contactId, topicId, subscribed: before }]);
      const earlier = (await eventsOf(contactId)).length;

      const first = await change([{ contactId, topicId, subscribed: to }]);
      const second = await change([{ contactId, topicId, subscribed: to }]);

      const holds = to ?? byDefault === 'opt_in';
      const events = (await eventsOf(contactId)).slice(earlier);
      expect(events.map(({ name }) => name)).toEqual(expected[byDefault]);
      for (const { data } of events) expect(data).toEqual({ ...CAUSE, topicId, key });
      const consents = await query(
        em(),
        sql`select state, cause from consent_record where contact_id = ${contactId} and topic_id = ${topicId} order by id`,
      );
      expect(consents.slice(earlier)).toEqual(
        expected[byDefault].map((name) => ({ state: name.replace('topic.', ''), cause: 'api' })),
      );
      expect(first).toEqual(expected[byDefault].map(() => ({ contactId, topicId, subscribed: holds })));
      expect(second).toEqual([]);
      expect(await choicesOf(contactId)).toEqual(to === null ? [] : [{ topic_id: topicId, subscribed: to }]);
      expect((await findContactTopics(em(), projectId, contactId)).find(({ id }) => id === topicId)).toMatchObject({
        key,
        subscribed: holds,
        isChosen: to !== null,
      });
    },
  );
});

it('concurrent equal changes record one event', async () => {
  const { id: topicId } = await addTopic('opt_out');
  const contacts = await Promise.all(Array.from({ length: 5 }, () => addContact()));
  for (const subscribed of [true, false, true]) {
    const changes = contacts.map((contactId) => ({ contactId, topicId, subscribed }));
    const results = await Promise.all(
      Array.from({ length: 6 }, (_, n) => change(n % 2 ? changes : changes.toReversed())),
    );
    expect(results.flat()).toHaveLength(contacts.length);
  }
  for (const contactId of contacts) {
    expect((await eventsOf(contactId)).map(({ name }) => name)).toEqual([
      'topic.subscribed',
      'topic.unsubscribed',
      'topic.subscribed',
    ]);
  }
});

it('a change of what holds moves `updatedAt` of the contact, another choice does not', async () => {
  const { id: topicId } = await addTopic('opt_out');
  const contactId = await addContact();
  const updatedAt = async () => (await query(em(), sql`select updated_at from contact where id = ${contactId}`))[0];
  const before = await updatedAt();
  await change([{ contactId, topicId, subscribed: false }]);
  expect(await updatedAt()).toEqual(before);
  await change([{ contactId, topicId, subscribed: true }]);
  expect(await updatedAt()).not.toEqual(before);
});

it('of several changes of one contact and topic the last one counts', async () => {
  const { id: topicId } = await addTopic('opt_out');
  const contactId = await addContact();
  const both = [true, false].map((subscribed) => ({ contactId, topicId, subscribed }));
  expect(await change(both)).toEqual([]);
  expect(await choicesOf(contactId)).toEqual([{ topic_id: topicId, subscribed: false }]);
});

it('contacts and topics of other projects, deleted and unknown ones are left out', async () => {
  const other = (await createProject(em(), 'Other')).project.id;
  const [own, foreign] = [await addTopic('opt_out'), await addTopic('opt_out', other)];
  const [reader, stranger, gone] = [await addContact(), await addContact(other), await addContact()];
  await deleteContacts(em(), projectId, [gone]);
  const changes = [reader, stranger, gone, randomUUID()].flatMap((contactId) =>
    [own.id, foreign.id, randomUUID()].map((topicId) => ({ contactId, topicId, subscribed: true })),
  );
  expect(await change(changes)).toEqual([{ contactId: reader, topicId: own.id, subscribed: true }]);
  for (const contactId of [stranger, gone]) expect(await choicesOf(contactId)).toEqual([]);
});

it('an event names the campaign of the email that led to it', async () => {
  const { id: topicId, key } = await addTopic('opt_in');
  const contactId = await addContact();
  const [emailId, campaignId] = [randomUUID(), randomUUID()];
  await query(
    em(),
    sql`
      insert into email (id, project_id, contact_id, to_address, campaign_id, status, created_at)
      values (${emailId}, ${projectId}, ${contactId}, 'reader@mail.test', ${campaignId}, 'SENT', now())`,
  );
  await changeTopics(em(), projectId, [{ contactId, topicId, subscribed: false }], { reason: 'one_click', emailId });
  expect(await eventsOf(contactId)).toEqual([
    { name: 'topic.unsubscribed', data: { topicId, key, reason: 'one_click', emailId, campaignId } },
  ]);
  const linked = await query(em(), sql`select email_id from event where contact_id = ${contactId}`);
  expect(linked).toEqual([{ email_id: emailId }]);
});

it('choices of 10,000 contacts are one statement', async () => {
  const { id: topicId } = await addTopic('opt_out');
  const rows = await query(
    em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select everpost_uuid_v7(), ${projectId}, n || '@many.test', true, now(), now() from generate_series(1, 10000) n
      returning id`,
  );
  const changes = rows.map(({ id }) => ({ contactId: id as string, topicId, subscribed: true }));
  expect(await change(changes)).toHaveLength(10_000);
  expect(await change(changes)).toEqual([]);
}, 60_000);

it('a key without a topic is named', async () => {
  const { key, id } = await addTopic('opt_in');
  const choices = { [key]: true, nothing: false, constructor: null };
  await expect(findTopicIds(em(), projectId, Object.keys(choices))).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    errors: [
      { field: 'topics.nothing', code: 'unknown_topic' },
      { field: 'topics.constructor', code: 'unknown_topic' },
    ],
  });
  expect(await findTopicIds(em(), projectId, [key])).toEqual(new Map([[key, id]]));
});
