import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { addReaders, sendToAll } from './support/campaigns.ts';
import { createGate } from './support/gate.ts';
import { audienceLoad, campaignLoad, pausedCampaign, pausedLoad, untilSent } from './support/kills/campaigns.ts';
import { chainLoad } from './support/kills/chain.ts';
import { CLIENT_KILLS, clientLoads, orphanLoad } from './support/kills/clients.ts';
import { importLoad } from './support/kills/imports.ts';
import {
  addressesOf,
  expectArrived,
  PATIENCE_MS,
  recipientCountsOf,
  type Kill,
  type Load,
} from './support/kills/load.ts';
import { optInLoad } from './support/kills/opt-ins.ts';
import { resendLoad } from './support/kills/resend.ts';
import { stepsLoad } from './support/kills/steps.ts';
import { submissionGroupLoad, submissionStepsLoad } from './support/kills/submissions.ts';
import { webhookLoad } from './support/kills/webhooks.ts';
import { createKillWorld } from './support/kills/world.ts';

const world = createKillWorld();
beforeAll(world.start, PATIENCE_MS);
afterAll(world.stop);

/** Kills, by name and in turn, and the work in whose middle they come. */
interface Round {
  title: string;
  kills: Record<string, Kill>;
  loads: Load[];
  /** False when a load starts the first worker. */
  hasWorker?: boolean;
}

const TWICE = { first: 'worker', second: 'worker' } as const;
/** What the campaign and the executions have come to at each kill. */
const IN_TURN = {
  asked: 'api',
  begun: 'worker',
  entered: 'postgresql',
  'first sent': 'worker',
  waiting: 'temporal',
  'gone on': 'api',
  'more sent': 'worker',
  recorded: 'postgresql',
  calling: 'worker',
  'Temporal away': 'temporal in order',
} as const;

const ROUNDS: Round[] = [
  {
    title: 'an API that is killed while there is no worker',
    kills: { first: 'api' },
    hasWorker: false,
    loads: [orphanLoad, submissionStepsLoad, submissionGroupLoad].map((create) => create(world)),
  },
  {
    title: 'an API that is killed in the middle of requests and messages, with PostgreSQL away in between',
    kills: CLIENT_KILLS,
    loads: clientLoads(world),
  },
  {
    title: 'a worker that is killed twice in the middle of everything',
    kills: TWICE,
    loads: [webhookLoad, pausedLoad, campaignLoad, importLoad, stepsLoad, optInLoad, audienceLoad].map((create) =>
      create(world),
    ),
  },
  {
    title: 'all parts, killed in turn while a campaign is sent again and executions run',
    kills: IN_TURN,
    loads: [resendLoad, chainLoad].map((create) => create(world)),
  },
];

describe.each(ROUNDS)('$title', ({ kills, loads, hasWorker = true }) => {
  beforeAll(async () => {
    if (hasWorker) world.workerProcess.start();
    for (const load of loads) await load.begin?.();
    for (const [name, kill] of Object.entries(kills)) {
      const points = loads.map(({ isHeld, points }) => ({ isHeld, ...points[name] }));
      await Promise.all(points.map(async ({ isHeld, hold }) => isHeld && hold?.()));
      for (const { isHeld, hold } of points) if (!isHeld) await hold?.();
      await world.kill(kill, async () => void (await Promise.all(points.map(async ({ letGo }) => letGo?.()))));
    }
  }, 6 * PATIENCE_MS);

  for (const load of loads) it(load.name, load.check, 3 * PATIENCE_MS);
});

describe('a worker that ends', () => {
  const RECIPIENTS = 400;
  /** So slow that not all messages can be finished while the worker ends. */
  const REPLY_MS = 250;
  beforeAll(() => world.workerProcess.start());

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
      const campaign = await sendToAll(project);
      await gate.untilHeld();
      const worker = world.workerProcess.current();
      if (end === 'terminate') void worker.terminate();
      else await worker.ask(end);
      gate.openUntil(Infinity);
      expect(await worker.exited).toBe(exitCode);
      expect(worker.output()).toContain(message);
      expect(recipientCountsOf(world, domain).length).toBeLessThan(RECIPIENTS);
      world.beforeReply.delete(domain);
      world.workerProcess.start();
      expect(await untilSent(campaign)).toMatchObject({ totalRecipients: RECIPIENTS, sentCount: RECIPIENTS });
      await expectArrived(world, addressesOf(RECIPIENTS, domain));
    },
    3 * PATIENCE_MS,
  );
});

it(
  'a campaign that is paused while it is being sent can be cancelled and deleted at once',
  async () => {
    world.workerProcess.start();
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
