import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createProject, type ProjectKeys } from '../../shared/domain/projects/projects.ts';
import { redactText } from '../../shared/pure/redact.ts';
import { callsTo, startTestApi, type TestApi } from '../../tests/support/api.ts';
import { createEndpoints } from '../routes.ts';
import { keyKindOf } from './endpoint.ts';

const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';

let app: TestApi;
/** Keys that were made with this mark, with that of another installation, and without one. */
const keys: Record<string, ProjectKeys> = {};
beforeAll(async () => {
  app = await startTestApi({ config: { KEY_MARK: 'eu1', API_RATE_LIMIT_PER_MINUTE: 100_000 } });
  for (const mark of ['eu1', 'us2', undefined]) {
    keys[mark ?? 'none'] = (await createProject(app.em(), 'Marked', mark)).keys;
  }
});
afterAll(() => app.stop());

describe.each(['eu1', 'us2', 'none'])('keys with the mark %s', (mark) => {
  it('are accepted by every endpoint', async () => {
    const { publicKey, secretKey } = keys[mark]!;
    const api = callsTo(app.url, keys[mark]!);
    for (const definition of createEndpoints(app.config)) {
      const { method, path } = definition;
      if (path.endsWith('/regenerate-keys')) continue;
      const key = keyKindOf(definition) === 'secret' ? secretKey : publicKey;
      const reply = await api(method, path.replaceAll(/:\w+/g, UNKNOWN_ID), {
        key,
        ...(method !== 'get' && { body: {} }),
      });
      expect([method, path, reply.status]).not.toEqual([method, path, 401]);
    }
    expect((await api('GET', '/contacts')).status).toBe(200);
    const event = { email: 'ada@mail.test', event: 'began' };
    expect((await api('POST', '/v1/track', { key: 'public', body: event })).status).toBe(200);
    expect((await api('POST', '/events/track', { body: event })).status).toBe(201);
  });

  it('say what is wrong when they are of the other kind', async () => {
    const { body } = await callsTo(app.url, keys[mark]!)('GET', '/contacts', { key: 'public' });
    expect(body.error.message).toBe('A public key may only call POST /v1/track and POST /v1/subscribe');
  });

  it('do not stay in texts for logs', () => {
    const { publicKey, secretKey } = keys[mark]!;
    expect(redactText(`Bearer ${secretKey} and ${publicKey}`)).toBe('Bearer [key] and [key]');
  });
});

it('new keys of a project get the mark', async () => {
  const { project, api } = await app.createProject();
  const { body } = await api('POST', `/users/@me/projects/${project.id}/regenerate-keys`);
  expect([body.public, body.secret]).toEqual([
    expect.stringMatching(/^pk_eu1_[0-9a-f]{64}$/),
    expect.stringMatching(/^sk_eu1_[0-9a-f]{64}$/),
  ]);
  expect((await api('GET', '/contacts')).status).toBe(401);
  expect((await api('GET', '/contacts', { key: body.secret })).status).toBe(200);
});

it.each(['sk_EU1_', 'sk__', 'sk_overninth_', 'sk_eu1_us2_', 'sk_eu-1_'])(
  'a key that begins with %s is not valid',
  async (beginning) => {
    const { status, body } = await app.api('GET', '/contacts', { key: beginning + 'f'.repeat(64) });
    expect([status, body.error.message]).toEqual([401, 'The API key is not valid']);
  },
);
