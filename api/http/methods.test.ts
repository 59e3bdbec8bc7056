import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { testConfig } from '../../tests/support/config.ts';
import { createEndpoints } from '../routes.ts';

const ID = '01890000-0000-7000-8000-000000000000';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const endpoints = createEndpoints(testConfig());
const paths = [...new Set(endpoints.map((definition) => definition.path))];

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const declared = (path: string) =>
  endpoints.filter((definition) => definition.path === path).map(({ method }) => method.toUpperCase());

describe.each(paths)('%s', (path) => {
  it('answers 405 with what is allowed, with a key and without', async () => {
    const url = path.replaceAll(/:\w+/g, (name) => (name === ':eventName' ? 'some-event' : ID));
    // DELETE /events/:eventName takes any name, those of other paths as well.
    const others = path.split('/').length === 3 && path.startsWith('/events/') ? ['DELETE'] : [];
    const allowed = [...declared(path), ...others];
    for (const method of METHODS.filter((name) => !allowed.includes(name))) {
      for (const key of ['secret', null]) {
        const { status, headers, body } = await app.api(method, url, { key });
        expect([method, status, body.error?.code]).toEqual([method, 405, 'METHOD_NOT_ALLOWED']);
        const names = headers.get('allow')?.split(', ');
        expect(names?.filter((name) => name !== 'HEAD').sort()).toEqual([...new Set(allowed)].sort());
        expect(names?.includes('HEAD')).toBe(allowed.includes('GET'));
      }
    }
  });
});

describe('a path', () => {
  it('that several endpoints fit reaches the one that has the method', async () => {
    for (const name of ['names', 'stats', 'track']) {
      const deleted = await app.api('DELETE', `/events/${name}`);
      expect([name, deleted.status, deleted.body]).toEqual([name, 200, { deletedCount: 0 }]);
    }
    expect((await app.api('GET', '/contacts/lookup')).status).toBe(405);
    expect((await app.api('GET', '/contacts/nobody')).status).toBe(404);
    expect((await app.api('GET', '/events/contact/usage')).status).toBe(200);
  });

  it('answers OPTIONS with the methods that it takes', async () => {
    const { status, headers } = await app.api('OPTIONS', '/contacts', { key: null });
    expect([status, headers.get('allow')]).toEqual([204, 'GET, POST, HEAD']);
  });

  it('that no endpoint fits is a 404', async () => {
    expect((await app.api('PUT', '/nothing')).status).toBe(404);
  });
});
