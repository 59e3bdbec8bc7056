import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { patchContact, upsertContacts } from '../contacts/contacts.ts';
import { recordCampaignResults } from '../campaigns/campaign-delivery.ts';
import { recordComplaint, recordHardBounce, recordReply, recordSoftBounce } from '../emails/feedback.ts';
import { changeSubscription } from '../emails/subscription-links.ts';
import { recordEngagements } from '../engagement/engagement.ts';
import { claimEmails } from '../emails/transactional-delivery.ts';
import { changeTopics } from '../topics/topic-choices.ts';
import { createProject } from '../projects/projects.ts';
import { sql, SqlFragment } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { listSuppressions, removeSuppression } from '../suppressions/suppressions.ts';
import { deleteContacts } from './delete-contacts.ts';
import { eraseAtOnce, eraseNext, findNextErasure } from './erase-contacts.ts';

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Test')).project.id;
});

async function addContact(email: string): Promise<string> {
  const [contact] = await upsertContacts(em(), {
    projectId,
    emails: [email],
    subscribedDefault: true,
    cause: { reason: 'send' },
  });
  return contact?.id ?? '';
}

interface EmailRow {
  contactId?: string | null;
  address: string;
  status: string;
  campaignId?: string;
}

async function addEmail({ contactId = null, address, status, campaignId }: EmailRow): Promise<string> {
  const id = randomUUID();
  await query(
    em(),
    sql`
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, subject, status, error, created_at)
      values (${id}, ${projectId}, ${contactId}, ${campaignId ?? null}, ${campaignId ? 1 : null}, ${address}, 'Hello', ${status},
        'deferred', now())`,
  );
  await query(
    em(),
    sql`
      insert into email_content (email_id, from_address, to_name, html, body_text, created_at)
      values (${id}, 'a@example.com', 'Ada', 'Hello', 'Hello', now())`,
  );
  return id;
}

async function deleteAndErase(contactId: string): Promise<void> {
  expect(await deleteContacts(em(), projectId, [contactId])).toEqual([contactId]);
  await eraseAtOnce(em(), projectId, [contactId]);
}

function emailRow(id: string) {
  return queryOne(em(), sql`select * from email where id = ${id}`);
}

async function count(table: 'event' | 'email_content', where: SqlFragment): Promise<number> {
  const from = new SqlFragment(table);
  const row = await queryOne(em(), sql`select count(*) from ${from} where ${where}`);
  return row?.count ?? -1;
}

async function addCampaign(): Promise<string> {
  const id = randomUUID();
  await query(
    em(),
    sql`
      insert into campaign (id, project_id, name, subject, body, from_address, status, audience_type, total_recipients,
        created_at, updated_at)
      values (${id}, ${projectId}, 'C', 'Hello', 'B', 'a@example.com', 'SENDING', 'ALL', 1, now(), now())`,
  );
  return id;
}

it('erasing a contact clears its emails and those to its address, and cancels queued ones', async () => {
  const contactId = await addContact('queued@mail.test');
  const ids = [
    await addEmail({ contactId, address: 'queued@mail.test', status: 'PENDING' }),
    await addEmail({ contactId, address: 'queued@mail.test', status: 'SENDING' }),
    await addEmail({ contactId, address: 'earlier@mail.test', status: 'OPENED' }),
    await addEmail({ address: 'queued@mail.test', status: 'PENDING' }),
    await addEmail({ contactId, address: 'queued@mail.test', status: 'PENDING', campaignId: await addCampaign() }),
  ];
  const other = await addEmail({ address: 'other@mail.test', status: 'PENDING' });
  await deleteAndErase(contactId);
  const rows = await Promise.all(ids.map(emailRow));
  expect(rows.map((row) => row?.['status'])).toEqual(['CANCELLED', 'SENDING', 'OPENED', 'CANCELLED', 'PENDING']);
  for (const row of rows) {
    expect(row).toMatchObject({
      contact_id: null,
      erased_contact_id: contactId,
      to_address: null,
      subject: null,
      error: null,
    });
  }
  expect(await count('email_content', sql`email_id = any(${ids}::uuid[])`)).toBe(0);
  expect(await emailRow(other)).toMatchObject({ to_address: 'other@mail.test', status: 'PENDING' });
});

it('erasing a contact clears emails without a contact to its former addresses, unless another contact has one', async () => {
  const contactId = await addContact('first@mail.test');
  const test = await addEmail({ address: 'first@mail.test', status: 'SENT' });
  await patchContact(em(), projectId, contactId, { email: 'second@mail.test' }, { reason: 'send' });
  const second = await addEmail({ address: 'second@mail.test', status: 'SENT' });
  await patchContact(em(), projectId, contactId, { email: 'third@mail.test' }, { reason: 'send' });
  await addContact('second@mail.test');
  await deleteAndErase(contactId);
  expect(await emailRow(test)).toMatchObject({ to_address: null, subject: null, erased_contact_id: contactId });
  expect(await emailRow(second)).toMatchObject({ to_address: 'second@mail.test', subject: 'Hello' });
});

/** Adds an execution of a contact with a step that queued an email. */
async function addExecution(contactId: string, emailId: string): Promise<void> {
  const id = randomUUID();
  await query(
    em(),
    sql`
      insert into automation_execution
        (id, project_id, automation_id, graph_id, contact_id, is_first, started_at, created_at, updated_at)
      values (${id}, ${projectId}, ${randomUUID()}, ${randomUUID()}, ${contactId}, true, now(), now(), now())`,
  );
  await query(
    em(),
    sql`
      insert into step_execution (id, execution_id, step_number, step_id, status, output, started_at)
      values (${randomUUID()}, ${id}, 1, ${randomUUID()}, 'COMPLETED', jsonb_build_object('emailId', ${emailId}::text), now())`,
  );
}

it('erasing a contact clears what emails of its executions tell others, who keep the record', async () => {
  const contactId = await addContact('subject@mail.test');
  const colleague = await addContact('colleague@mail.test');
  const address = 'colleague@mail.test';
  const told = await addEmail({ contactId: colleague, address, status: 'SENT' });
  const queued = await addEmail({ contactId: colleague, address, status: 'PENDING' });
  const underWay = await addEmail({ contactId: colleague, address, status: 'SENDING' });
  const unknown = await addEmail({ address: 'team@mail.test', status: 'SENT' });
  const unrelated = await addEmail({ contactId: colleague, address, status: 'SENT' });
  const ids = [told, queued, underWay, unknown];
  for (const id of ids) await addExecution(contactId, id);
  await query(
    em(),
    sql`
      insert into event (id, project_id, contact_id, email_id, name, data, created_at)
      select everpost_uuid_v7(), project_id, contact_id, id, 'email.sent', '{"subject": "Hello", "to": "x"}', now()
      from email where id = any(${[told, unknown, unrelated]}::uuid[])`,
  );
  await deleteAndErase(contactId);

  const rows = await Promise.all(ids.map(emailRow));
  expect(rows.map((row) => [row?.['status'], row?.['to_address'], row?.['subject']])).toEqual([
    ['SENT', address, null],
    ['CANCELLED', address, null],
    ['SENDING', address, null],
    ['SENT', 'team@mail.test', null],
  ]);
  expect(await count('email_content', sql`email_id = any(${ids}::uuid[])`)).toBe(0);
  expect(await count('event', sql`email_id = any(${ids}::uuid[]) and data = '{"to": "x"}'`)).toBe(2);
  expect(await emailRow(unrelated)).toMatchObject({ status: 'SENT', subject: 'Hello' });
  expect(await count('event', sql`email_id = ${unrelated} and data ->> 'subject' = 'Hello'`)).toBe(1);

  // The attempt that was sending one of them died, or has to repeat it.
  expect(await claimEmails(em(), [underWay], { deliveryId: underWay, claimToken: randomUUID() })).toEqual([]);
  expect(await emailRow(underWay)).toMatchObject({ status: 'CANCELLED', delivery_due_at: null });
});

it('emails of a deleted contact are not claimed before they are cleared', async () => {
  const contactId = await addContact('unclaimed@mail.test');
  const id = await addEmail({ contactId, address: 'unclaimed@mail.test', status: 'PENDING' });
  await deleteContacts(em(), projectId, [contactId]);
  expect(await claimEmails(em(), [id], { deliveryId: id, claimToken: randomUUID() })).toEqual([]);
  expect(await emailRow(id)).toMatchObject({ status: 'CANCELLED', delivery_due_at: null });
});

it('erasing is done in parts, and searches again until the transactions that were open have ended', async () => {
  const contactId = await addContact('many@mail.test');
  await query(
    em(),
    sql`
      insert into event (id, project_id, contact_id, name, created_at)
      select everpost_uuid_v7(), ${projectId}, ${contactId}, 'n', now() from generate_series(1, 12000)`,
  );
  const open = em();
  await open.begin();
  await query(open, sql`select 1`);
  await deleteAndErase(contactId);
  expect(await count('event', sql`contact_id = ${contactId}`)).toBe(7_000);
  while ((await eraseNext(em(), projectId)).contacts > 0);
  expect(await count('event', sql`contact_id = ${contactId}`)).toBe(0);
  expect(await findNextErasure(em(), projectId)).toBeGreaterThan(1_000);

  // Rows that an open transaction still writes for the contact are found by the next search.
  await query(
    open,
    sql`
      insert into event (id, project_id, contact_id, name, created_at)
      values (${randomUUID()}, ${projectId}, ${contactId}, 'late', now())`,
  );
  const makeDue = () =>
    query(em(), sql`update erased_contact set due_at = now() - interval '1 second' where contact_id = ${contactId}`);
  await makeDue();
  const askedAt = Date.now();
  expect(await eraseNext(em(), projectId)).toMatchObject({ contacts: 1, rows: 0 });
  expect(Number(await findNextErasure(em(), projectId)) + Date.now() - askedAt).toBeGreaterThan(1_000);
  await open.commit();
  await makeDue();
  expect(await eraseNext(em(), projectId)).toMatchObject({ contacts: 1, rows: 1 });
  expect(await count('event', sql`contact_id = ${contactId}`)).toBe(0);
  const row = await queryOne(em(), sql`select address, due_at from erased_contact where contact_id = ${contactId}`);
  expect(row).toEqual({ address: null, due_at: null });
});

it('late results and reports for an erased contact are counted, and none of their personal data is stored', async () => {
  const contactId = await addContact('late@mail.test');
  const campaignId = await addCampaign();
  const emailId = await addEmail({ contactId, address: 'late@mail.test', status: 'PENDING', campaignId });
  const claimToken = randomUUID();
  const page = { campaignId, firstSeq: 1, lastSeq: 1, claimToken };
  await query(
    em(),
    sql`insert into campaign_page (campaign_id, first_seq, claim_token) values (${campaignId}, 1, ${claimToken})`,
  );
  await deleteAndErase(contactId);

  const heading = { from: 'a@example.com', subject: 'Hello' };
  const results = [{ emailId, verdict: 'sent' as const, subject: 'Hello Ada', error: 'for late@mail.test' }];
  await recordCampaignResults(em(), { ...page, heading, projectId }, results, [60]);
  await recordEngagements(em(), [
    { id: randomUUID(), emailId, url: 'https://x.test/?late@mail.test', ageMs: 0, repeats: 0, machineReason: null },
  ]);
  await recordSoftBounce(
    em(),
    emailId,
    { kind: 'temporary', rule: 'mailbox-full', diagnostic: 'late@mail.test is full' },
    'r',
  );
  await recordReply(em(), emailId, { id: 'm', from: 'late@mail.test', to: 'a@example.com', subject: 'Re: Ada' });
  await recordHardBounce(em(), emailId, {
    kind: 'hard',
    rule: 'no-such-user',
    diagnostic: 'late@mail.test is unknown',
  });
  await recordComplaint(em(), emailId);

  expect(await emailRow(emailId)).toMatchObject({ status: 'COMPLAINED', to_address: null, subject: null, error: null });
  expect(await count('event', sql`email_id = ${emailId}`)).toBe(0);
  const campaign = await queryOne(
    em(),
    sql`select sent_count, opened_count, clicked_count, bounced_count, complained_count from campaign where id = ${campaignId}`,
  );
  expect(campaign).toEqual({ sent_count: 1, opened_count: 1, clicked_count: 1, bounced_count: 1, complained_count: 1 });
});

it('an erased address stays suppressed by its hash, also when a contact has it again', async () => {
  const contactId = await addContact('hashed@mail.test');
  const bounced = await addEmail({ contactId, address: 'hashed@mail.test', status: 'SENT' });
  await recordHardBounce(em(), bounced, { kind: 'hard', rule: 'no-such-user', diagnostic: 'unknown' });
  const known = await listSuppressions(em(), projectId);
  expect(known.filter((row) => row.emailId === bounced)).toMatchObject([{ email: 'hashed@mail.test' }]);
  await deleteAndErase(contactId);
  const [erased] = (await listSuppressions(em(), projectId)).filter((row) => row.emailId === bounced);
  expect(erased).toMatchObject({ email: null, reason: 'HARD_BOUNCE' });

  const again = await addContact('hashed@mail.test');
  const id = await addEmail({ contactId: again, address: 'hashed@mail.test', status: 'PENDING' });
  expect(await claimEmails(em(), [id], { deliveryId: id, claimToken: randomUUID() })).toEqual([]);
  expect(await emailRow(id)).toMatchObject({ status: 'SUPPRESSED' });
  expect(await removeSuppression(em(), projectId, 'hashed@mail.test')).toBe(true);
  expect(await removeSuppression(em(), projectId, 'hashed@mail.test')).toBe(false);
});

it('a complaint after the deletion suppresses the address by its hash', async () => {
  const contactId = await addContact('angry@mail.test');
  const emailId = await addEmail({ contactId, address: 'angry@mail.test', status: 'SENT' });
  await deleteAndErase(contactId);
  await recordComplaint(em(), emailId);
  const [suppression] = (await listSuppressions(em(), projectId)).filter((row) => row.emailId === emailId);
  expect(suppression).toMatchObject({ email: null, reason: 'COMPLAINT' });
  expect(await removeSuppression(em(), projectId, 'angry@mail.test')).toBe(true);
});

it('the links of emails of an erased contact lead to the contact who has the address now', async () => {
  const contactId = await addContact('returns@mail.test');
  const emailId = await addEmail({ contactId, address: 'returns@mail.test', status: 'SENT' });
  await deleteAndErase(contactId);
  expect(await changeSubscription(em(), { contactId, emailId }, false)).toBeUndefined();
  const second = await addContact('returns@mail.test');
  await deleteAndErase(second);
  const third = await addContact('returns@mail.test');
  expect(await changeSubscription(em(), { contactId, emailId }, false)).toMatchObject({ id: third, subscribed: false });
});

it('erases what a contact has chosen: consents, topics and subscriptions that wait', async () => {
  const contactId = await addContact('chose@mail.test');
  const topicId = randomUUID();
  await query(
    em(),
    sql`
      with t as (insert into topic (id, project_id, key, name, default_subscription, created_at, updated_at)
        values (${topicId}, ${projectId}, 'chosen', 'News', 'opt_in', now(), now()) returning id)
      insert into opt_in (id, project_id, contact_id, client_address, is_first, expires_at)
      select everpost_uuid_v7(), ${projectId}, ${contactId}, '192.0.2.1', false, now() from t`,
  );
  await changeTopics(em(), projectId, [{ contactId, topicId, subscribed: false }], { reason: 'send' });
  await patchContact(em(), projectId, contactId, { subscribed: false }, { reason: 'send' });
  const left = () =>
    queryOne(
      em(),
      sql`
        select (select count(*)::int from consent_record where contact_id = ${contactId}) as consents,
          (select count(*)::int from topic_subscription where contact_id = ${contactId}) as topics,
          (select count(*)::int from opt_in where contact_id = ${contactId}) as waiting`,
    );
  expect(await left()).toEqual({ consents: 3, topics: 1, waiting: 1 });
  await deleteAndErase(contactId);
  expect(await left()).toEqual({ consents: 0, topics: 0, waiting: 0 });
});
