import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe('GET /workflows/:id/executions/:executionId', () => {
  it('answers the execution with its workflow, contact and steps', async () => {
    const { body: workflow } = await app.api('POST', '/workflows', {
      body: { name: 'Welcome', eventName: 'signed_up' },
    });
    const enabled = await app.api('PATCH', `/workflows/${workflow.id}`, { body: { enabled: true } });
    expect(enabled.status).toBe(200);
    const { body: contact } = await app.api('POST', '/contacts', { body: { email: 'ada@example.com' } });
    const started = await app.api('POST', `/workflows/${workflow.id}/executions`, {
      body: { contactId: contact.id, context: { plan: 'pro' } },
    });
    expect(started.status).toBe(201);
    const { body } = await app.api('GET', `/workflows/${workflow.id}/executions/${started.body.id}`);
    expect(body).toEqual({
      ...started.body,
      workflow: { id: workflow.id, name: 'Welcome' },
      contact: { id: contact.id, email: 'ada@example.com' },
      currentStep: null,
      stepExecutions: [],
    });
  });
});
