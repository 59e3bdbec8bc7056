import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { ContactEntity } from '../shared/domain/contacts/contact.entity.ts';
import { EmailEntity } from './support/entities/email.entity.ts';
import { createLinkSigner, encodeClickTarget, type EmailLinks } from '../shared/sending/compose/links.ts';
import { testConfig } from './support/config.ts';
import { eventually } from './support/eventually.ts';
import { startHostileApi, type HostileApi } from './support/hostile-api.ts';
import { openRaw, statusOf } from './support/raw-http.ts';

/** Requests that one address may send without a key, in a second and at once. */
const PER_SECOND = 6;
/** So many that they exceed it also on a slow machine. */
const FLOOD = 20 * PER_SECOND;
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
  const send = () => fetch(`${app.url}${path}`, { ...init, headers });
  // The server may end a kept connection just when the next request goes over it.
  const response = await send().catch(send);
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

  it('does not use up the units of its address', async () => {
    const client = '203.0.113.8';
    const caller = authorized(app.neighbour.keys.secretKey);
    expect(await statusesOf(client, 5 * PER_SECOND, caller)).toEqual(Array(5 * PER_SECOND).fill(200));
    expect(await statusesOf(client, PER_SECOND / 2)).toEqual(Array(PER_SECOND / 2).fill(401));
  });

  it('far beyond its own limit is refused as cheaply as a guest, and other projects are not', async () => {
    const client = '203.0.113.9';
    const caller = authorized(app.attacker.keys.secretKey);
    const neighbour = authorized(app.neighbour.keys.secretKey);
    // The minute of the rate limit must not end during the test.
    await eventually(async () => Number((await ask(client, neighbour)).headers.get('ratelimit-reset')) > 15);
    // In parts, because a project may have only a few requests waiting at a time.
    for (let part = 0; part < 10; part++) expect(await statusesOf(client, 30, caller)).toEqual(Array(30).fill(200));
    expect(new Set(await statusesOf(client, 5 * PER_SECOND, caller))).toEqual(new Set([429]));
    const answers = await askOften(client, FLOOD, caller);
    expect(new Set(statusesIn(answers))).toEqual(new Set([429]));
    expect(answers.filter(({ headers }) => headers.get('connection') === 'close').length).toBeGreaterThan(FLOOD / 4);
    expect(await statusesOf(client, 5, neighbour)).toEqual(Array(5).fill(200));
  });
});

/** An email to a subscribed contact, and its links. */
async function sentEmail({ neighbour, database, url }: HostileApi): Promise<{ contactId: string; links: EmailLinks }> {
  const em = database.orm.em.fork();
  const [contactId, emailId] = [uuidV7(), uuidV7()];
  const email = `${contactId}@mail.test`;
  const { id: projectId } = neighbour.project;
  em.create(ContactEntity, { id: contactId, projectId, email, subscribed: true, data: {} });
  const sent = { status: 'SENT', createdAt: new Date() } as const;
  em.create(EmailEntity, { id: emailId, projectId, contactId, toAddress: email, ...sent });
  await em.flush();
  const signer = createLinkSigner({ appSecret: testConfig({}).APP_SECRET, publicUrl: url });
  return { contactId, links: signer.recipientUrls({ contactId, emailId, projectId }) };
}

/** Keeps `width` requests under way until the work has ended, and takes care that some were refused before it began. */
async function duringFlood(width: number, request: (n: number) => Promise<boolean>, work: () => Promise<void>) {
  let [isOver, refused, started] = [false, 0, 0];
  const loops = Array.from({ length: width }, async () => {
    // A refusal closes its connection, perhaps while the next request is already on it.
    while (!isOver) if (await request(started++).catch(() => true)) refused += 1;
  });
  await eventually(() => Promise.resolve(refused > width));
  await work().finally(() => (isOver = true));
  await Promise.all(loops);
}

/** What a mail program and a browser do with the links of one email. @returns the statuses */
async function follow(links: EmailLinks, headers: Record<string, string>): Promise<Record<string, number>> {
  const oneClick = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) };
  const target = encodeClickTarget('https://shop.test/');
  const requests: [string, string, RequestInit][] = [
    ['manage', links.manageUrl, {}],
    ['page', `${links.unsubscribeUrl}?from=mail`, {}],
    ['one click', links.unsubscribeUrl, oneClick],
    ['back', links.subscribeUrl.replace('/subscribe/', '/Subscribe/'), { method: 'POST' }],
    ['one click again', `${links.unsubscribeUrl}/`, oneClick],
    ['open', links.openUrl, {}],
    ['head', links.openUrl, { method: 'HEAD' }],
    ['click', links.clickUrl(target), { redirect: 'manual' }],
  ];
  const statuses: Record<string, number> = {};
  for (const [name, url, init] of requests) {
    statuses[name] = (await fetch(url, { ...init, headers })).status;
  }
  return statuses;
}

const FOLLOWED = {
  manage: 200,
  page: 200,
  'one click': 200,
  back: 200,
  'one click again': 200,
  open: 200,
  head: 200,
  click: 302,
};

describe('those who follow a link in an email', () => {
  const hops = (client: string) => ({ 'X-Forwarded-For': `10.0.0.9, ${client}` });
  const body = `[${'0,'.repeat(30_000)}0]`;

  /** A request that costs 15 units, so that few of them a second use up those of all guests. */
  async function askMuch(client: string): Promise<boolean> {
    const headers = { 'content-type': 'application/json' };
    return (await ask(client, { method: 'POST', headers, body })).status === 429;
  }

  it('are served while floods come from their own address and from ten others', async () => {
    const { contactId, links } = await sentEmail(app);
    const bad = links.unsubscribeUrl.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const badOpen = links.openUrl.replace(/....gif$/, 'AAAA.gif');
    const flood = async (n: number) => {
      if (n % 2 === 0) return askMuch(`203.0.113.${100 + (n % 11)}`);
      const headers = hops(`203.0.113.${100 + (n % 11)}`);
      const response = await fetch(n % 4 === 1 ? bad : badOpen, { method: n % 3 === 0 ? 'GET' : 'POST', headers });
      await response.text();
      return response.status === 429;
    };
    await duringFlood(PER_SECOND, flood, async () => {
      for (const address of ['203.0.113.100', '203.0.113.99']) {
        expect(await follow(links, hops(address))).toEqual(FOLLOWED);
      }
    });
    const contact = await app.neighbour.api('GET', `/contacts/${contactId}`);
    expect(contact.body).toMatchObject({ subscribed: false });
  });

  it('again and again are counted like anybody', async () => {
    const { links } = await sentEmail(app);
    const other = await sentEmail(app);
    await duringFlood(
      PER_SECOND,
      (n) => askMuch(`203.0.113.${120 + (n % 11)}`),
      async () => {
        const open = async () => (await fetch(links.openUrl, { headers: hops('203.0.113.140') })).status;
        const statuses = await Promise.all(Array.from({ length: 50 }, open));
        expect(countOf(statuses, 200)).toBe(50);
        await eventually(async () => (await Promise.all(Array.from({ length: 20 }, open))).includes(429));
        expect(await follow(other.links, hops('203.0.113.140'))).toEqual(FOLLOWED);
      },
    );
  });
});

describe('behind a proxy that nobody named', () => {
  let unnamed: HostileApi;
  beforeAll(async () => {
    unnamed = await startHostileApi({ API_KEYLESS_RATE_PER_SECOND: PER_SECOND, API_CONNECTIONS_MAX: 1_000 });
  });
  afterAll(() => unnamed.stop());

  it('a flood that takes all connections of the address stops nobody who follows a link', async () => {
    const { links } = await sentEmail(unnamed);
    // 100 connections of one address may be open without a key.
    const flood = async () => {
      const { socket, ended } = await openRaw(unnamed.url);
      socket.write('GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.1\r\n\r\n');
      return statusOf(await ended) !== 404;
    };
    await duringFlood(130, flood, async () => {
      for (let turn = 0; turn < 5; turn++) {
        const headers = { 'X-Forwarded-For': '203.0.113.2', Connection: 'close' };
        expect(await follow(links, headers)).toEqual(FOLLOWED);
      }
    });
  });
});
