import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe('GET /health and GET /ready', () => {
  it('answer without a key', async () => {
    const health = await app.api('GET', '/health', { key: null });
    expect([health.status, health.body]).toEqual([200, { status: 'ok' }]);
    const ready = await app.api('GET', '/ready', { key: null });
    expect([ready.status, ready.body]).toEqual([200, { status: 'ready', checks: { database: 'ok' } }]);
  });
});
