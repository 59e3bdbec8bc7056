import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import type { AutomationGraph, GraphStep } from '../../pure/automations/automation-graph.ts';
import { EXECUTION_STATUSES, EXECUTION_TRANSITIONS } from '../../pure/automations/automation-status.ts';
import { createLinkSigner } from '../../sending/compose/links.ts';
import { createEmailCompiler } from '../../sending/compose/compiled-email.ts';
import { createGraphAutomation, createModelContact } from '../../../tests/support/automation-model.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { listTransitions, watchStatuses } from '../../../tests/support/status-watch.ts';
import { recordEvents } from '../events/events.ts';
import { sql } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { cancelExecutions } from './cancel-executions.ts';
import { createExecutionEngine, type ExecutionEngine } from './execution-engine.ts';
import { failExecution } from './fail-execution.ts';
import { retryExecution } from './retry-executions.ts';

let projectId: string;
let engine: ExecutionEngine;
let transitionsSeen: () => Promise<string[]>;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Test')).project.id;
  engine = createExecutionEngine({
    em,
    links: createLinkSigner({ appSecret: 'x'.repeat(32), publicUrl: 'https://everpost.test' }),
    compileEmail: createEmailCompiler(),
    messageBytesMax: 1_000_000,
  });
  transitionsSeen = await watchStatuses(em, 'automation_execution');
});

/** A graph of these steps, one after the other. */
function path(...steps: Pick<GraphStep, 'type' | 'config'>[]): AutomationGraph {
  const all = [{ type: 'TRIGGER' as const, config: {} }, ...steps].map((step) => ({
    ...step,
    id: randomUUID(),
    name: step.type,
    templateId: null,
  }));
  return {
    steps: all,
    transitions: all.slice(1).map((step, index) => ({ fromStepId: all[index]!.id, toStepId: step.id, branch: null })),
  };
}

const DELAY = { type: 'DELAY', config: { amount: 1, unit: 'hours' } } as const;
const EXIT = { type: 'EXIT', config: { reason: 'done' } } as const;
const WEBHOOK = { type: 'WEBHOOK', config: { url: 'https://example.com', method: 'POST' } } as const;
const BROKEN = { type: 'DELAY', config: { amount: 'soon' } } as const;

const GRAPHS = [
  path(),
  path(DELAY),
  path(DELAY, EXIT),
  path(EXIT),
  path(BROKEN),
  path(DELAY, BROKEN),
  path(DELAY, WEBHOOK),
];

async function enter(graph: AutomationGraph): Promise<string> {
  const { event } = await createGraphAutomation(em(), projectId, graph);
  await recordEvents(em(), [{ projectId, contactId: await createModelContact(em(), projectId), name: event }]);
  const row = await queryOne(em(), sql`select id from automation_execution order by id desc limit 1`);
  return row!.id;
}

async function advanceTwice(executionId: string): Promise<void> {
  const twoHoursLater = new Date(Date.now() + 7_200_000);
  for (const now of [new Date(), twoHoursLater]) {
    await engine.advance(executionId, { now: () => now, runId: null, isRepetition: false });
  }
}

async function retry(executionId: string): Promise<void> {
  const [row] = await query(
    em(),
    sql`
      update automation_execution set completed_at = now() where id = ${executionId} and status = 'FAILED'
      returning automation_id as "automationId"`,
  );
  if (row) await retryExecution(em(), projectId, row.automationId, executionId);
}

const acts = [
  retry,
  advanceTwice,
  (id: string) => cancelExecutions(em(), [id], 'by hand'),
  (id: string) => failExecution(em(), id, 'the activity was given up'),
];

it('Executions take every transition of the table EXECUTION_TRANSITIONS, and no other', async () => {
  for (const graph of GRAPHS) await advanceTwice(await enter(graph));
  for (const act of acts) {
    for (const status of EXECUTION_STATUSES) {
      const id = await enter(path(DELAY));
      await query(em(), sql`alter table automation_execution disable trigger note_transition`);
      await query(em(), sql`update automation_execution set status = ${status} where id = ${id}`);
      await query(em(), sql`alter table automation_execution enable trigger note_transition`);
      await act(id);
    }
  }

  expect(await transitionsSeen()).toEqual(listTransitions(EXECUTION_TRANSITIONS));
});
