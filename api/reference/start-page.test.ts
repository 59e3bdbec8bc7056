import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

it('GET / answers a browser with links to docs, console and OpenAPI document, and a program with 404', async () => {
  const page = await app.api('GET', '/', { key: null, headers: { accept: BROWSER } });
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  for (const path of ['/docs', '/openapi.json', '/console', '/ready']) expect(page.body).toContain(`href="${path}"`);
  const program = await app.api('GET', '/', { key: null });
  expect([program.status, program.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND']);
});
