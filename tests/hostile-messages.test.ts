import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LOOP_WATCH } from './support/everpost-process.ts';
import { repeatLongTurns } from './support/hostile-api.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

/** The longest turn of a worker's event loop, in milliseconds of CPU time. Without pauses it was 300 to 2,300. */
const TURN_MAX_MS = 150;
const SENT_WITHIN_MS = 60_000;

let stack: TestStack;
let worker: WorkerProcess;
beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false, sink: { keepMessages: false } });
  worker = startWorkerProcess(stack.config, stack.temporal, ['--import', LOOP_WATCH]);
  // The first email makes Node compile code, which must not count.
  await sendOne('<p>Hello</p>');
});
afterAll(async () => {
  await worker.kill();
  await stack.stop();
});

async function sendOne(body: string): Promise<void> {
  const sent = await stack.api('POST', '/v1/send', {
    body: { to: 'ada@mail.test', subject: 'S', body, from: 'a@example.com' },
  });
  expect(sent.status).toBe(200);
  const path = `/emails/${sent.body.data.emails[0].email}`;
  await eventually(async () => (await stack.api('GET', path)).body.status === 'SENT', SENT_WITHIN_MS);
}

describe('an email of many megabytes', () => {
  it.each([
    ['lines beyond ASCII', '<p>Grüße aus Köln an alle</p>\n'.repeat(800_000)],
    ['one long line', 'x'.repeat(27_000_000)],
    ['short lines with blanks at their ends', 'a  \n'.repeat(6_500_000)],
    ['dots', '.\n'.repeat(500_000)],
  ])('of %s does not delay the other work of its worker', async (_name, body) => {
    const longestTurnMs = await repeatLongTurns(TURN_MAX_MS, async () => {
      await worker.ask('report');
      await sendOne(body);
      return (await worker.ask('report')).longestTurnMs;
    });
    expect(longestTurnMs).toBeLessThan(TURN_MAX_MS);
  });
});
