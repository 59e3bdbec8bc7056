import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PRIORITIES } from '../shared/pure/task-queues.ts';
import { executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import {
  createAutomation,
  createTemplate,
  executionThatIs,
  stepsOf,
  track,
  type TestStep,
} from './support/automations.ts';
import { startStackShortOfHistory } from './support/long-histories.ts';
import { runIdsOf } from './support/runs.ts';
import { eventually, type TestStack } from './support/stack.ts';
import type { WebhookReceiver } from './support/webhook-receiver.ts';

/** A usual server suggests continue-as-new after thousands of events. After so few, a dozen steps make several runs. */
const SUGGESTED_AFTER_EVENTS = 30;
const PATIENCE_MS = 60_000;

let stack: TestStack;
let hook: WebhookReceiver;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ stack, hook, stop } = await startStackShortOfHistory(SUGGESTED_AFTER_EVENTS));
});
afterAll(() => stop());

/** Steps by name, each followed by the next one. */
function inARow(steps: [string, Omit<TestStep, 'next'>][]): Record<string, TestStep> {
  return Object.fromEntries(steps.map(([name, step], index) => [name, { ...step, next: steps[index + 1]?.[0] }]));
}

const several = (count: number, name: string, step: TestStep): [string, TestStep][] =>
  Array.from({ length: count }, (_, index) => [`${name} ${index + 1}`, step]);

describe('an execution whose history grows long', () => {
  it(
    'continues in a new run, at any kind of step, with the same search attributes and priority',
    async () => {
      const templateId = await createTemplate(stack);
      const steps = inARow([
        ['First mail', { type: 'SEND_EMAIL', templateId }],
        ...several(8, 'Rest', { type: 'DELAY', config: { amount: 0.001, unit: 'minutes' } }),
        ['Answer?', { type: 'WAIT_FOR_EVENT', config: { eventName: 'answer', timeout: 3_600 } }],
        ...several(12, 'Call', { type: 'WEBHOOK', config: { url: hook.url } }),
        ['Leave', { type: 'UPDATE_CONTACT', config: { subscribed: false } }],
        ['Last mail', { type: 'SEND_EMAIL', templateId }],
      ]);
      const id = await createAutomation(stack, 'long_way', steps, { name: 'Long way' });
      const { contact } = await track(stack, 'far@mail.test', 'long_way', { plan: 'pro' });
      const { id: executionId } = await executionThatIs(stack, id, 'RUNNING', 'WAITING');
      const workflowId = executionWorkflowId(executionId);
      const { client } = stack.temporal;
      await eventually(async () => {
        const waiting = await executionThatIs(stack, id, 'WAITING');
        return waiting.currentStep.name === 'Answer?';
      }, PATIENCE_MS);
      await eventually(async () => (await runIdsOf(client, workflowId)).length > 1, PATIENCE_MS);

      await track(stack, 'far@mail.test', 'answer', { answer: 42 });
      const execution = await executionThatIs(stack, id, 'COMPLETED');
      expect(stepsOf(execution)).toEqual(['Trigger', ...Object.keys(steps)].map((name) => `${name} COMPLETED`));
      expect(execution.context).toEqual({ plan: 'pro', answer: 42 });
      expect([...hook.calls.values()]).toEqual(Array.from({ length: 12 }, () => 1));
      await eventually(() => Promise.resolve(stack.sink.recipientCounts().get('far@mail.test') === 2));

      await client.workflow.getHandle(workflowId).result();
      const runIds = await runIdsOf(client, workflowId);
      expect(runIds.length).toBeGreaterThan(3);
      expect(runIds.at(-1)).toBe(execution.temporalRunId);
      // The SDK cannot pass the summary to the next run, only attributes and priority.
      const firstRun = await client.workflow.getHandle(workflowId, runIds[0]).describe();
      expect(await firstRun.staticSummary()).toBe(`Long way · ${contact}`);
      for (const runId of runIds) {
        const description = await client.workflow.getHandle(workflowId, runId).describe();
        expect(description.historyLength).toBeLessThan(2 * SUGGESTED_AFTER_EVENTS);
        const attributes = description.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]);
        const ids = { ProjectId: stack.project.id, AutomationId: id, ContactId: contact };
        expect(Object.fromEntries(attributes)).toMatchObject(ids);
        const priority = { priorityKey: PRIORITIES.automation, fairnessKey: stack.project.id };
        expect(description.priority).toMatchObject(priority);
      }
    },
    2 * PATIENCE_MS,
  );
});
