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

describe('a number in the query', () => {
  it.each([
    ['/contacts?limit=99999999999999999999', 'data'],
    ['/contacts?limit=1e400', 'data'],
    ['/events?limit=99999999999999999999', 'events'],
    ['/contacts/fields/plan/values?limit=99999999999999999999', 'values'],
  ])('counts as the largest one where it is larger: GET %s', async (path, items) => {
    const { status, body } = await app.api('GET', path);
    expect([status, Array.isArray(body[items])]).toEqual([200, true]);
  });

  it('is clamped in what an answer says of the page', async () => {
    const { body } = await app.api('GET', '/templates?pageSize=99999999999999999999');
    expect(body.pageSize).toBe(100);
  });

  it.each([
    ['/contacts?limit=0', 'Must be at least 1'],
    ['/contacts?limit=1.5', 'Must be a whole number'],
    ['/contacts?limit=ten', 'Must be a number'],
    ['/contacts?limit=1&limit=2', 'Must be a number'],
    ['/templates?page=99999999999999999999', 'Must be at most 1000000'],
    ['/deliverability?days=99999999999999999999', 'Must be at most 90'],
  ])('is refused with one sentence where it counts nothing: GET %s', async (path, message) => {
    const { status, body } = await app.api('GET', path);
    expect([status, body.error.errors.map((fault: { message: string }) => fault.message)]).toEqual([422, [message]]);
  });
});
