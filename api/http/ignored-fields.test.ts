import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const HEADER = 'Everpost-Ignored-Fields';

it('names the keys of a body that the endpoint does not know, in bounds and safe characters only', async () => {
  const known = { to: 'ada@mail.test', subject: 'S', body: 'B', from: 'me@example.com' };
  const send = async (more: object) => (await app.api('POST', '/v1/send', { body: { ...known, ...more } })).headers;
  expect((await send({})).get(HEADER)).toBeNull();
  expect((await send({ cc: 'a@b.test', replyTo: 'Hi', 'x\r\ny': 1, é: 2 })).get(HEADER)).toBe('cc, replyTo');
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 1]));
  expect((await send(many)).get(HEADER)?.split(', ')).toHaveLength(20);
  const created = await app.api('POST', '/contacts', { body: { email: 'ada@mail.test', name: 'Ada' } });
  expect(created.headers.get(HEADER)).toBe('name');
});

it('names the keys that the form of a body does not know, where an endpoint takes several forms', async () => {
  const ignored = async (path: string, body: object) => (await app.api('POST', path, { body })).headers.get(HEADER);
  expect(await ignored('/events/track', { email: 'ada@mail.test', event: 'visit', contactId: 'x', y: 1 })).toBe(
    'contactId, y',
  );
  expect(await ignored('/events/track', { name: 'visit', email: 'ada@mail.test', y: 1 })).toBe('email, y');
  const condition = { logic: 'AND', groups: [{ filters: [{ field: 'subscribed', operator: 'equals', value: true }] }] };
  expect(await ignored('/segments', { name: 'All', type: 'DYNAMIC', condition, y: 1 })).toBe('y');
  expect(await ignored('/segments', { name: 'Some', type: 'STATIC', y: 1 })).toBe('y');
  expect(await ignored('/workflows', { name: 'Hello', eventName: 'visit', y: 1 })).toBe('y');
});
