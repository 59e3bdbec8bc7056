import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { createEndpoints } from '../routes.ts';
import { ignoredKeys } from './ignored-fields.ts';

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
  expect((await send({ ccs: 'a@b.test', replyTo: 'Hi', 'x\r\ny': 1, é: 2 })).get(HEADER)).toBe('ccs, replyTo');
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 1]));
  expect((await send(many)).get(HEADER)?.split(', ')).toHaveLength(20);
  const created = await app.api('POST', '/contacts', { body: { email: 'ada@mail.test', name: 'Ada' } });
  expect(created.headers.get(HEADER)).toBe('name');
});

it('an answer of /v1/send names ignored fields in its body as well, and only then', async () => {
  const known = { to: 'ada@mail.test', subject: 'S', body: 'B', from: 'me@example.com' };
  const send = async (more: object) => (await app.api('POST', '/v1/send', { body: { ...known, ...more } })).body;
  expect(await send({})).not.toHaveProperty('warnings');
  expect(await send({ scheduled_at: '2030-01-01T00:00:00Z', ccs: 'bo@mail.test' })).toMatchObject({
    success: true,
    warnings: [
      { field: 'scheduled_at', message: 'scheduled_at does not exist here and had no effect' },
      { field: 'ccs', message: 'ccs does not exist here and had no effect' },
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

it('every body names an unknown key, but searches, whose filters would be lost, refuse it', () => {
  const takesBody = createEndpoints(app.config).filter(({ body, multipart }) => body && !multipart);
  const silent = takesBody.filter(({ body, path }) => {
    const known = path === '/events/track' ? { name: 'visit' } : {};
    return body && ignoredKeys(body, { ...known, misspelt: 1 }, '').length === 0;
  });
  expect(takesBody.length).toBeGreaterThan(40);
  expect(silent.map(({ path }) => path).sort()).toEqual(['/emails/search', '/suppressions/search']);
});

it('objects whose keys callers choose refuse __proto__, and take names of object methods like any other', async () => {
  const faults = async (method: string, path: string, body: string) => {
    const reply = await app.api(method, path, { raw: body });
    return [reply.status, reply.body.error?.errors?.map(({ field }: { field: string }) => field)];
  };
  const proto = '{"__proto__":true}';
  const refused = (field: string) => [422, [`${field}.__proto__`]];
  expect(await faults('POST', '/contacts', `{"email":"p@mail.test","topics":${proto}}`)).toEqual(refused('topics'));
  expect(await faults('POST', '/contacts', `{"email":"p@mail.test","data":${proto}}`)).toEqual(refused('data'));
  expect(await faults('POST', '/events/track', `{"name":"visit","data":${proto}}`)).toEqual(refused('data'));
  const email = '"to":"p@mail.test","subject":"S","body":"B","from":"me@example.com"';
  for (const field of ['headers', 'data']) {
    expect(await faults('POST', '/v1/send', `{${email},"${field}":${proto}}`)).toEqual(refused(field));
  }
  const { body: workflow } = await app.api('POST', '/workflows', { body: { name: 'W', eventName: 'visit' } });
  const steps = `/workflows/${workflow.id}/steps`;
  const hook = `{"type":"WEBHOOK","config":{"url":"https://a.test","headers":${proto}}}`;
  expect(await faults('POST', steps, hook)).toEqual(refused('config.headers'));
  const start = `{"contactId":"${workflow.id}","context":${proto}}`;
  expect(await faults('POST', `/workflows/${workflow.id}/executions`, start)).toEqual(refused('context'));
  const bulk = await app.api('POST', '/contacts/bulk', {
    raw: `{"contacts":[{"email":"p@mail.test","data":${proto}}]}`,
  });
  expect(bulk.body.results[0]).toMatchObject({ outcome: 'error', errors: [{ field: 'data.__proto__' }] });
  const step = await app.api('POST', steps, { raw: `{"type":"EXIT","config":${proto}}` });
  expect([step.status, step.headers.get(HEADER)]).toEqual([201, 'config.__proto__']);

  await app.api('POST', '/topics', { body: { key: 'constructor', name: 'C', defaultSubscription: 'opt_out' } });
  const own = { email: 'c@mail.test', data: { toString: 'x', constructor: 1 }, topics: { constructor: true } };
  expect((await app.api('POST', '/contacts', { body: own })).body).toMatchObject(own);
  expect(await faults('POST', '/contacts', '{"email":"c@mail.test","topics":{"valueOf":true}}')).toEqual([
    422,
    ['topics.valueOf'],
  ]);
});

it('the header names nested keys by their paths, and none where any key is allowed', async () => {
  const ignored = async (method: string, path: string, body: object) =>
    (await app.api(method, path, { body })).headers.get(HEADER);
  const email = {
    to: ['ada@mail.test', { email: 'bo@mail.test', nmae: 'Bo' }],
    from: { email: 'me@example.com', displayName: 'Me' },
    subject: 'S',
    body: 'B',
    data: { any: { key: 1 } },
    headers: { 'X-Any': '1' },
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
  const emails = [null, { ...email, from: 'me@example.com', idempotencyKey: 'k' }];
  expect(await ignored('POST', '/v1/send/batch', { emails, dryRun: true })).toBe(
    'emails.1.to.1.nmae, emails.1.attachments.0.encoding, emails.1.idempotencyKey, dryRun',
  );
  const contacts = [{ email: 'ada@mail.test', tags: ['a'] }];
  expect(await ignored('POST', '/contacts/bulk', { contacts })).toBe('contacts.0.tags');
  const { body } = await app.api('POST', '/workflows', { body: { name: 'Steps', eventName: 'visit' } });
  const step = { type: 'EXIT', config: { because: 1 }, label: 'End' };
  expect(await ignored('POST', `/workflows/${body.id}/steps`, step)).toBe('config.because, label');
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

const FILTER = { field: 'email', operator: 'exists' };

/** Creates a step of a new workflow. */
async function addStep(type: string, config: object) {
  const { body } = await app.api('POST', '/workflows', { body: { name: 'W', eventName: 'visit' } });
  const path = `/workflows/${body.id}/steps`;
  return { path, reply: await app.api('POST', path, { body: { type, config } }) };
}

it.each([
  ['CONDITION', FILTER, { mode: 'ternary' }, 'config.mode'],
  [
    'CONDITION',
    { condition: { logic: 'AND', groups: [{ filters: [FILTER] }] } },
    { mode: 'ternary', field: 'email' },
    'config.mode, config.field',
  ],
  ['DELAY', { amount: 1, unit: 'days' }, { mode: 'relative' }, 'config.mode'],
  ['WAIT_FOR_EVENT', { eventName: 'e' }, { match: 'all' }, 'config.match'],
  ['WEBHOOK', { url: 'https://example.com', method: 'POST' }, { retries: 3 }, 'config.retries'],
  ['UPDATE_CONTACT', { data: { a: 1 } }, { merge: true }, 'config.merge'],
  ['EXIT', {}, { status: 'done' }, 'config.status'],
])('the header names keys that the config of a %s step does not know', async (type, config, more, named) => {
  const { path, reply: made } = await addStep(type, { ...config, ...more });
  expect([made.status, made.body.config]).toEqual([201, config]);
  const changed = await app.api('PATCH', `${path}/${made.body.id}`, { body: { config: { ...config, ...more } } });
  expect([changed.status, changed.body.config]).toEqual([200, config]);
  for (const { headers } of [made, changed]) expect(headers.get(HEADER)).toBe(named);
});

it('the header names unknown keys within the config of a step; a misnamed template is refused', async () => {
  const { reply: mail } = await addStep('SEND_EMAIL', { recipient: { type: 'CONTACT', name: 'x' }, subject: 'x' });
  const groups = [{ filters: [{ ...FILTER, id: 1 }], open: true }];
  const { reply: asked } = await addStep('CONDITION', { condition: { logic: 'AND', groups, id: 2 } });
  expect([mail, asked].map(({ status, headers }) => [status, headers.get(HEADER)])).toEqual([
    [201, 'config.recipient.name, config.subject'],
    [201, 'config.condition.groups.0.filters.0.id, config.condition.groups.0.open, config.condition.id'],
  ]);
  for (const key of ['template', 'template_id', 'emailTemplate']) {
    const { reply } = await addStep('SEND_EMAIL', { [key]: 'x' });
    expect([reply.status, reply.body.error.errors]).toEqual([
      422,
      [expect.objectContaining({ field: 'config.templateId', message: expect.stringMatching(/^Required/) })],
    ]);
  }
});
