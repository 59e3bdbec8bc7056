import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../tests/support/api.ts';
import { untilBlocked } from '../../../tests/support/database.ts';
import { queryOne, sql } from '../database/sql.ts';
import { inTransaction } from '../database/transaction.ts';
import { replay } from './deliveries.ts';
import { openEndpoint, recordDeliveries, type OpenEndpoint } from './delivery-state.ts';
import type { EventPosition } from './hook-events.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function openNewEndpoint(): Promise<OpenEndpoint> {
  const { body } = await app.api('POST', '/webhooks', { body: { url: 'https://203.0.114.9/hook' } });
  return (await openEndpoint(app.em(), body.id))!;
}

async function trackEvent(): Promise<EventPosition> {
  const { body } = await app.api('POST', '/v1/track', {
    key: 'public',
    body: { email: 'ada@example.com', event: 'seen' },
  });
  const id: string = body.data.event;
  const row = await queryOne<{ at: string }>(app.em(), sql`select recorded_at::text as at from event where id = ${id}`);
  return { at: row!.at, source: 0, id };
}

async function isBehind(endpointId: string, event: EventPosition): Promise<boolean> {
  const { position } = (await openEndpoint(app.em(), endpointId))!;
  const row = await queryOne<{ behind: boolean }>(
    app.em(),
    sql`
      select (${position.at}::timestamptz, ${position.source}::int, ${position.id}::uuid)
        < (${event.at}::timestamptz, ${event.source}::int, ${event.id}::uuid) as behind`,
  );
  return row!.behind;
}

it('events that are being delivered when a replay is asked for are delivered once more', async () => {
  const opened = await openNewEndpoint();
  const [first, second] = [await trackEvent(), await trackEvent()];
  const from = { eventId: first.id, retentionDays: 0 };
  for (const last of [first, second]) {
    const endpoint = (await openEndpoint(app.em(), opened.id))!;
    await replay(app.em(), app.project.id, opened.id, from);
    await recordDeliveries(app.em(), endpoint, [], { kind: 'accepted', position: last });
    expect(await isBehind(opened.id, first)).toBe(true);
  }
  const again = (await openEndpoint(app.em(), opened.id))!;
  await recordDeliveries(app.em(), again, [], { kind: 'accepted', position: second });
  expect(await isBehind(opened.id, second)).toBe(false);
  await replay(app.em(), app.project.id, opened.id, { eventId: second.id, retentionDays: 0 });
  expect([await isBehind(opened.id, first), await isBehind(opened.id, second)]).toEqual([false, true]);
});

it('a replay that is stored while results of the same events are being stored is not undone by them', async () => {
  const opened = await openNewEndpoint();
  const event = await trackEvent();
  const endpoint = (await openEndpoint(app.em(), opened.id))!;
  const { recording } = await inTransaction(app.em(), async (tx) => {
    await replay(tx, app.project.id, opened.id, { eventId: event.id, retentionDays: 0 });
    const results = recordDeliveries(app.em(), endpoint, [], { kind: 'accepted', position: event });
    await untilBlocked(() => app.em());
    return { recording: results };
  });
  await recording;
  expect(await isBehind(opened.id, event)).toBe(true);
});
