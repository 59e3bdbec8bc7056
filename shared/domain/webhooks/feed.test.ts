import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../tests/support/api.ts';
import { sql, inTransaction, type Em } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { readFigures } from '../lifecycle/figures.ts';
import { openEndpoint, wakeEndpoints } from './delivery-state.ts';
import { pageBehind } from './hook-events.ts';

let app: TestApi;
let endpointId: string;
beforeAll(async () => {
  app = await startTestApi();
});
beforeEach(async () => {
  await query(app.em(), sql`delete from webhook_endpoint`);
  endpointId = (await app.api('POST', '/webhooks', { body: { url: 'https://203.0.114.9/hook' } })).body.id;
});
afterAll(() => app.stop());

async function record(em: Em, name: string): Promise<void> {
  await query(
    em,
    sql`
      insert into event (id, project_id, name, created_at) values (everpost_uuid_v7(), ${app.project.id}, ${name}, now())`,
  );
}

/** Runs work in a transaction of its own that stays open. @returns what commits it */
async function inOpenTransaction(work: (em: Em) => Promise<unknown>): Promise<() => Promise<void>> {
  const em = app.em();
  await em.begin();
  await work(em);
  return () => em.commit();
}

/** The names of the events that the endpoint would get now. */
async function settledNames(): Promise<string[]> {
  await query(app.em(), sql`select everpost_settle_feed()`);
  const { position, settledNo } = (await openEndpoint(app.em(), endpointId))!;
  const page = await pageBehind(app.em(), app.project.id, { position, settledNo, patterns: ['*'], limit: 100 });
  return page.events.map((event) => event.name);
}

it('an event waits for an open transaction that stored one before it, and for no other transaction', async () => {
  const endReader = await inOpenTransaction((em) => query(em, sql`select from event limit 1`));
  const endWriter = await inOpenTransaction((em) => query(em, sql`update project set updated_at = now()`));
  const commit = await inOpenTransaction((em) => record(em, 'first'));
  await record(app.em(), 'second');
  expect(await settledNames()).toEqual([]);
  const next = await inOpenTransaction((em) => record(em, 'third'));
  await record(app.em(), 'fourth');
  await commit();
  // Only the fourth event waits for the transaction that stores the third one.
  expect(await settledNames()).toEqual(['first', 'second']);
  expect((await readFigures(app.em())).webhookEventsHeldSeconds).toBeGreaterThan(0);
  await next();
  expect(await settledNames()).toEqual(['first', 'second', 'third', 'fourth']);
  expect((await readFigures(app.em())).webhookEventsHeldSeconds).toBe(0);
  await endReader();
  await endWriter();
});

it('a role that may not see what other roles do waits for their transactions', async () => {
  await query(app.em(), sql`create role webhook_feed_reader`);
  await query(app.em(), sql`grant all on all tables in schema public to webhook_feed_reader`);
  await query(app.em(), sql`grant all on all sequences in schema public to webhook_feed_reader`);
  const settle = () =>
    inTransaction(app.em(), async (tx) => {
      await query(tx, sql`set local role webhook_feed_reader`);
      await query(tx, sql`select everpost_settle_feed()`);
    });
  try {
    const commit = await inOpenTransaction((em) => record(em, 'first'));
    await record(app.em(), 'second');
    await settle();
    expect(await settledNames()).toEqual([]);
    await commit();
    await settle();
    expect(await settledNames()).toEqual(['first', 'second']);
  } finally {
    await query(app.em(), sql`drop owned by webhook_feed_reader`);
    await query(app.em(), sql`drop role webhook_feed_reader`);
  }
});

it('only endpoints with new events are woken, once for each', async () => {
  const other = await app.createProject();
  await other.api('POST', '/webhooks', { body: { url: 'https://203.0.114.9/hook' } });
  expect(await wakeEndpoints(app.em())).toBe(0);
  await record(app.em(), 'seen');
  expect(await wakeEndpoints(app.em())).toBe(1);
  expect(await wakeEndpoints(app.em())).toBe(0);
});
