import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

it('a browser on any site may track events with the public key', async () => {
  const preflight = await api.api('OPTIONS', '/v1/track', { key: null, headers: { origin: 'https://shop.test' } });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
  expect(preflight.headers.get('access-control-allow-headers')).toMatch(/Authorization.*Traceparent/);

  const tracked = await api.api('POST', '/v1/track', {
    key: 'public',
    body: { email: 'a@mail.test', event: 'visit', x: 1 },
  });
  expect(tracked.status).toBe(200);
  expect(tracked.headers.get('everpost-ignored-fields')).toBe('x');
  expect(tracked.headers.get('access-control-expose-headers')).toContain('Everpost-Ignored-Fields');
  expect(tracked.headers.get('access-control-allow-origin')).toBe('*');
  const refused = await api.api('POST', '/v1/track', { key: null, body: {} });
  expect(refused.headers.get('access-control-allow-origin')).toBe('*');
});

it('endpoints of the secret key are closed to browsers of other sites', async () => {
  const preflight = await api.api('OPTIONS', '/contacts', { key: null, headers: { origin: 'https://shop.test' } });
  expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
  const { headers } = await api.api('GET', '/contacts');
  expect(headers.get('access-control-allow-origin')).toBeNull();
});
