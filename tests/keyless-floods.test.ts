import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.ts';
import { startHostileApi, type HostileApi } from './support/hostile-api.ts';

/** Requests that one address may send without a key, in a second and at once. */
const PER_SECOND = 20;
const FLOOD = 10 * PER_SECOND;
const PROXY_HOP = '198.51.100.7';

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi({
    API_KEYLESS_RATE_PER_SECOND: PER_SECOND,
    API_PROXY_SOURCES: ['127.0.0.1/32'],
    API_RATE_LIMIT_PER_MINUTE: 300,
  });
});
afterAll(() => app.stop());

interface Answer {
  status: number;
  headers: Headers;
  body: string;
}

/** A request of a client behind a proxy; the test is the proxy. */
async function ask(client: string, init: RequestInit = {}, path = '/contacts'): Promise<Answer> {
  const headers = new Headers(init.headers);
  headers.set('X-Forwarded-For', `10.0.0.9, ${client}`);
  const response = await fetch(`${app.url}${path}`, { ...init, headers });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

function askOften(client: string, count: number, init: RequestInit = {}): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, () => ask(client, init)));
}

const statusesIn = (answers: Answer[]) => answers.map(({ status }) => status);

async function statusesOf(client: string, count: number, init: RequestInit = {}): Promise<number[]> {
  return statusesIn(await askOften(client, count, init));
}

const countOf = (statuses: number[], status: number) => statuses.filter((each) => each === status).length;

describe('requests without a valid key', () => {
  it('get 401 up to the limit of their address, then 429 in the envelope and a closed connection, then 401 again', async () => {
    const client = '203.0.113.1';
    const answers = await askOften(client, FLOOD);
    const statuses = statusesIn(answers);
    expect(countOf(statuses, 401)).toBeGreaterThanOrEqual(PER_SECOND);
    expect(countOf(statuses, 429)).toBeGreaterThan(FLOOD / 4);
    expect(statuses).toHaveLength(countOf(statuses, 401) + countOf(statuses, 429));

    const refused = answers.find(({ status }) => status === 429);
    expect([...(refused?.headers ?? [])]).toEqual(
      expect.arrayContaining([
        ['retry-after', '1'],
        ['connection', 'close'],
      ]),
    );
    const requestId = refused?.headers.get('x-request-id');
    expect(JSON.parse(refused?.body ?? '')).toMatchObject({
      success: false,
      error: { code: 'RATE_LIMIT_EXCEEDED', statusCode: 429, requestId, details: { retryAfter: 1 } },
    });
    await eventually(async () => (await ask(client)).status === 401);
  });

  it('of one address do not affect those of others', async () => {
    await statusesOf('203.0.113.2', FLOOD);
    expect(await statusesOf('203.0.113.3', 5)).toEqual(Array(5).fill(401));
    expect(await statusesOf('2001:db8:1::7', 5)).toEqual(Array(5).fill(401));
  });

  it('count for a whole IPv6 network, because its customer may choose addresses', async () => {
    const flood = Array.from({ length: FLOOD }, (_, n) => ask(`2001:db8:2:3::${n.toString(16)}`));
    const statuses = statusesIn(await Promise.all(flood));
    expect(countOf(statuses, 429)).toBeGreaterThan(FLOOD / 4);
  });

  it('count more with a body to parse, with or without a Content-Length', async () => {
    const body = `[${'0,'.repeat(30_000)}0]`;
    const headers = { 'content-type': 'application/json' };
    const long = await statusesOf('203.0.113.4', PER_SECOND, { method: 'POST', headers, body });
    expect(countOf(long, 429)).toBeGreaterThan(PER_SECOND / 2);
    const chunked = Array.from({ length: PER_SECOND }, () =>
      ask('203.0.113.5', { method: 'POST', headers, body: new Blob([body]).stream(), duplex: 'half' }),
    );
    expect(countOf(statusesIn(await Promise.all(chunked)), 429)).toBeGreaterThan(PER_SECOND / 2);
  });

  it('are not distinguished by an X-Forwarded-For of their own', async () => {
    const flood = Array.from({ length: FLOOD }, (_, n) => ask(`192.0.2.${n % 250}, ${PROXY_HOP}`));
    const statuses = statusesIn(await Promise.all(flood));
    expect(countOf(statuses, 429)).toBeGreaterThan(FLOOD / 4);
  });

  it('do not prevent the health check of a balancer', async () => {
    const client = '203.0.113.6';
    await statusesOf(client, FLOOD);
    expect((await ask(client, {}, '/health')).status).toBe(200);
    expect((await ask(client, {}, '/ready')).status).toBe(200);
  });
});

describe('a caller with a key', () => {
  const authorized = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

  it('is served while a flood without a key comes from the same address', async () => {
    const client = '203.0.113.7';
    const caller = authorized(app.neighbour.keys.secretKey);
    expect((await ask(client, caller)).status).toBe(200);
    expect(countOf(await statusesOf(client, FLOOD), 429)).toBeGreaterThan(0);
    expect(await statusesOf(client, 20, caller)).toEqual(Array(20).fill(200));
  });

  it('does not use up the allowance of its address', async () => {
    const client = '203.0.113.8';
    const caller = authorized(app.neighbour.keys.secretKey);
    expect(await statusesOf(client, 5 * PER_SECOND, caller)).toEqual(Array(5 * PER_SECOND).fill(200));
    expect(await statusesOf(client, PER_SECOND / 2)).toEqual(Array(PER_SECOND / 2).fill(401));
  });

  it('far beyond its own limit is refused as cheaply as a stranger, and other projects are not', async () => {
    const client = '203.0.113.9';
    const caller = authorized(app.attacker.keys.secretKey);
    // In parts, because a project may have only a few requests waiting at a time.
    for (let part = 0; part < 10; part++) expect(await statusesOf(client, 30, caller)).toEqual(Array(30).fill(200));
    expect(new Set(await statusesOf(client, 5 * PER_SECOND, caller))).toEqual(new Set([429]));
    const answers = await askOften(client, FLOOD, caller);
    expect(new Set(statusesIn(answers))).toEqual(new Set([429]));
    expect(answers.filter(({ headers }) => headers.get('connection') === 'close').length).toBeGreaterThan(FLOOD / 4);
    expect(await statusesOf(client, 5, authorized(app.neighbour.keys.secretKey))).toEqual(Array(5).fill(200));
  });
});
