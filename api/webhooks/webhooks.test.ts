import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { sql } from '../../shared/database/sql.ts';
import { query } from '../../tests/support/rows.ts';
import { expectTooBig, startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { RETENTION_EVENTS_DAYS: 30 } });
});
afterAll(() => app.stop());

const URL = 'https://203.0.114.9/hook';

async function createWebhook(fields: object = {}): Promise<any> {
  const { status, body } = await app.api('POST', '/webhooks', { body: { url: URL, ...fields } });
  expect([status, body]).toEqual([201, expect.anything()]);
  return body;
}

describe('POST /webhooks', () => {
  it('creates an endpoint for all events, and shows its secret once', async () => {
    const { secret, ...webhook } = await createWebhook();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(webhook).toEqual({
      id: expect.any(String),
      url: URL,
      events: ['*'],
      description: null,
      enabled: true,
      batchSize: 1,
      status: 'active',
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
      retryAt: null,
      previousSecretExpiresAt: null,
      projectId: app.project.id,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    expect((await app.api('GET', `/webhooks/${webhook.id}`)).body).toEqual(webhook);
    const [row] = await query(app.em(), sql`select secret from webhook_endpoint where id = ${webhook.id}`);
    expect(row?.secret).toMatch(/^sealed:/);
    expect((await app.api('GET', '/webhooks')).body).toContainEqual(webhook);
  });

  it.each([
    ['a private address', { url: 'http://127.0.0.1/' }, 'url'],
    ['a private address in another form', { url: 'http://0x7f.1/' }, 'url'],
    ['the metadata of a cloud', { url: 'http://169.254.169.254/latest' }, 'url'],
    ['a name of this machine', { url: 'http://localhost:9/' }, 'url'],
    ['http on the public internet', { url: 'http://203.0.114.9/' }, 'url'],
    ['a port of another protocol', { url: 'https://203.0.114.9:6379/' }, 'url'],
    ['a name of the own network', { url: 'https://postgres/' }, 'url'],
    ['another scheme', { url: 'ftp://example.com/' }, 'url'],
    ['no URL', { url: 'nonsense' }, 'url'],
    ['credentials', { url: 'https://a:b@example.com/' }, 'url'],
    ['a long URL', { url: `https://example.com/${'x'.repeat(2_000)}` }, 'url'],
    ['no events', { events: [] }, 'events'],
    ['too many events', { events: Array(101).fill('a') }, 'events'],
    ['an empty event', { events: ['a', ''] }, 'events.1'],
    ['an event that does not exist', { events: ['email.sent', 'email.opend'] }, 'events.1'],
    ['a pattern of none', { events: ['email.foo*'] }, 'events.0'],
    ['batches that are too large', { batchSize: 101 }, 'batchSize'],
    ['batches of nothing', { batchSize: 0 }, 'batchSize'],
    ['a long description', { description: 'x'.repeat(501) }, 'description'],
  ])('refuses %s and names the field', async (_case, fields, field) => {
    const { status, body } = await app.api('POST', '/webhooks', { body: { url: URL, ...fields } });
    expect([status, body.error.code, body.error.errors[0].field]).toEqual([422, 'VALIDATION_ERROR', field]);
    expect(body.error.errors[0].message).toMatch(/\w/);
  });

  it('says of no host where it is, and of no name whether it exists', async () => {
    const messages = ['http://localhost/', 'http://nobody-has-this-name/', 'http://10.0.3.7/'].map(async (url) => {
      const { body } = await app.api('POST', '/webhooks', { body: { url } });
      return body.error.errors[0].message;
    });
    expect(new Set(await Promise.all(messages))).toEqual(
      new Set([
        expect.stringMatching(/^This URL may not be called: its host is not on the public internet \(see \w+\)$/),
      ]),
    );
  });

  it('takes an event name that begins like one of Everpost when the project has tracked it', async () => {
    expect((await app.api('POST', '/webhooks', { body: { url: URL, events: ['contact.created'] } })).status).toBe(422);
    await app.api('POST', '/v1/track', { key: 'public', body: { email: 'a@mail.test', event: 'contact.created' } });
    await createWebhook({ events: ['contact.created'] });
  });

  it('refuses one endpoint too many', async () => {
    const { api, project } = await app.createProject();
    await query(
      app.em(),
      sql`
        insert into webhook_endpoint (id, project_id, url, events, secret)
        select everpost_uuid_v7(), ${project.id}, ${URL}, '{*}', 's' from generate_series(1, 50)`,
    );
    expectTooBig(await api('POST', '/webhooks', { body: { url: URL } }), 'url');
  });
});

describe('PATCH /webhooks/:id', () => {
  it('changes what is given, with the same checks', async () => {
    const { id } = await createWebhook({ description: 'first' });
    const patched = await app.api('PATCH', `/webhooks/${id}`, {
      body: { events: ['order.*'], enabled: false, batchSize: 5, description: null },
    });
    expect(patched.body).toMatchObject({
      url: URL,
      events: ['order.*'],
      enabled: false,
      status: 'disabled',
      batchSize: 5,
      description: null,
    });
    const refused = await app.api('PATCH', `/webhooks/${id}`, { body: { url: 'http://10.0.0.1/' } });
    expect([refused.status, refused.body.error.errors[0].field]).toEqual([422, 'url']);
    expect((await app.api('PATCH', `/webhooks/${id}`, { body: { enabled: true } })).body).toMatchObject({
      status: 'active',
      events: ['order.*'],
    });
  });
});

describe('POST /webhooks/:id/rotate-secret', () => {
  const storedSecrets = (id: string) =>
    query(app.em(), sql`select previous_secret is not null as "hasPrevious" from webhook_endpoint where id = ${id}`);

  it('keeps the previous secret for a day, or ends it at once when the caller asks for that', async () => {
    const { id } = await createWebhook();
    const rotated = await app.api('POST', `/webhooks/${id}/rotate-secret`);
    const hoursLeft = (Date.parse(rotated.body.previousSecretExpiresAt) - Date.now()) / 3_600_000;
    expect([rotated.status, Math.round(hoursLeft)]).toEqual([200, 24]);
    expect(await storedSecrets(id)).toEqual([{ hasPrevious: true }]);
    const ended = await app.api('POST', `/webhooks/${id}/rotate-secret`, { body: { overlapHours: 0 } });
    expect(ended.status).toBe(200);
    expect(await storedSecrets(id)).toEqual([{ hasPrevious: false }]);
    expect((await app.api('GET', `/webhooks/${id}`)).body.previousSecretExpiresAt).toBeNull();
  });
});

describe('POST /webhooks/:id/replay', () => {
  it.each([
    ['further back than events are kept', { since: '2001-01-01' }, 'since'],
    ['a moment to come', { since: '2999-01-01' }, 'since'],
    ['nothing', {}, 'since'],
    ['both', { since: '2026-01-01', eventId: uuidV7() }, 'since'],
    ['an event that nobody knows', { eventId: uuidV7() }, 'eventId'],
    ['what is no event', { eventId: 'x' }, 'eventId'],
  ])('refuses %s and says why', async (_case, body, field) => {
    const { id } = await createWebhook();
    const reply = await app.api('POST', `/webhooks/${id}/replay`, { body });
    expect([reply.status, reply.body.error.errors[0].field]).toEqual([422, field]);
  });

  it('takes a moment within the retention of events', async () => {
    const { id } = await createWebhook();
    const since = new Date(Date.now() - 86_400_000).toISOString();
    const reply = await app.api('POST', `/webhooks/${id}/replay`, { body: { since } });
    expect([reply.status, reply.body]).toEqual([202, { from: since }]);
  });
});

describe('an endpoint that is disabled', () => {
  it('is sent no test event', async () => {
    const { id } = await createWebhook({ enabled: false });
    expect((await app.api('POST', `/webhooks/${id}/test`)).status).toBe(409);
  });
});

it('DELETE removes an endpoint with its log', async () => {
  const { id } = await createWebhook();
  await app.api('POST', `/webhooks/${id}/test`);
  expect((await app.api('GET', `/webhooks/${id}/deliveries`)).body.deliveries).toHaveLength(1);
  expect((await app.api('DELETE', `/webhooks/${id}`)).status).toBe(204);
  expect((await app.api('GET', `/webhooks/${id}`)).status).toBe(404);
  expect(await query(app.em(), sql`select 1 from webhook_delivery where endpoint_id = ${id}`)).toEqual([]);
});

it('a page of deliveries goes on after its cursor', async () => {
  const { id } = await createWebhook();
  for (let n = 0; n < 3; n++) await app.api('POST', `/webhooks/${id}/test`);
  const first = await app.api('GET', `/webhooks/${id}/deliveries?limit=2`);
  expect([first.body.deliveries.length, first.body.hasMore]).toEqual([2, true]);
  const second = await app.api('GET', `/webhooks/${id}/deliveries?limit=2&cursor=${first.body.cursor}`);
  expect([second.body.deliveries.length, second.body.hasMore, second.body.cursor]).toEqual([1, false, '']);
  expect((await app.api('GET', `/webhooks/${id}/deliveries?cursor=x`)).status).toBe(400);
});

describe('GET /webhooks/:id/deliveries', () => {
  it('lists the newest event first, in one status or in all, and each delivery once', async () => {
    const { id } = await createWebhook();
    await query(
      app.em(),
      sql`
        insert into webhook_delivery (id, endpoint_id, event_at, source, event_id, event_name, status, attempts, status_code, error, duration_ms)
        select everpost_uuid_v7(), ${id}, timestamptz '2026-01-01' + make_interval(mins => n / 4), 0, everpost_uuid_v7(), 'e.' || n,
          (array['FAILED', 'RETRYING', 'DELIVERED'])[n % 3 + 1], n, 503, 'down', n from generate_series(1, 30) n`,
    );
    const read = async (search: string) => {
      const seen: any[] = [];
      for (let cursor = '', hasMore = true; hasMore;) {
        const { status, body } = await app.api('GET', `/webhooks/${id}/deliveries?limit=4&cursor=${cursor}${search}`);
        expect(status).toBe(200);
        expect(body.deliveries.length).toBeLessThanOrEqual(4);
        seen.push(...body.deliveries);
        ({ cursor, hasMore } = body);
      }
      return seen;
    };
    const all = await read('');
    expect(new Set(all.map((delivery) => delivery.id)).size).toBe(30);
    const moments = all.map(({ recordedAt }) => recordedAt);
    expect(moments).toEqual([...moments].sort().reverse());
    for (const status of ['FAILED', 'RETRYING', 'DELIVERED']) {
      const some = await read(`&status=${status}`);
      expect(some).toEqual(all.filter((delivery) => delivery.status === status));
      expect(some).toHaveLength(10);
    }
  });

  it('is empty at first, knows its statuses, and is not there for others', async () => {
    const { id } = await createWebhook();
    const path = `/webhooks/${id}/deliveries`;
    expect((await app.api('GET', path)).body).toEqual({ deliveries: [], cursor: '', hasMore: false });
    expect((await app.api('GET', `${path}?status=LOST`)).status).toBe(422);
    for (const cursor of ['x', 'bm90IGEgY3Vyc29y'])
      expect((await app.api('GET', `${path}?cursor=${cursor}`)).status).toBe(400);
    const other = await app.createProject();
    for (const reply of [await other.api('GET', path), await app.api('GET', `/webhooks/${uuidV7()}/deliveries`)])
      expect([reply.status, reply.body.error.code]).toEqual([404, 'WEBHOOK_NOT_FOUND']);
    await app.api('DELETE', `/webhooks/${id}`);
    expect((await app.api('GET', path)).status).toBe(404);
  });
});

it('one delivery is shown with its event, as long as that is there', async () => {
  const { id } = await createWebhook();
  await app.api('POST', `/webhooks/${id}/test`);
  const [delivery] = (await app.api('GET', `/webhooks/${id}/deliveries`)).body.deliveries;
  const one = (webhook: string, deliveryId: string) => app.api('GET', `/webhooks/${webhook}/deliveries/${deliveryId}`);
  const found = await one(id, delivery.id);
  expect(found.body).toEqual({
    ...delivery,
    messageId: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
    payload: expect.objectContaining({ type: 'webhook.test' }),
  });
  await query(app.em(), sql`update webhook_delivery set source = 0, event_count = 2 where id = ${delivery.id}`);
  expect((await one(id, delivery.id)).body).toMatchObject({ messageId: null, payload: null });
  for (const unknown of [id, 'x']) expect((await one(id, unknown)).status).toBe(404);
  expect((await one((await createWebhook()).id, delivery.id)).status).toBe(404);
});
