import { expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { useCleanUps } from '../../../tests/support/clean-ups.ts';
import { createBlankDatabase } from '../../../tests/support/database.ts';
import type { Em } from '../../database/em.ts';
import { query, sql } from '../../database/sql.ts';
import { migrateUp } from '../schema/migrate.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import { createOrm } from '../schema/orm.ts';
import { findParked, openEndpoint, wakeEndpoints } from './delivery-state.ts';
import { loadEvents, pageBehind } from './hook-events.ts';

const cleanUp = useCleanUps();

/** A database as the version before the feed left it. */
async function createFormerDatabase(): Promise<{ url: string; em: () => Em }> {
  const { url, drop } = await createBlankDatabase();
  cleanUp(drop);
  const feed = MIGRATIONS.findIndex(({ name }) => name.endsWith('-webhook-feed'));
  await migrateUp(url, MIGRATIONS.slice(0, feed));
  const orm = await createOrm({ databaseUrl: url, applicationName: 'everpost-test' });
  cleanUp(() => orm.close());
  return { url, em: () => orm.em.fork() };
}

async function addProject(em: Em): Promise<string> {
  const id = uuidV7();
  await query(
    em,
    sql`
      insert into project (id, name, public_key, secret_key_hash, created_at, updated_at)
      values (${id}, 'Project', ${id}::text, ${id}::text, now(), now())`,
  );
  return id;
}

/** Events `e1` to `e6`, the third and the fourth stored at the same time. @returns their ids */
async function addEvents(em: Em, projectId: string): Promise<string[]> {
  // Events of one time are in the order of their ids.
  const ids = Array.from({ length: 6 }, () => uuidV7());
  await query(
    em,
    sql`
      insert into event (id, project_id, name, created_at, recorded_at)
      select id, ${projectId}, 'e' || n, now(),
        now() - interval '1 hour' + (case when n = 4 then 3 else n end) * interval '1 minute'
      from unnest(${ids}::uuid[]) with ordinality as e (id, n)`,
  );
  return ids;
}

/** Adds an endpoint whose position is an event; without one, the endpoint has had nothing. */
async function addEndpoint(em: Em, projectId: string, eventId?: string): Promise<string> {
  const id = uuidV7();
  await query(
    em,
    sql`
      insert into webhook_endpoint (id, project_id, url, events, secret, cursor_at, cursor_id)
      select ${id}, ${projectId}, 'https://203.0.114.9/hook', '{*}', 'secret',
        coalesce(e.recorded_at, now() - interval '1 day'), coalesce(e.id, '00000000-0000-0000-0000-000000000000')
      from (select) one left join event e on e.id = ${eventId ?? null}::uuid`,
  );
  return id;
}

/** What an endpoint would get now: its parked events, and those behind its position. */
async function dueAt(em: Em, projectId: string, endpointId: string): Promise<{ parked: string[]; next: string[] }> {
  const { position, settledNo } = (await openEndpoint(em, endpointId))!;
  const { due } = await findParked(em, endpointId, 10);
  const parked = await loadEvents(em, projectId, due);
  const next = await pageBehind(em, projectId, { position, settledNo, patterns: ['*'], limit: 100 });
  const namesOf = (events: { name: string }[]) => events.map(({ name }) => name);
  return { parked: namesOf(parked), next: namesOf(next.events) };
}

it('the migration to the feed keeps positions, backlogs and parked events of endpoints', async () => {
  const { url, em } = await createFormerDatabase();
  const projectId = await addProject(em());
  const ids = await addEvents(em(), projectId);
  const without = await addProject(em());
  await addEvents(em(), without);
  const behind = await addEndpoint(em(), projectId, ids[2]);
  const upToDate = await addEndpoint(em(), projectId, ids[5]);
  const untouched = await addEndpoint(em(), projectId);
  await query(
    em(),
    sql`
      insert into webhook_delivery (id, endpoint_id, event_at, source, event_id, event_name, status, attempts, retry_at)
      select everpost_uuid_v7(), ${behind}, recorded_at, 0, id, name, 'RETRYING', 1, now() - interval '1 second'
      from event where id = ${ids[1]}`,
  );

  await migrateUp(url);
  await query(
    em(),
    sql`
      insert into event (id, project_id, name, created_at)
      select everpost_uuid_v7(), id, 'e7', now() from project where id in (${projectId}, ${without})`,
  );
  expect(await wakeEndpoints(em())).toBe(3);
  const all = ['e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7'];
  expect(await dueAt(em(), projectId, behind)).toEqual({ parked: ['e2'], next: all.slice(3) });
  expect(await dueAt(em(), projectId, upToDate)).toEqual({ parked: [], next: ['e7'] });
  expect(await dueAt(em(), projectId, untouched)).toEqual({ parked: [], next: all });
  expect(await query(em(), sql`select from webhook_feed where project_id = ${without}`)).toEqual([]);
});
