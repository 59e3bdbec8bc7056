import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addReaders } from './support/campaigns.ts';
import { LOOP_WATCH } from './support/everpost-process.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

const RECIPIENTS = 400;
const PATIENCE_MS = 90_000;

let stack: TestStack;
let worker: WorkerProcess | undefined;
let next: WorkerProcess | undefined;
beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false, sink: { delayMs: 100, keepMessages: false } });
  await addReaders(stack.em(), stack.project.id, RECIPIENTS);
});
afterAll(async () => {
  await worker?.kill();
  await next?.kill();
  await stack.stop();
});

const faulty = () => startWorkerProcess(stack.config, stack.temporal, ['--import', LOOP_WATCH]);

describe('an error that nothing catches', () => {
  it.each([
    ['throw', 'an uncaught error'],
    ['reject', 'an unhandled rejection'],
  ] as const)(
    'by %s lets the worker finish the messages being sent and ends it with 1, and another worker does the rest',
    async (fault, message) => {
      stack.sink.clear();
      await next?.terminate();
      worker = faulty();
      const { body } = await stack.api('POST', '/campaigns', {
        body: {
          ...{ name: 'News', subject: 'News', body: '<p>News</p>', from: 'news@example.com' },
          audienceType: 'ALL',
        },
      });
      await stack.api('POST', `/campaigns/${body.data.id}/send`, { body: {} });
      await eventually(async () => stack.sink.messageCount() > RECIPIENTS / 20, PATIENCE_MS);
      await worker.ask(fault);
      expect(await worker.exited).toBe(1);
      expect(worker.output()).toContain(message);
      expect(stack.sink.messageCount()).toBeLessThan(RECIPIENTS);

      next = faulty();
      const campaign = await eventually(async () => {
        const { body: found } = await stack.api('GET', `/campaigns/${body.data.id}`);
        return found.status === 'SENT' && found;
      }, PATIENCE_MS);
      expect(campaign).toMatchObject({ totalRecipients: RECIPIENTS, sentCount: RECIPIENTS });
      const counts = [...stack.sink.recipientCounts().values()];
      expect(counts).toHaveLength(RECIPIENTS);
      expect(counts.every((count) => count === 1)).toBe(true);
    },
    3 * PATIENCE_MS,
  );
});
