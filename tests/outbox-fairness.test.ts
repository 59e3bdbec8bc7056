import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { OUTBOX_KINDS, type OutboxKind } from '../shared/pure/outbox-kinds.ts';
import { createAutomation, createTemplate, executionThatIs, track } from './support/automations.ts';
import type { TestProject } from './support/api.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const BACKLOG = 100_000;
/** A row with fewer ahead of it says nothing: whole batches of others are on their way when it comes. */
const ENOUGH_AHEAD = 5_000;
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

/** Notes how much of the backlog is left in the kind of each row of the other project, when it comes and when it goes. */
async function watchRows(): Promise<void> {
  await stack.em().execute(`
    create table watched_row (id uuid, kind text, came boolean, left_over bigint);
    create function watch_row() returns trigger language plpgsql as $$
    begin
      insert into watched_row
      select row.id, row.kind, tg_op = 'INSERT',
        (select count(*) from outbox o where o.kind = row.kind and o.project_id = '${stack.project.id}')
      from (select (coalesce(new, old)).*) row;
      return null;
    end $$;
    create trigger watch_new after insert on outbox
      for each row when (new.project_id = '${other.project.id}') execute function watch_row();
    create trigger watch_old after delete on outbox
      for each row when (old.project_id = '${other.project.id}') execute function watch_row();`);
}

/** How many rows of the backlog were there when a row of the other project came, and how many of them went before it. */
async function watchedRows(): Promise<{ ahead: number; overtaking: number }[]> {
  const rows = await query(
    stack.em(),
    sql`
      select come.left_over as ahead, come.left_over - gone.left_over as overtaking
      from watched_row come join watched_row gone on gone.id = come.id and not gone.came
      where come.came and come.kind = any(${KINDS}::text[])`,
  );
  return rows.map(({ ahead, overtaking }) => ({ ahead: Number(ahead), overtaking: Number(overtaking) }));
}

it('does not delay a project when another one has 100,000 outbox rows of every kind', async () => {
  const templateId = await createTemplate(other);
  const automationId = await createAutomation(other, 'joined', { Welcome: { type: 'SEND_EMAIL', templateId } });
  await other.api('POST', '/contacts', { body: { email: 'reader@mail.test' } });
  const campaign = await other.api('POST', '/campaigns', {
    body: { name: 'News', subject: 'News', body: '<p>Hi</p>', from: 'news@example.com', audienceType: 'ALL' },
  });

  await watchRows();
  await addBacklog(KINDS);
  await track(other, 'member@mail.test', 'joined');
  const reply = await other.api('POST', '/v1/send', {
    body: { to: 'buyer@mail.test', from: 'shop@example.com', subject: 'Order', body: '<p>Thanks</p>' },
  });
  expect(reply.status).toBe(200);
  await other.api('POST', `/campaigns/${campaign.body.data.id}/send`, { body: {} });

  const recipients = () => stack.sink.messages().flatMap((message) => message.to);
  await eventually(async () =>
    ['buyer@mail.test', 'reader@mail.test', 'member@mail.test'].every((address) => recipients().includes(address)),
  );
  await executionThatIs(other, automationId, 'COMPLETED');
  // In the order of the rows, all that were ahead would go first. On a slow machine, few of them are left for late rows.
  const delayed = (await watchedRows()).filter(({ ahead }) => ahead >= ENOUGH_AHEAD);
  expect(delayed).not.toEqual([]);
  expect(delayed.filter(({ ahead, overtaking }) => overtaking > ahead / 2)).toEqual([]);
  await query(stack.em(), sql`truncate outbox`);
}, 120_000);
