import { setTimeout as delay } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { sql } from '../../../shared/database/sql.ts';
import { campaignWorkflowId } from '../../../shared/pure/workflow-contracts.ts';
import type { TestProject } from '../api.ts';
import { addReaders, sendToAll, type SentCampaign } from '../campaigns.ts';
import { eventually } from '../eventually.ts';
import { createGate } from '../gate.ts';
import { addressesOf, expectArrived, PATIENCE_MS, recipientCountsOf, type KillWorld, type Load } from './load.ts';
import { query, queryOne } from '../rows.ts';

const RECIPIENTS = 400;

export async function untilSent(campaign: SentCampaign): Promise<any> {
  return eventually(async () => {
    const found = await campaign.read();
    return found.status === 'SENT' && found;
  }, PATIENCE_MS);
}

/** A campaign whose messages wait for a reply when the worker is killed. */
export function campaignLoad(world: KillWorld): Load {
  const domain = 'campaign.test';
  const gate = createGate(RECIPIENTS * 0.25);
  let campaign: SentCampaign;
  return {
    name: 'leaves out no recipient of a campaign, and repeats only emails that were being sent',
    isHeld: true,
    async begin() {
      const project = await world.createProject();
      await addReaders(world.em(), project.project.id, RECIPIENTS, domain);
      world.beforeReply.set(domain, gate.pass);
      campaign = await sendToAll(project);
    },
    points: {
      first: { hold: gate.untilHeld, letGo: async () => gate.openUntil(RECIPIENTS * 0.6) },
      second: { hold: gate.untilHeld, letGo: async () => gate.openUntil(Infinity) },
    },
    async check() {
      expect(await untilSent(campaign)).toMatchObject({
        totalRecipients: RECIPIENTS,
        sentCount: RECIPIENTS,
        bouncedCount: 0,
      });
      await expectArrived(world, addressesOf(RECIPIENTS, domain), { repeats: RECIPIENTS / 4 - 1 });
    },
  };
}

const AUDIENCE = 20_000;

/** A campaign whose audience is being stored at the first kill. */
export function audienceLoad(world: KillWorld): Load {
  let project: TestProject;
  let campaign: SentCampaign;
  const stored = () =>
    queryOne(
      world.em(),
      sql`select total_recipients as total, audience_frozen as "isAll" from campaign where id = ${campaign.id}`,
    );
  return {
    name: 'stores the rest of an audience',
    isHeld: false,
    async begin() {
      project = await world.createProject();
      // At a low speed the audience is stored slowly.
      await query(world.em(), sql`update project set emails_per_second = 1 where id = ${project.project.id}`);
      await addReaders(world.em(), project.project.id, AUDIENCE, 'audience.test');
    },
    points: {
      first: {
        async hold() {
          campaign = await sendToAll(project);
          await eventually(async () => ((await stored())?.total ?? 0) > AUDIENCE / 10, PATIENCE_MS);
        },
        letGo: async () => expect(await stored()).toMatchObject({ isAll: false }),
      },
    },
    async check() {
      await eventually(async () => (await stored())?.isAll, PATIENCE_MS);
      expect(await stored()).toMatchObject({ total: AUDIENCE });
      await project.api('POST', `/campaigns/${campaign.id}/cancel`);
    },
  };
}

const PAUSED_RECIPIENTS = 300;
const REPLY_MS = 100;

export interface PausedCampaign {
  project: TestProject;
  campaign: SentCampaign;
  /** Waits until no message is being sent and the workflow waits. @returns how many recipients have got their email */
  untilStill: () => Promise<number>;
}

/** Sends a campaign of a new project, and pauses it in the middle. */
export async function pausedCampaign(world: KillWorld, domain: string): Promise<PausedCampaign> {
  const project = await world.createProject();
  await addReaders(world.em(), project.project.id, PAUSED_RECIPIENTS, domain);
  world.beforeReply.set(domain, () => delay(REPLY_MS));
  const campaign = await sendToAll(project);
  await eventually(async () => recipientCountsOf(world, domain).length > 0, PATIENCE_MS);
  expect((await project.api('POST', `/campaigns/${campaign.id}/pause`)).status).toBe(200);
  const handle = world.temporal.client.workflow.getHandle(campaignWorkflowId(campaign.id));
  async function untilStill(): Promise<number> {
    // What the Temporal UI shows. After a kill, Temporal may first ask the dead worker.
    await eventually(async () => {
      const shown = await handle.query('__temporal_workflow_metadata').catch(() => '');
      return JSON.stringify(shown).includes('**Paused**');
    }, PATIENCE_MS);
    return recipientCountsOf(world, domain).length;
  }
  return { project, campaign, untilStill };
}

/** A campaign that is paused during the kills. */
export function pausedLoad(world: KillWorld): Load {
  const domain = 'paused.test';
  let paused: PausedCampaign;
  let count: number;
  return {
    name: 'sends nothing of a paused campaign until it is resumed, and then every other email once',
    isHeld: true,
    async begin() {
      paused = await pausedCampaign(world, domain);
      const { project, campaign } = paused;
      count = await paused.untilStill();
      // Besides the first ones, these are the messages that were sent until the campaign saw the pause.
      expect(count).toBeLessThan(PAUSED_RECIPIENTS * 0.7);
      expect(await campaign.read()).toMatchObject({ status: 'SENDING', paused: true, sentCount: count });
      const waiting = await project.api('GET', `/campaigns/${campaign.id}/recipients?state=PENDING&limit=1`);
      const email = await project.api('GET', `/emails/${waiting.body.recipients[0].emailId}`);
      expect(email.body.waiting).toEqual({ reason: 'campaign paused', until: null, words: null });
    },
    points: {},
    async check() {
      const { project, campaign, untilStill } = paused;
      expect(await untilStill()).toBe(count);
      await project.api('POST', `/campaigns/${campaign.id}/resume`);
      expect(await untilSent(campaign)).toMatchObject({
        paused: false,
        sentCount: PAUSED_RECIPIENTS,
        totalRecipients: PAUSED_RECIPIENTS,
      });
      await expectArrived(world, addressesOf(PAUSED_RECIPIENTS, domain));
    },
  };
}
