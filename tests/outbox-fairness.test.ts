import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { OUTBOX_KINDS, type OutboxKind } from '../shared/pure/outbox-kinds.ts';
import { createAutomation, createTemplate, executionThatIs, track } from './support/automations.ts';
import type { TestProject } from './support/api.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const BACKLOG = 100_000;
/** All kinds but `email` and `campaign`. */
const KINDS = OUTBOX_KINDS.filter((kind) => kind !== 'email' && kind !== 'campaign');

let stack: TestStack;
let other: TestProject;
beforeAll(async () => {
  stack = await startTestStack();
  other = await stack.createProject();
});
afterAll(() => stack.stop());

async function addBacklog(kinds: OutboxKind[]): Promise<void> {
  await query(
    stack.em(),
    sql`
      insert into outbox (id, project_id, kind, subject_id, is_restart)
      select everpost_uuid_v7(), ${stack.project.id}, (${kinds}::text[])[n % ${kinds.length}::int + 1], gen_random_uuid(),
        n % 2 = 0
      from generate_series(1, ${BACKLOG}::int) n`,
  );
}

async function backlogOf(kinds: OutboxKind[]): Promise<number> {
  const row = await queryOne(
    stack.em(),
    sql`
      select min(count) as count from (
        select (select count(*) from outbox o where o.kind = k.kind and o.project_id = ${stack.project.id}) as count
        from unnest(${kinds}::text[]) as k (kind)
      ) n`,
  );
  return row?.count ?? 0;
}

it('does not delay a project when another one has 100,000 outbox rows of every kind', async () => {
  const templateId = await createTemplate(other);
  const automationId = await createAutomation(other, 'joined', { Welcome: { type: 'SEND_EMAIL', templateId } });
  await other.api('POST', '/contacts', { body: { email: 'reader@mail.test' } });
  const campaign = await other.api('POST', '/campaigns', {
    body: { name: 'News', subject: 'News', body: '<p>Hi</p>', from: 'news@example.com', audienceType: 'ALL' },
  });

  await addBacklog(KINDS);
  const reply = await other.api('POST', '/v1/send', {
    body: { to: 'buyer@mail.test', from: 'shop@example.com', subject: 'Order', body: '<p>Thanks</p>' },
  });
  expect(reply.status).toBe(200);
  await other.api('POST', `/campaigns/${campaign.body.data.id}/send`, { body: {} });
  await track(other, 'member@mail.test', 'joined');

  const recipients = () => stack.sink.messages().flatMap((message) => message.to);
  await eventually(async () =>
    ['buyer@mail.test', 'reader@mail.test', 'member@mail.test'].every((address) => recipients().includes(address)),
  );
  await executionThatIs(other, automationId, 'COMPLETED');
  // In the order of the rows, nothing would be left of any kind.
  expect(await backlogOf(KINDS)).toBeGreaterThan(0);
  await query(stack.em(), sql`truncate outbox`);
}, 120_000);
