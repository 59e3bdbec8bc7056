import { globSync, readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { recordedEvents } from './recorded-events.ts';

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Test')).project.id;
});

async function addAutomation(triggerEvent: string): Promise<string> {
  const id = randomUUID();
  await query(
    em(),
    sql`
      insert into automation (id, project_id, name, trigger_event, enabled, graph_id, created_at, updated_at)
      values (${id}, ${projectId}, 'A', ${triggerEvent}, true, ${randomUUID()}, now(), now())`,
  );
  return id;
}

async function addWait(contactId: string, eventName: string): Promise<string> {
  const id = randomUUID();
  await query(
    em(),
    sql`
      insert into event_wait (execution_id, project_id, contact_id, event_name)
      values (${id}, ${projectId}, ${contactId}, ${eventName})`,
  );
  return id;
}

it('An event starts executions and ends waits even when its statement does not read `recorded`', async () => {
  const automationId = await addAutomation('paid');
  const contacts = [randomUUID(), randomUUID()];
  const waiting = await addWait(contacts[1]!, 'paid');
  const rows = sql`
    select everpost_uuid_v7(), ${projectId}::uuid, c, null::uuid, 'paid', '{"plan": "pro"}'::jsonb, now()
    from unnest(${contacts}::uuid[]) c`;

  expect(await query(em(), sql`with ${recordedEvents(rows)} select 1 where false`)).toEqual([]);

  const started = await query(
    em(),
    sql`select id, contact_id, context from automation_execution where automation_id = ${automationId}`,
  );
  expect(new Set(started.map((row) => row.contact_id))).toEqual(new Set(contacts));
  expect(started[0]?.context).toEqual({ plan: 'pro' });
  const waits = sql`select event_data from event_wait where execution_id = ${waiting} and resolved_at is not null`;
  expect(await query(em(), waits)).toEqual([{ event_data: { plan: 'pro' } }]);
  const outboxRows = await query(
    em(),
    sql`select kind, subject_id from outbox where project_id = ${projectId} order by kind, subject_id`,
  );
  expect(outboxRows).toEqual([
    ...started.map(({ id }) => ({ kind: 'execution', subject_id: id })).sort(byId),
    { kind: 'executionEvent', subject_id: waiting },
  ]);
});

const byId = (a: { subject_id: string }, b: { subject_id: string }) => (a.subject_id < b.subject_id ? -1 : 1);

it('An event that was recorded before starts nothing again', async () => {
  await query(em(), sql`update automation set allow_reentry = true where id = ${await addAutomation('again')}`);
  const [eventId, contactId] = [randomUUID(), randomUUID()];
  const rows = sql`select ${eventId}::uuid, ${projectId}::uuid, ${contactId}::uuid, null::uuid, 'again', '{}'::jsonb, now()`;
  const record = () => query(em(), sql`with ${recordedEvents(rows, sql`on conflict (id) do nothing`)} select`);

  await record();
  await record();

  const executions = sql`select count(*) from automation_execution where contact_id = ${contactId}`;
  expect(await query(em(), executions)).toEqual([{ count: 1 }]);
});

it('No other file of the product inserts events', () => {
  const sources = '{activities,api,cli,local,shared,worker,workflows}/**/*.ts';
  const isProduct = (file: string) => !file.endsWith('.test.ts') && !file.includes('/migrations/');
  const inserting = globSync(sources).filter(
    (file) => isProduct(file) && /insert into event\b/i.test(readFileSync(file, 'utf8')),
  );
  expect(inserting).toEqual(['shared/domain/events/recorded-events.ts']);
});
