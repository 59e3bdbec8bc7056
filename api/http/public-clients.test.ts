import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { updateProject } from '../../shared/domain/lifecycle/update-project.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe('the API', () => {
  it('accepts the ids of bulk operations as `ids`', async () => {
    const { body: contact } = await app.api('POST', '/contacts', { body: { email: 'ada@mail.test' } });
    const reply = await app.api('POST', '/contacts/bulk-unsubscribe', { body: { ids: [contact.id] } });
    expect([reply.status, reply.body.message]).toEqual([202, '1 contacts are queued to unsubscribe']);
    const none = await app.api('POST', '/contacts/bulk-unsubscribe', { body: {} });
    expect([none.status, none.body.error.errors]).toEqual([
      422,
      [{ field: 'contactIds', message: 'The ids of the contacts are required', code: 'invalid_type' }],
    ]);
    expect((await app.api('POST', '/contacts/bulk-delete', { body: { ids: [] } })).status).toBe(422);
  });

  it('accepts allowReentry when a workflow is created, and lists its executions as `executions` too', async () => {
    const body = { name: 'W', eventName: 'e', allowReentry: true };
    const { body: workflow } = await app.api('POST', '/workflows', { body });
    expect(workflow.allowReentry).toBe(true);
    expect((await app.api('POST', '/workflows', { body: { name: 'W', eventName: 'e' } })).body.allowReentry).toBe(
      false,
    );
    const list = await app.api('GET', `/workflows/${workflow.id}/executions`);
    expect(list.body).toMatchObject({ data: [], executions: [], total: 0 });
  });

  it('accepts `current` as the project of the key', async () => {
    const byId = await app.api('GET', `/domains/project/${app.project.id}`);
    const current = await app.api('GET', '/domains/project/current');
    expect([current.status, current.body]).toEqual([200, byId.body]);
    expect((await app.api('GET', '/domains/project/other')).status).toBe(404);
  });
});

describe('the secret key on POST /v1/track', () => {
  const track = (key: string) => app.api('POST', '/v1/track', { key, body: { email: 'ada@mail.test', event: 'seen' } });

  it('is refused, unless the project accepts it', async () => {
    const refused = await track('secret');
    expect([refused.status, refused.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
    await updateProject(app.em(), app.project.id, { trackAcceptsSecretKey: true });
    expect((await track('secret')).status).toBe(200);
    expect((await track('public')).status).toBe(200);
    expect((await track(`sk_${'0'.repeat(64)}`)).status).toBe(401);
    const elsewhere = await app.api('GET', '/contacts', { key: 'public' });
    expect([elsewhere.status, elsewhere.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
  });
});
