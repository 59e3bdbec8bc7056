import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../../tests/support/api.ts';
import { untilBlocked } from '../../../tests/support/database.ts';
import { sql, inTransaction } from '../../database/sql.ts';
import { queryOne } from '../../../tests/support/rows.ts';
import { replay } from './deliveries.ts';
import { openEndpoint, recordDeliveries, type OpenEndpoint } from './delivery-state.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function openNewEndpoint(): Promise<OpenEndpoint> {
  const { body } = await app.api('POST', '/webhooks', { body: { url: 'https://203.0.114.9/hook' } });
  return (await openEndpoint(app.em(), body.id))!;
}

/** An event, and its number in the feed. */
async function trackEvent(): Promise<{ id: string; no: string }> {
  const { body } = await app.api('POST', '/v1/track', {
    key: 'public',
    body: { email: 'ada@example.com', event: 'seen' },
  });
  const id: string = body.data.event;
  const row = await queryOne(app.em(), sql`select no::text as no from webhook_feed where id = ${id}`);
  return { id, no: row!.no };
}

async function isBehind(endpointId: string, event: { no: string }): Promise<boolean> {
  const { position } = (await openEndpoint(app.em(), endpointId))!;
  return BigInt(position) < BigInt(event.no);
}

it('events that are being delivered when a replay is asked for are delivered once more', async () => {
  const opened = await openNewEndpoint();
  const [first, second] = [await trackEvent(), await trackEvent()];
  const from = { eventId: first.id, retentionDays: 0 };
  for (const last of [first, second]) {
    const endpoint = (await openEndpoint(app.em(), opened.id))!;
    await replay(app.em(), app.project.id, opened.id, from);
    await recordDeliveries(app.em(), endpoint, { records: [], verdict: 'accepted', reached: last.no });
    expect(await isBehind(opened.id, first)).toBe(true);
  }
  const again = (await openEndpoint(app.em(), opened.id))!;
  await recordDeliveries(app.em(), again, { records: [], verdict: 'accepted', reached: second.no });
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
    const results = recordDeliveries(app.em(), endpoint, { records: [], verdict: 'accepted', reached: event.no });
    await untilBlocked(() => app.em());
    return { recording: results };
  });
  await recording;
  expect(await isBehind(opened.id, event)).toBe(true);
});
