import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
  await app.api('POST', '/events/track', { body: { email: 'ada@example.com', event: 'bought' } });
});
afterAll(() => app.stop());

describe('a query parameter that is left empty', () => {
  it.each([
    ['/contacts?cursor=', 'data'],
    ['/contacts?search=', 'data'],
    ['/events?cursor=', 'events'],
    ['/events?eventName=', 'events'],
    ['/activity?cursor=', 'data'],
    ['/activity?types=', 'data'],
  ])('is as if it were not there: GET %s', async (path, items) => {
    const { status, body } = await app.api('GET', path);
    expect([status, body[items].length]).toEqual([200, 1]);
  });
});
