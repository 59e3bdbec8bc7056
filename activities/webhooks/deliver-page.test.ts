import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../../shared/database/sql.ts';
import { openEndpoint, wakeEndpoints, type OpenEndpoint } from '../../shared/domain/webhooks/delivery-state.ts';
import { TEST_SOURCE } from '../../shared/domain/webhooks/hook-events.ts';
import { boolean, number, text } from '../../shared/database/tables.ts';
import { WebhookUnreachableError } from '../../shared/platform/webhook/webhook-client.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { eventually } from '../../tests/support/eventually.ts';
import type { ActivityDeps } from '../deps.ts';
import { createPageDelivery } from './deliver-page.ts';
import { createEndpointTurns } from './endpoint-turn.ts';

const PAGE = { rows: 50, parked: 0 };
const REFUSAL = {
  statusCode: 500,
  url: '',
  contentType: null,
  body: '',
  isTruncated: false,
  retryAfterMs: null,
};
const ANSWER = { ...REFUSAL, statusCode: 204 };

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function createEndpoint(settings: object = {}): Promise<string> {
  const body = { url: 'https://203.0.114.9/hook', events: ['step'], ...settings };
  return (await app.api('POST', '/webhooks', { body })).body.id;
}

async function trackStep(email: string): Promise<void> {
  await app.api('POST', '/v1/track', { key: 'public', body: { email, event: 'step' } });
  await wakeEndpoints(app.em());
}

const open = async (id: string): Promise<OpenEndpoint> => (await openEndpoint(app.em(), id))!;
const deliver = () => createPageDelivery({ orm: app.database.orm, config: app.config } as unknown as ActivityDeps);

it.each([1, 10])('an endpoint whose turn ends before it is called has not failed, with batches of %s', async (size) => {
  const id = await createEndpoint({ batchSize: size });
  await trackStep('ada@example.com');
  const options = { send: () => Promise.reject(new Error('not to be called')), isOver: () => true };
  expect(await deliver()(await open(id), PAGE, options)).toMatchObject({ sent: 0, hasFailed: false });
  expect(await open(id)).toMatchObject({ failures: 0, failingSince: null });
  const { sent } = await deliver()(await open(id), PAGE, { send: async () => ANSWER, isOver: () => false });
  expect(sent).toBe(1);
});

it('events that wait behind others do not prove that an endpoint accepts events', async () => {
  const id = await createEndpoint();
  for (const email of ['good@example.com', 'bad@example.com']) await trackStep(email);
  const refuseBad = async ({ events }: { events: { contactEmail: string | null }[] }) =>
    events[0]?.contactEmail === 'bad@example.com' ? REFUSAL : ANSWER;
  await deliver()(await open(id), PAGE, { send: refuseBad, isOver: () => false });
  await query(
    app.em(),
    sql`update webhook_endpoint set failures = 9, failing_since = now() - interval '4 days' where id = ${id}`,
  );
  await trackStep('bad@example.com');
  const before = await open(id);
  await deliver()(before, { ...PAGE, parked: 1 }, { send: async () => REFUSAL, isOver: () => false });
  const after = await open(id);
  expect(after).toMatchObject({ failures: 9, failingSince: before.failingSince });
  expect(after.position).not.toBe(before.position);
});

it('an endpoint that refuses many events, and accepts others behind them, gets these after some failures', async () => {
  const id = await createEndpoint();
  const emails = Array.from({ length: 40 }, (_, index) => `${index < 30 ? 'bad' : 'good'}-${index}@example.com`);
  for (const email of emails) await trackStep(email);
  const accepted = new Set<string>();
  const send = async ({ events: [event] }: { events: { contactEmail: string | null }[] }) => {
    if (event?.contactEmail?.startsWith('bad')) return REFUSAL;
    accepted.add(event?.contactEmail ?? '');
    return ANSWER;
  };
  expect(await deliver()(await open(id), PAGE, { send, isOver: () => false })).toMatchObject({ hasFailed: true });
  await eventually(async () => {
    await deliver()(await open(id), PAGE, { send, isOver: () => false });
    return accepted.size > 0;
  });
  expect(await open(id)).toMatchObject({ failures: 0, failingSince: null });
  const [row] = await query(app.em(), sql`select count(*)::int from webhook_delivery where endpoint_id = ${id}`, {
    count: number,
  });
  expect(row?.count).toBe(emails.length);
});

it('a server that refuses all events for as long as one is tried gets those behind them, and none is given up', async () => {
  const id = await createEndpoint();
  // More than are tried before a server counts as down.
  const refused = [...Array.from({ length: 20 }, (_, index) => `bad-${index}@example.com`), 'bad-1@example.com'];
  for (const email of refused) await trackStep(email);
  const pauses = app.config.WEBHOOK_RETRY_SECONDS.length;
  const states = () =>
    query(
      app.em(),
      sql`select status, coalesce(retry_at > now(), false) as waits from webhook_delivery where endpoint_id = ${id}`,
      {
        status: text,
        waits: boolean,
      },
    );
  await query(app.em(), sql`update webhook_endpoint set failures = ${pauses - 1} where id = ${id}`);
  const refuseAll = { send: async () => REFUSAL, isOver: () => false };
  const before = await open(id);
  await deliver()(before, PAGE, refuseAll);
  expect((await open(id)).position).toBe(before.position);
  const unreachable = { send: () => Promise.reject(new WebhookUnreachableError('no answer')), isOver: () => false };
  await deliver()(await open(id), PAGE, unreachable);
  expect((await open(id)).position).toBe(before.position);

  expect(await deliver()(await open(id), PAGE, refuseAll)).toMatchObject({ hasFailed: true });
  expect(await states()).toEqual(refused.map(() => ({ status: 'RETRYING', waits: true })));
  for (const email of ['bad-1@example.com', 'good@example.com']) await trackStep(email);
  const sent: (string | null | undefined)[] = [];
  const send = async ({ events: [event] }: { events: { contactEmail: string | null }[] }) => {
    sent.push(event?.contactEmail);
    return ANSWER;
  };
  await deliver()(await open(id), { ...PAGE, parked: 5_000 }, { send, isOver: () => false });
  // A later event of a contact waits behind the earlier ones.
  expect(sent).toEqual(['good@example.com']);
  expect(await open(id)).toMatchObject({ failures: 0, failingSince: null });
  expect((await states()).filter(({ status }) => status === 'FAILED')).toEqual([]);
});

it('an event that is never accepted delays no later one by its own pauses', async () => {
  const id = await createEndpoint();
  const taken: (string | null | undefined)[] = [];
  const turn = () =>
    createEndpointTurns({ orm: app.database.orm, config: app.config } as unknown as ActivityDeps)({
      endpointId: id,
      signal: new AbortController().signal,
      advance: () => undefined,
      sendTo:
        () =>
        async ({ events: [event] }) => {
          taken.push(event?.contactEmail);
          return event?.contactEmail === 'bad@example.com' ? REFUSAL : ANSWER;
        },
    });
  await trackStep('bad@example.com');
  // Every pause passes, down to the longest one.
  for (let n = 0; n <= app.config.WEBHOOK_RETRY_SECONDS.length; n++) {
    await query(app.em(), sql`update webhook_endpoint set retry_at = now() where id = ${id} and retry_at > now()`);
    await query(app.em(), sql`update webhook_delivery set retry_at = now() where endpoint_id = ${id}`);
    await turn();
  }
  await query(app.em(), sql`update webhook_endpoint set retry_at = retry_at - interval '1 minute' where id = ${id}`);
  await trackStep('good@example.com');
  await turn();
  expect(taken.filter((email) => email === 'good@example.com')).toHaveLength(1);
  expect(await open(id)).toMatchObject({ failures: 0, failingSince: null });
});

describe('an endpoint with parked events that accepts events again', () => {
  /** An endpoint with so many parked events without a contact, each of which was refused and waits for an hour. */
  async function createParked(count: number): Promise<string> {
    const id = await createEndpoint();
    await query(
      app.em(),
      sql`
        insert into webhook_delivery (id, endpoint_id, event_at, source, event_id, event_name, status, attempts, retry_at)
        select everpost_uuid_v7(), ${id}, now(), ${TEST_SOURCE}, everpost_uuid_v7(), 'webhook.test', 'RETRYING', 1,
          now() + interval '1 hour' from generate_series(1, ${count}::int)`,
    );
    return id;
  }

  const parkedOf = (id: string) =>
    query(
      app.em(),
      sql`
        select attempts, retry_at > now() + interval '50 minutes' as waits from webhook_delivery
        where endpoint_id = ${id} and status = 'RETRYING'`,
      { attempts: number, waits: boolean },
    );
  const turnOf = (endpointId: string, answers: (typeof REFUSAL)[]) =>
    createEndpointTurns({ orm: app.database.orm, config: app.config } as unknown as ActivityDeps)({
      endpointId,
      signal: new AbortController().signal,
      advance: () => undefined,
      sendTo: () => async () => answers.shift() ?? REFUSAL,
    });
  const letBeDue = (id: string, count: number) =>
    query(
      app.em(),
      sql`update webhook_delivery set retry_at = now() where id in (
        select id from webhook_delivery where endpoint_id = ${id} and retry_at is not null limit ${count})`,
    );
  const accepted = (count: number) => Array<typeof ANSWER>(count).fill(ANSWER);

  it('gets them at once, and what it refuses then has as many attempts left as before', async () => {
    const id = await createParked(300);
    expect(await turnOf(id, accepted(300))).toMatchObject({ kind: 'idle' });
    expect(await parkedOf(id)).toHaveLength(300);
    await letBeDue(id, 1);
    await turnOf(id, accepted(250));
    const left = await parkedOf(id);
    expect(left).toHaveLength(50);
    expect(left.every(({ attempts }) => attempts === 1)).toBe(true);
  });

  it('gets no more than is due while it refuses some of it', async () => {
    const id = await createParked(50);
    await letBeDue(id, 2);
    await turnOf(id, accepted(1));
    const left = await parkedOf(id);
    expect([left.length, left.filter(({ waits }) => waits).length]).toEqual([49, 48]);
  });

  it('is asked with one of them while they keep new events waiting', async () => {
    const id = await createParked(2_000);
    await trackStep('new@example.com');
    const { position } = await open(id);
    await turnOf(id, []);
    const before = await parkedOf(id);
    expect([before.length, before.every(({ attempts, waits }) => attempts === 1 && waits)]).toEqual([2_000, true]);
    expect((await open(id)).position).toBe(position);
    await turnOf(id, accepted(3_000));
    expect(await parkedOf(id)).toEqual([]);
    expect((await open(id)).position).not.toBe(position);
  });

  it('gets them when its owner says that it works', async () => {
    const id = await createParked(5);
    const stranger = await app.createProject();
    await stranger.api('PATCH', `/webhooks/${id}`, { body: { enabled: true } });
    expect((await parkedOf(id)).every(({ waits }) => waits)).toBe(true);
    await app.api('PATCH', `/webhooks/${id}`, { body: { enabled: true } });
    expect((await parkedOf(id)).some(({ waits }) => waits)).toBe(false);
  });
});
