import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { query } from '../../tests/support/rows.ts';

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

describe('executions at a step', () => {
  let owner: TestProject;
  let workflowId: string;
  /** A delay, a webhook, and a step that nobody is at. */
  let steps: string[];
  const counts = async () => (await owner.api('GET', `/workflows/${workflowId}/executions/counts`)).body.counts;
  const listed = (search: string) => owner.api('GET', `/workflows/${workflowId}/executions?${search}`);

  beforeAll(async () => {
    owner = await app.createProject();
    const { body } = await owner.api('POST', '/workflows', { body: { name: 'W', eventName: 'e' } });
    workflowId = body.id;
    steps = [];
    for (const amount of [1, 2, 3]) {
      const step = { type: 'DELAY', name: `Wait ${amount}`, config: { amount, unit: 'days' }, autoConnect: true };
      steps.push((await owner.api('POST', `/workflows/${workflowId}/steps`, { body: step })).body.id);
    }
    expect(await counts()).toEqual([]);
    expect((await listed('')).body).toMatchObject({ data: [], total: 0 });
    await query(
      app.em(),
      sql`
        insert into automation_execution (id, project_id, automation_id, contact_id, graph_id, is_first, status, current_step_id, started_at, completed_at, created_at, updated_at)
        select everpost_uuid_v7(), ${owner.project.id}, ${workflowId}, everpost_uuid_v7(), everpost_uuid_v7(), false, s.status,
          case when s.step > 0 then (${steps}::uuid[])[s.step] end, now(), case when s.ended then now() end,
          now() - make_interval(mins => n), now()
        from (values ('WAITING', 1, false, 7), ('WAITING', 2, false, 2), ('FAILED', 2, true, 3), ('RUNNING', 0, false, 1),
          ('COMPLETED', 2, true, 4), ('CANCELLED', 1, true, 5)) s (status, step, ended, many), generate_series(1, s.many) n`,
    );
  });

  it('are counted where they run, wait or have failed, the largest count first', async () => {
    expect(await counts()).toEqual([
      { stepId: steps[0], status: 'WAITING', executions: 7 },
      { stepId: steps[1], status: 'FAILED', executions: 3 },
      { stepId: steps[1], status: 'WAITING', executions: 2 },
      { stepId: null, status: 'RUNNING', executions: 1 },
    ]);
  });

  it('are listed by step and status, page by page, while total counts all steps', async () => {
    const seen: any[] = [];
    for (const page of [1, 2, 3, 4]) {
      const { body } = await listed(`stepId=${steps[0]}&status=WAITING&pageSize=3&page=${page}`);
      expect([body.total, body.data]).toEqual([9, body.executions]);
      seen.push(...body.data);
    }
    expect(new Set(seen.map(({ id }) => id)).size).toBe(7);
    expect(seen.every(({ status }) => status === 'WAITING')).toBe(true);
    const sizes = async (search: string) => (await listed(`${search}&pageSize=100`)).body.data.length;
    expect([await sizes(`stepId=${steps[1]}`), await sizes(`stepId=${steps[1]}&status=FAILED`)]).toEqual([9, 3]);
    for (const id of [steps[2], uuidV7()]) expect(await sizes(`stepId=${id}`)).toBe(0);
    expect((await listed('stepId=first')).status).toBe(422);
  });

  it('are not there for another project, and go with their workflow', async () => {
    for (const path of [`/workflows/${workflowId}/executions`, `/workflows/${uuidV7()}/executions`])
      for (const part of ['/counts', `?stepId=${steps[0]}`])
        expect((await app.api('GET', `${path}${part}`)).body.error.code).toBe('WORKFLOW_NOT_FOUND');
    expect((await owner.api('GET', '/workflows/x/executions/counts')).body.error.code).toBe('WORKFLOW_NOT_FOUND');
    const { body } = await owner.api('POST', '/workflows', { body: { name: 'Gone', eventName: 'e' } });
    await owner.api('DELETE', `/workflows/${body.id}`);
    expect((await owner.api('GET', `/workflows/${body.id}/executions/counts`)).status).toBe(404);
  });
});
