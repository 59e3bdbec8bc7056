import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { query } from '../../tests/support/rows.ts';

const DAY_MS = 86_400_000;

let app: TestApi;
let count = 0;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function addContact(): Promise<string> {
  return (await app.api('POST', '/contacts', { body: { email: `reader-${++count}@mail.test` } })).body.id;
}
const patch = (id: string, pausedUntil: unknown) => app.api('PATCH', `/contacts/${id}`, { body: { pausedUntil } });
const daysAhead = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

describe('pausedUntil of a contact', () => {
  it('is set, told, moved and ended, each change recorded once', async () => {
    const id = await addContact();
    expect((await app.api('GET', `/contacts/${id}`)).body).not.toHaveProperty('pausedUntil');
    const [first, second] = [daysAhead(3), daysAhead(365)];
    for (const until of [first, first, second]) {
      const reply = await patch(id, until);
      expect([reply.status, reply.body.pausedUntil]).toEqual([200, until]);
    }
    const list = await app.api('GET', '/contacts?search=reader-1');
    expect(list.body.data[0]).toMatchObject({ id, pausedUntil: second });
    for (let turn = 0; turn < 2; turn++) expect((await patch(id, null)).body).not.toHaveProperty('pausedUntil');

    const { body } = await app.api('GET', `/events/contact/${id}`);
    const [resumed, moved, paused] = body.events;
    const cause = { reason: 'api', endpoint: 'PATCH /contacts/:id' };
    expect(body.events).toHaveLength(3);
    expect(paused).toMatchObject({ name: 'contact.paused', data: { ...cause, pausedUntil: first } });
    expect(moved).toMatchObject({ name: 'contact.paused', data: { ...cause, pausedUntil: second } });
    expect(resumed).toMatchObject({ name: 'contact.resumed', data: cause });
    const { body: consents } = await app.api('GET', `/contacts/${id}/consents`);
    expect(consents.data).toMatchObject([
      { state: 'resumed', topic: null, cause },
      { state: 'paused', pausedUntil: second },
      { state: 'paused', pausedUntil: first },
      { state: 'subscribed' },
    ]);
    const feed = await app.api('GET', `/activity?contactId=${id}&types=contact.paused,contact.resumed`);
    expect(feed.body.data).toHaveLength(3);
  });

  it('is not told once it has passed, and then there is no pause to end', async () => {
    const id = await addContact();
    await query(app.em(), sql`update contact set paused_until = now() - interval '1 second' where id = ${id}`);
    expect((await app.api('GET', `/contacts/${id}`)).body).not.toHaveProperty('pausedUntil');
    await patch(id, null);
    expect((await app.api('GET', `/events/contact/${id}`)).body.events).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['in the past', daysAhead(-1), 'custom'],
    ['more than 366 days ahead', daysAhead(367), 'too_big'],
    ['a day that does not exist', '2026-13-01T00:00:00Z', 'invalid_string'],
    ['another text', 'tomorrow', 'invalid_string'],
    ['a number', 5, 'invalid_type'],
    ['true', true, 'invalid_type'],
  ])('cannot be %s', async (_name, wrong, code) => {
    const { status, body } = await patch(await addContact(), wrong);
    expect([status, body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.error.errors[0]).toMatchObject({ field: 'pausedUntil', code });
  });

  it('starts the automations that wait for a pause, and callers cannot track its events', async () => {
    const { body: workflow } = await app.api('POST', '/workflows', {
      body: { name: 'Come back', eventName: 'contact.paused' },
    });
    await app.api('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } });
    const id = await addContact();
    await patch(id, daysAhead(1));
    const { body } = await app.api('GET', `/workflows/${workflow.id}/executions`);
    expect(body.data).toMatchObject([{ contactId: id }]);
    for (const event of ['contact.paused', 'contact.resumed']) {
      const reply = await app.api('POST', '/v1/track', { key: 'public', body: { email: 'x@mail.test', event } });
      expect(reply.status).toBe(422);
    }
  });
});
