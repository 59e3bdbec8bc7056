import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CampaignEntity } from '../../shared/domain/campaigns/campaign.entity.ts';
import { SegmentEntity } from '../../shared/domain/segments/segment.entity.ts';
import { updateProject } from '../../shared/domain/lifecycle/update-project.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { testConfig } from '../../tests/support/config.ts';
import { createEndpoints } from '../routes.ts';
import { keyKindOf, type Endpoint } from './endpoint.ts';

const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';
const UNKNOWN_KEY = 'f'.repeat(64);
const PREFIXES = { secret: 'sk_', public: 'pk_' } as const;

const endpoints = createEndpoints(testConfig());
const table = endpoints.map(
  (definition) => [`${definition.method.toUpperCase()} ${definition.path}`, definition] as const,
);
const withBody = table.filter(([, definition]) => definition.method !== 'get' && !definition.multipart);
const withId = table.filter(([, definition]) => /:(id|contactId)\b/.test(definition.path));

function pathOf(definition: Endpoint, id = UNKNOWN_ID): string {
  return definition.path.replaceAll(/:(\w+)/g, (_, name: string) => (name === 'eventName' ? 'some-event' : id));
}

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe.each(table)('%s', (_name, definition) => {
  const right = keyKindOf(definition);
  const wrong = right === 'secret' ? 'public' : 'secret';
  const call = (key: string | null, headers: Record<string, string> = {}) =>
    app.api(definition.method, pathOf(definition), { key, headers, ...(definition.method !== 'get' && { body: {} }) });

  // How a key is read and counted does not depend on the endpoint.
  const isFirst = endpoints.find((each) => keyKindOf(each) === right) === definition;
  const requests: [string, () => ReturnType<typeof call>][] = [
    ['no key', () => call(null)],
    ['an unknown key', () => call(`${PREFIXES[right]}${UNKNOWN_KEY}`)],
    ['the other kind of key', () => call(wrong)],
    ['an empty header', () => call(null, { authorization: '' })],
    ['a scheme without a key', () => call(null, { authorization: 'Bearer' })],
    ['another scheme', () => call(null, { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` })],
    ['a bare key', () => call(null, { authorization: app.keys.secretKey })],
    ['a cut key', () => call(right === 'secret' ? app.keys.secretKey.slice(0, -1) : app.keys.publicKey.slice(0, -1))],
    ['the stored digest as key', () => call(`${PREFIXES[right]}${app.project.secretKeyHash}`)],
    ['an unknown key of the other kind', () => call(`${PREFIXES[wrong]}${UNKNOWN_KEY}`)],
  ];
  it.each(requests.slice(0, isFirst ? requests.length : 3))('refuses %s', async (_case, request) => {
    const reply = await request();
    expect(reply.status).toBe(401);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    expect(reply.headers.get('strict-transport-security')).toMatch(/^max-age=\d+$/);
    expect(reply.body).toEqual({
      success: false,
      error: {
        code: 'INVALID_API_KEY',
        message: expect.any(String),
        statusCode: 401,
        requestId: reply.headers.get('x-request-id'),
        suggestion: expect.any(String),
      },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
  });

  if (!isFirst) return;
  it('takes the scheme in any case and counts the request', async () => {
    const { keys, api } = await app.createProject();
    const key = right === 'secret' ? keys.secretKey : keys.publicKey;
    const reply = await api(definition.method, pathOf(definition), {
      key: null,
      headers: { authorization: `bearer ${key}` },
    });
    expect(reply.status).not.toBe(401);
    expect(reply.status).toBeLessThan(500);
    expect(reply.headers.get('ratelimit-limit')).toBe('1000');
    expect(reply.headers.get('ratelimit-remaining')).toBe('999');
    expect(Number(reply.headers.get('ratelimit-reset'))).toBeGreaterThanOrEqual(1);
    expect(Number(reply.headers.get('ratelimit-reset'))).toBeLessThanOrEqual(60);
    expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('a disabled project', () => {
  let owner: TestProject;
  beforeAll(async () => {
    owner = await app.createProject();
    await updateProject(app.em(), owner.project.id, { disabled: true });
  });

  it.each(table)('is refused by %s', async (_name, definition) => {
    const reply = await owner.api(definition.method, pathOf(definition), { key: keyKindOf(definition) });
    expect([reply.status, reply.body.error.code]).toEqual([403, 'PROJECT_DISABLED']);
    expect(reply.headers.get('ratelimit-limit')).toBe('1000');
  });

  it('is accepted again when it is enabled', async () => {
    await updateProject(app.em(), owner.project.id, { disabled: false });
    expect((await owner.api('GET', '/contacts')).status).toBe(200);
  });
});

describe.each(withBody)('the body of %s', (_name, definition) => {
  it('is refused before the key is looked at when it is not JSON', async () => {
    const malformed = await app.api(definition.method, pathOf(definition), { key: null, raw: '{"a":' });
    expect([malformed.status, malformed.body.error.code]).toEqual([400, 'BAD_REQUEST']);
    const otherType = await app.api(definition.method, pathOf(definition), {
      key: null,
      raw: 'a=1',
      // Plain HTML forms send the body of one endpoint, and their key stands in the URL.
      headers: {
        'content-type': definition.path === '/v1/subscribe' ? 'text/plain' : 'application/x-www-form-urlencoded',
      },
    });
    expect([otherType.status, otherType.body.error.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it.each(['null', '[]'])('never leads to a 5xx when it is %s', async (raw) => {
    const reply = await app.api(definition.method, pathOf(definition), { key: keyKindOf(definition), raw });
    expect(reply.status).toBeLessThan(500);
  });
});

describe('an id', () => {
  const acceptsNothing = withId.filter(([, definition]) => !definition.body || definition.body.safeParse({}).success);

  it.each(acceptsNothing)('that is unknown is a 404: %s', async (_name, definition) => {
    const reply = await app.api(definition.method, pathOf(definition), { key: keyKindOf(definition) });
    expect(reply.status).toBe(404);
    expect(reply.body.error.code).toMatch(/_NOT_FOUND$/);
  });

  it.each(withId)('that is malformed is refused: %s', async (_name, definition) => {
    const isCampaign = definition.path.startsWith('/campaigns');
    for (const id of [`${UNKNOWN_ID}x`, '%00']) {
      const reply = await app.api(definition.method, pathOf(definition, id), { key: keyKindOf(definition) });
      expect([id, reply.status]).toEqual([id, isCampaign ? 422 : 404]);
    }
  });

  it('of another project is a 404, and nothing happens to the record', async () => {
    const contact = await app.api('POST', '/contacts', { body: { email: 'mine@example.com' } });
    const template = await app.api('POST', '/templates', {
      body: { name: 'Mine', subject: 'S', body: 'B', from: 'me@example.com' },
    });
    const em = app.em();
    const campaign = em.create(CampaignEntity, {
      projectId: app.project.id,
      name: 'Mine',
      subject: 'S',
      body: 'B',
      from: 'me@example.com',
      audienceType: 'ALL',
    });
    const segment = em.create(SegmentEntity, { projectId: app.project.id, name: 'Mine', type: 'STATIC' });
    await em.flush();
    const workflow = await app.api('POST', '/workflows', { body: { name: 'Mine', eventName: 'signup' } });
    const domain = await app.api('POST', '/domains', { body: { domain: 'mine.example' } });
    const sent = await app.api('POST', '/v1/send', {
      body: { to: 'mine@example.com', subject: 'S', body: 'B', from: 'hello@example.com' },
    });
    const topic = await app.api('POST', '/topics', {
      body: { key: 'mine', name: 'Mine', defaultSubscription: 'opt_in' },
    });
    const webhook = await app.api('POST', '/webhooks', { body: { url: 'https://203.0.114.9/' } });
    const key = await app.api('POST', '/keys', { body: { name: 'Mine', role: 'read' } });
    const records = {
      emails: sent.body.data.emails[0].email,
      contacts: contact.body.id,
      templates: template.body.id,
      topics: topic.body.id,
      campaigns: campaign.id,
      segments: segment.id,
      domains: domain.body.id,
      workflows: workflow.body.id,
      users: app.project.id,
      webhooks: webhook.body.id,
      keys: key.body.id,
      events: contact.body.id,
    };
    const stranger = await app.createProject();
    for (const [name, definition] of acceptsNothing) {
      const id: unknown = Reflect.get(records, definition.path.split('/')[1] ?? '');
      if (typeof id !== 'string') throw new Error(`Say which record ${name} is about`);
      const reply = await stranger.api(definition.method, pathOf(definition, id), { key: keyKindOf(definition) });
      expect([name, reply.status]).toEqual([name, 404]);
    }
    expect((await app.api('GET', `/contacts/${contact.body.id}`)).status).toBe(200);
    expect((await app.api('GET', `/templates/${template.body.id}`)).body).toEqual(template.body);
    expect(await app.em().count(CampaignEntity, { id: campaign.id, status: 'DRAFT' })).toBe(1);
    expect(await app.em().count(SegmentEntity, { id: segment.id, name: 'Mine' })).toBe(1);
    expect((await app.api('GET', `/workflows/${workflow.body.id}`)).status).toBe(200);
  });
});
