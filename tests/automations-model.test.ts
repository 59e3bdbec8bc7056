import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AutomationGraph } from '../shared/pure/automations/automation-graph.ts';
import { executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { recordEvents } from '../shared/domain/events/events.ts';
import { sql } from '../shared/database/sql.ts';
import { queryOne } from './support/rows.ts';
import {
  createGraphAutomation,
  createModelContact,
  drawGraphs,
  drawnEvents,
  readStory,
  tell,
  type TimedEvent,
} from './support/automation-model.ts';
import { eventually } from './support/eventually.ts';
import { withSeed } from './support/seed.ts';
import { createTemplate } from './support/automations.ts';
import { startTimeMachine, type TimeMachine } from './support/time-machine.ts';
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts';

const HOUR = 3_600_000;
/** Executions that run at the same time, on one clock. */
const EXECUTIONS = 40;
/** By then every execution that ends by itself has ended: at most nine steps of six hours follow its last event. */
const END_MS = 80 * HOUR;
const PATIENCE_MS = 240_000;

let machine: TimeMachine;
let hook: WebhookReceiver;
beforeAll(async () => {
  machine = await startTimeMachine({ config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] } });
  hook = await startWebhookReceiver();
});
afterAll(async () => {
  await hook.close();
  await machine.stop();
});

interface Running {
  graph: AutomationGraph;
  events: TimedEvent[];
  executionId: string;
  contactId: string;
}

/**
 * Places events minutes apart from each other and from the ends of delays and timeouts: those come after whole hours,
 * and each event after its own fraction of an hour.
 */
function placed(drawn: { name: string; hour: number; y: number }[], startMs: number): TimedEvent[] {
  return drawn.map(({ name, hour, y }, index) => ({ name, y, atMs: startMs + (hour + (index + 1) / 10) * HOUR }));
}

async function enter(graph: AutomationGraph): Promise<{ executionId: string; contactId: string }> {
  const projectId = machine.project.id;
  const { event } = await createGraphAutomation(machine.em(), projectId, graph);
  const contactId = await createModelContact(machine.em(), projectId);
  await recordEvents(machine.em(), [{ projectId, contactId, name: event, data: { y: 0 } }]);
  const row = await queryOne(machine.em(), sql`select id from automation_execution where contact_id = ${contactId}`);
  return { executionId: row!.id, contactId };
}

async function advanceTo(ms: number): Promise<void> {
  await machine.advance(Math.max(ms - (await machine.environment.currentTimeMs()), 1));
}

/** Tracks the events of all executions at their times. */
async function trackAll(running: Running[]): Promise<void> {
  const all = running.flatMap(({ contactId, events }) => events.map((event) => ({ ...event, contactId })));
  const moments = Map.groupBy(all, (event) => event.atMs);
  for (const [atMs, events] of [...moments].sort(([a], [b]) => a - b)) {
    await advanceTo(atMs);
    const projectId = machine.project.id;
    await recordEvents(
      machine.em(),
      events.map(({ contactId, name, y }) => ({ projectId, contactId, name, data: { y } })),
    );
    await machine.settle();
  }
}

describe('executions on Temporal', () => {
  it(
    'do what their graphs say, whichever events come in whichever order',
    () =>
      withSeed(async (seed) => {
        const templateId = await createTemplate(machine);
        const drawnCase = fc.record({ graph: drawGraphs({ templateId, webhookUrl: hook.url }), drawn: drawnEvents });
        const startMs = await machine.environment.currentTimeMs();
        const running: Running[] = [];
        for (const { graph, drawn } of fc.sample(drawnCase, { seed, numRuns: EXECUTIONS })) {
          running.push({ graph, events: placed(drawn, startMs), ...(await enter(graph)) });
        }
        await machine.settle();
        await trackAll(running);
        await advanceTo(startMs + END_MS);
        for (const [nth, { graph, events, executionId }] of running.entries()) {
          const story = await readStory(machine.em(), executionId, graph);
          expect({ seed, nth, ...story }).toEqual({ seed, nth, ...tell(graph, events, startMs) });
          const handle = machine.environment.client.workflow.getHandle(executionWorkflowId(executionId));
          // Waiting for the result instead would let the clock skip to the end of every wait.
          const isWaiting = story.status === 'WAITING';
          const status = await eventually(async () => {
            const { name } = (await handle.describe()).status;
            return (isWaiting || name !== 'RUNNING') && name;
          });
          expect(status).toBe(isWaiting ? 'RUNNING' : 'COMPLETED');
          const calls = [...hook.calls].filter(([id]) => id.startsWith(`msg_${executionId}_`));
          expect(calls.map(([, count]) => count)).toEqual(Array.from({ length: story.calls }, () => 1));
        }
      }),
    PATIENCE_MS,
  );
});
