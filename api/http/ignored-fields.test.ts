import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const HEADER = 'Everpost-Ignored-Fields';

it('the header names unknown keys of a body, a bounded number and in safe characters only', async () => {
  const known = { to: 'ada@mail.test', subject: 'S', body: 'B', from: 'me@example.com' };
  const send = async (more: object) => (await app.api('POST', '/v1/send', { body: { ...known, ...more } })).headers;
  expect((await send({})).get(HEADER)).toBeNull();
  expect((await send({ cc: 'a@b.test', replyTo: 'Hi', 'x\r\ny': 1, é: 2 })).get(HEADER)).toBe('cc, replyTo');
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 1]));
  expect((await send(many)).get(HEADER)?.split(', ')).toHaveLength(20);
  const created = await app.api('POST', '/contacts', { body: { email: 'ada@mail.test', name: 'Ada' } });
  expect(created.headers.get(HEADER)).toBe('name');
});

it('an answer of /v1/send names ignored fields in its body as well, and only then', async () => {
  const known = { to: 'ada@mail.test', subject: 'S', body: 'B', from: 'me@example.com' };
  const send = async (more: object) => (await app.api('POST', '/v1/send', { body: { ...known, ...more } })).body;
  expect(await send({})).not.toHaveProperty('warnings');
  expect(await send({ scheduledAt: '2030-01-01T00:00:00Z', cc: 'bo@mail.test' })).toMatchObject({
    success: true,
    warnings: [
      { field: 'scheduledAt', message: 'scheduledAt does not exist here and had no effect' },
      { field: 'cc', message: 'cc does not exist here and had no effect' },
    ],
  });
});

it('the header names keys unknown to the form of a body where an endpoint has several forms', async () => {
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

it('the header names nested keys by their paths, and none where any key is allowed', async () => {
  const ignored = async (method: string, path: string, body: object) =>
    (await app.api(method, path, { body })).headers.get(HEADER);
  const email = {
    to: ['ada@mail.test', { email: 'bo@mail.test', nmae: 'Bo' }],
    from: { email: 'me@example.com', displayName: 'Me' },
    ...{ subject: 'S', body: 'B', data: { any: { key: 1 } }, headers: { 'X-Any': '1' } },
    attachments: [{ filename: 'a.txt', content: 'QQ==', contentType: 'text/plain', encoding: 'base64' }],
  };
  expect(await ignored('POST', '/v1/send', email)).toBe('to.1.nmae, from.displayName, attachments.0.encoding');
  const inner = { logic: 'OR', groups: [{ filters: [{ field: 'email', operator: 'exists', id: 7 }] }] };
  const condition = { logic: 'AND', groups: [{ filters: [], conditions: inner, open: true }] };
  expect(await ignored('POST', '/segments', { name: 'All', type: 'DYNAMIC', condition })).toBe(
    'condition.groups.0.conditions.groups.0.filters.0.id, condition.groups.0.open',
  );
  const workflow = { name: 'Hello', triggerConfig: { eventName: 'visit', once: true } };
  expect(await ignored('POST', '/workflows', workflow)).toBe('triggerConfig.once');
});

it('the header names parameters of the query, and the keys of a body where none is read', async () => {
  const ignored = async (method: string, path: string, body?: object) =>
    (await app.api(method, path, { body })).headers.get(HEADER);
  expect(await ignored('GET', '/templates?limit=5&page=1')).toBe('query.limit');
  expect(await ignored('GET', '/contacts?limit=5&search=a')).toBeNull();
  expect(await ignored('GET', '/users/@me/projects?all=1')).toBe('query.all');
  const { body } = await app.api('POST', '/segments', { body: { name: 'Some', type: 'STATIC' } });
  expect(await ignored('POST', `/segments/${body.id}/refresh`, { force: true })).toBe('force');
});

it('a deep or a long body is searched only in part', async () => {
  let condition: object = { logic: 'AND', groups: [] };
  for (let depth = 0; depth < 500; depth++)
    condition = { logic: 'AND', groups: [{ filters: [], conditions: condition }] };
  expect((await app.api('POST', '/segments', { body: { name: 'Deep', condition } })).status).toBeLessThan(500);
  const to = Array.from({ length: 900 }, (_, n) => ({ email: `a${n}@mail.test`, x: 1 }));
  const reply = await app.api('POST', '/v1/send', { body: { to, from: 'me@example.com', subject: 'S', body: 'B' } });
  expect(reply.headers.get(HEADER)?.split(', ')).toHaveLength(20);
});
