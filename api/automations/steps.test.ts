import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function create(path: string, body: Record<string, unknown>): Promise<any> {
  const reply = await app.api('POST', path, { body });
  expect(reply.status).toBe(201);
  return reply.body;
}

it('a step can be renamed and moved after what its configuration names was deleted', async () => {
  const workflow = await create('/workflows', { name: 'W', eventName: 'e' });
  const template = await create('/templates', { name: 'T', subject: 'S', body: 'B', from: 'hello@example.com' });
  const segment = await create('/segments', { name: 'S', type: 'STATIC' });
  const path = `/workflows/${workflow.id}/steps`;
  const isMember = { field: `segment.${segment.id}`, operator: 'memberOfSegment' };
  const steps = [
    await create(path, { type: 'SEND_EMAIL', templateId: template.id }),
    await create(path, { type: 'CONDITION', config: isMember }),
  ];
  await app.api('DELETE', `/templates/${template.id}`);
  await app.api('DELETE', `/segments/${segment.id}`);
  for (const { id, config } of steps) {
    const change = { name: 'Moved', position: { x: 1, y: 2 } };
    const moved = await app.api('PATCH', `${path}/${id}`, { body: change });
    expect([moved.status, moved.body]).toMatchObject([200, { ...change, config }]);
    const stored = await app.api('PATCH', `${path}/${id}`, { body: { config } });
    expect([400, 404]).toContain(stored.status);
  }
});
