import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { addReaders, campaignContent } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

/** More than are stored before the first email is sent. */
const CONTACTS = 8_000;

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({
    config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000, SMTP_CONNECTIONS: 10 },
    sink: { keepMessages: false },
  });
  // At a limited speed the audience is stored slowly, by statements that get smaller when they are slow.
  await query(stack.em(), sql`update project set emails_per_second = 5 where id = ${stack.project.id}`);
  const slow = sql`create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.3); return null; end'`;
  await query(stack.em(), slow);
  await query(stack.em(), sql`create trigger slow after insert on email for each statement execute function slow()`);
  await addReaders(stack.em(), stack.project.id, CONTACTS);
});
afterAll(() => stack.stop());

/** A campaign, and whether its counters agree with its recipients, all read at the same moment. */
async function read(id: string) {
  const row = await queryOne(
    stack.em(),
    sql`
      select c.status, total_recipients as total, sent_count as sent, audience_frozen as "isAll",
        (total_recipients, sent_count, skipped_count) = (
          select count(*)::int, (count(*) filter (where e.status = 'SENT'))::int,
            (count(*) filter (where e.status = 'SKIPPED'))::int
          from email e where e.campaign_id = c.id
        ) as agrees
      from campaign c where id = ${id}`,
  );
  expect(row?.agrees).toBe(true);
  return row!;
}

it('a campaign reaches each contact once, though contacts change and it is paused while its audience is stored', async () => {
  const contacts = await query(
    stack.em(),
    sql`select id, email from contact where project_id = ${stack.project.id} order by id`,
  );
  const { body } = await stack.api('POST', '/campaigns', { body: campaignContent() });
  const id = body.data.id as string;
  await stack.api('POST', `/campaigns/${id}/send`);
  await eventually(() => Promise.resolve(stack.sink.messageCount() > 0), 60_000);
  expect(await read(id)).toMatchObject({ isAll: false });

  const [stored, late] = [contacts.slice(2_000), contacts.toReversed()];
  const left = [stored[0]!, stored[1]!, late[0]!, late[1]!];
  for (const [index, contact] of left.entries()) {
    if (index % 2 === 0) await stack.api('DELETE', `/contacts/${contact.id}`);
    else await stack.api('PATCH', `/contacts/${contact.id}`, { body: { subscribed: false } });
  }
  await stack.api('PATCH', `/contacts/${late[2]!.id}`, { body: { email: 'moved@mail.test' } });
  await stack.api('POST', '/contacts', { body: { email: 'new@mail.test' } });
  await stack.api('POST', `/campaigns/${id}/pause`);
  expect(await read(id)).toMatchObject({ isAll: false });
  await stack.stopWorkers();
  await stack.startWorkers();
  await read(id);
  await query(stack.em(), sql`drop trigger slow on email`);
  await stack.api('POST', `/campaigns/${id}/resume`);
  await query(stack.em(), sql`update project set emails_per_second = null where id = ${stack.project.id}`);
  await eventually(async () => (await read(id)).status === 'SENT', 180_000);

  // Two of those who left were recipients before, and are skipped.
  expect(await read(id)).toMatchObject({ total: CONTACTS - 2, sent: CONTACTS - 4 });
  const gone = [...left, late[2]!].map(({ email }) => email);
  const expected = [...contacts.map(({ email }) => email).filter((email) => !gone.includes(email)), 'moved@mail.test'];
  const counts = stack.sink.recipientCounts();
  expect([...counts.keys()].sort()).toEqual(expected.sort());
  expect([...counts.values()].every((count) => count === 1)).toBe(true);
}, 240_000);
