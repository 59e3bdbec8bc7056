import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { createGraphAutomation, createModelContact } from '../../../tests/support/automation-model.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import type { AutomationGraph } from '../../pure/automations/automation-graph.ts';
import { recordEvents } from '../events/events.ts';
import { sql } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { cleanUpChunk } from '../lifecycle/maintenance.ts';
import type { Retention } from '../lifecycle/retention.ts';
import { createProject } from '../projects/projects.ts';
import { loadEvents, pageBehind } from '../webhooks/hook-events.ts';
import { createEndpoint } from '../webhooks/endpoints.ts';
import { createWebhookSecrets } from '../projects/webhook-secrets.ts';
import { failExecution } from './fail-execution.ts';
import { retryExecution } from './retry-executions.ts';

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Test')).project.id;
  const settings = {
    url: 'https://example.com',
    events: ['workflow.*'],
    description: null,
    enabled: true,
    batchSize: 1,
  };
  await createEndpoint(em(), projectId, settings, createWebhookSecrets({ appSecret: 'x'.repeat(32) }));
});

/** An execution that has failed at the only step after its trigger, whose config was changed since. */
async function failAndRepair(): Promise<{ automationId: string; executionId: string }> {
  const [triggerId, stepId] = [uuidV7(), uuidV7()];
  const graph: AutomationGraph = {
    steps: [
      { id: triggerId, type: 'TRIGGER', name: 'Trigger', config: {}, templateId: null },
      { id: stepId, type: 'WEBHOOK', name: 'Call', config: { url: 'https://before.test' }, templateId: null },
    ],
    transitions: [{ fromStepId: triggerId, toStepId: stepId, branch: null }],
  };
  const { id: automationId, event } = await createGraphAutomation(em(), projectId, graph);
  await query(
    em(),
    sql`
      insert into automation_step (id, automation_id, type, name, config, created_at, updated_at)
      values (${stepId}, ${automationId}, 'WEBHOOK', 'Call', '{"url":"https://after.test"}', now(), now())`,
  );
  const contactId = await createModelContact(em(), projectId);
  await recordEvents(em(), [{ projectId, contactId, name: event }]);
  const row = await queryOne(
    em(),
    sql`
      update automation_execution set step_number = 2, current_step_id = ${stepId}
      where automation_id = ${automationId} returning id`,
  );
  const executionId = row!.id;
  await failExecution(em(), executionId, 'refused');
  return { automationId, executionId };
}

describe('a retry', () => {
  it('leaves the failure to webhook endpoints that have not received it, in its position', async () => {
    const { automationId, executionId } = await failAndRepair();
    const read = async () => {
      const all = { position: '0', settledNo: '1000000', patterns: ['workflow.*'], limit: 100 };
      return (await pageBehind(em(), projectId, all)).events.filter(({ id }) => id === executionId);
    };
    const before = await read();
    expect(before.map(({ name }) => name)).toEqual(['workflow.started', 'workflow.failed']);
    await retryExecution(em(), projectId, automationId, executionId);
    expect(await read()).toEqual([{ ...before[0]!, data: expect.objectContaining({ status: 'RUNNING' }) }, before[1]]);
    await failExecution(em(), executionId, 'refused again');
    const events = await read();
    expect(events.map(({ data }) => data['exitReason'])).toEqual(['refused again', 'refused', 'refused again']);
    const { no, data } = before[1]!;
    expect(await loadEvents(em(), projectId, [before[1]!])).toMatchObject([{ no, data }]);
  });

  it('gives the step the config that it has now, in a graph that is kept beside the one it replaces', async () => {
    const { automationId, executionId } = await failAndRepair();
    const [before] = await query(
      em(),
      sql`
        with newer as (
          insert into automation_graph (id, automation_id, graph, created_at)
          values (${uuidV7()}, ${automationId}, '{}', now() - interval '3 days')
        ),
        other as (
          insert into automation_execution
            (id, project_id, automation_id, graph_id, contact_id, is_first, started_at, created_at, updated_at)
          select ${uuidV7()}, project_id, automation_id, graph_id, ${uuidV7()}, true, now(), now() - interval '5 days', now()
          from automation_execution where automation_id = ${automationId}
        ),
        entered as (
          update automation_execution set created_at = now() - interval '9 days' where automation_id = ${automationId}
        ),
        replaced as (update automation set graph_id = null where id = ${automationId})
        update automation_graph set created_at = now() - interval '9 days' where automation_id = ${automationId}
        returning id`,
    );
    await retryExecution(em(), projectId, automationId, executionId);
    await cleanUpChunk(em(), 'graphSnapshots', {} as Retention);
    const graphs = await query(
      em(),
      sql`
        select g.id, g.graph #>> '{steps,1,config,url}' as url, x.id = ${executionId} as "isRepaired"
        from automation_execution x join automation_graph g on g.id = x.graph_id
        where x.automation_id = ${automationId} order by x.created_at`,
    );
    expect(graphs).toEqual([
      { id: expect.any(String), url: 'https://after.test', isRepaired: true },
      { id: before!.id, url: 'https://before.test', isRepaired: false },
    ]);
  });
});
