import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { testEnvironment } from './support/environment.ts';
import { LOOP_WATCH, startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { createGate } from './support/gate.ts';
import { audienceLoad, campaignLoad, pausedCampaign, pausedLoad, untilSent } from './support/kills/campaigns.ts';
import { importLoad } from './support/kills/imports.ts';
import { PATIENCE_MS, recipientCountsOf, type KillWorld } from './support/kills/load.ts';
import { optInLoad } from './support/kills/opt-ins.ts';
import { stepsLoad } from './support/kills/steps.ts';
import { webhookLoad } from './support/kills/webhooks.ts';
import { startTestStack } from './support/stack.ts';

/** Those that are not held come last, because they must still be in their middle at the kill. */
const LOADS = [pausedLoad, campaignLoad, importLoad, stepsLoad, webhookLoad, optInLoad, audienceLoad];
const KILLS = [1, 2];

const world = {} as KillWorld;
const loads = LOADS.map((create) => create(world));
let worker: EverpostProcess;

function startWorker(): void {
  worker = startEverpostProcess(
    'worker',
    world.config,
    world.temporal,
    // The loads keep connections waiting for locks. Workflows run in their thread, as users run them.
    { WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath, DATABASE_POOL_SIZE: '20', TEMPORAL_DEBUG: undefined },
    ['--import', LOOP_WATCH],
  );
}

beforeAll(async () => {
  const beforeReply = new Map<string, () => Promise<unknown>>();
  const stack = await startTestStack({
    hasWorkers: false,
    config: { SMTP_CONNECTIONS: 10, API_RATE_LIMIT_PER_MINUTE: 1_000_000, WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] },
    sink: { keepMessages: false, beforeReply: (recipient) => beforeReply.get(recipient.split('@')[1] ?? '')?.() },
  });
  Object.assign(world, stack, { beforeReply });
  startWorker();
}, PATIENCE_MS);
afterAll(async () => {
  await worker.kill();
  await world.stop();
});

describe('a worker that is killed twice in the middle of everything', () => {
  beforeAll(async () => {
    for (const load of loads) await load.begin();
    for (const kill of KILLS) {
      await Promise.all(loads.filter((load) => load.isHeld).map((load) => load.hold(kill)));
      for (const load of loads.filter(({ isHeld }) => !isHeld)) await load.hold(kill);
      await worker.kill();
      await Promise.all(loads.map((load) => load.letGo(kill)));
      startWorker();
    }
  }, 6 * PATIENCE_MS);

  for (const load of loads) it(load.name, () => load.check(), 3 * PATIENCE_MS);
});

describe('a worker that ends', () => {
  const RECIPIENTS = 400;
  /** So slow that not all messages can be finished while the worker ends. */
  const REPLY_MS = 250;

  it.each([
    ['a signal', 'terminate', 0, ''],
    ['an error that nothing catches', 'throw', 1, 'an uncaught error'],
    ['a rejection that nothing handles', 'reject', 1, 'an unhandled rejection'],
  ] as const)(
    'by %s finishes the messages being sent, and the next one sends the rest, each once',
    async (_cause, end, exitCode, message) => {
      const domain = `${end}.test`;
      const project = await world.createProject();
      await addReaders(world.em(), project.project.id, RECIPIENTS, domain);
      const gate = createGate(RECIPIENTS / 20);
      world.beforeReply.set(domain, () => gate.pass().then(() => delay(REPLY_MS)));
      if (!worker.isRunning()) startWorker();
      const campaign = await sendToAll(project);
      await gate.untilHeld();
      if (end === 'terminate') void worker.terminate();
      else await worker.ask(end);
      gate.openUntil(Infinity);
      expect(await worker.exited).toBe(exitCode);
      expect(worker.output()).toContain(message);
      expect(recipientCountsOf(world, domain).length).toBeLessThan(RECIPIENTS);
      startWorker();
      expect(await untilSent(campaign)).toMatchObject({ totalRecipients: RECIPIENTS, sentCount: RECIPIENTS });
      expect(recipientCountsOf(world, domain)).toEqual(Array.from({ length: RECIPIENTS }, () => 1));
    },
    3 * PATIENCE_MS,
  );
});

it(
  'a campaign that is paused while it is being sent can be cancelled and deleted at once',
  async () => {
    if (!worker.isRunning()) startWorker();
    const domain = 'cancelled.test';
    const { project, campaign, untilStill } = await pausedCampaign(world, domain);
    const count = await untilStill();
    expect((await project.api('POST', `/campaigns/${campaign.id}/cancel`)).body).toMatchObject({
      status: 'CANCELLED',
      paused: false,
    });
    expect((await project.api('DELETE', `/campaigns/${campaign.id}`)).status).toBe(204);
    await world.temporal.client.workflow.getHandle(campaignWorkflowId(campaign.id)).result();
    expect(recipientCountsOf(world, domain)).toHaveLength(count);
  },
  PATIENCE_MS,
);
