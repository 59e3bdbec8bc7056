import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { query, queryOne, sql } from '../../shared/domain/database/sql.ts';
import { inTransaction } from '../../shared/domain/database/transaction.ts';
import type { TestProject } from '../../tests/support/api.ts';
import { startCampaignApi, type CampaignApi } from '../../tests/support/campaigns.ts';
import { eventually } from '../../tests/support/eventually.ts';
import type { ActivityDeps } from '../deps.ts';
import { createCampaignActivities } from './campaign-activities.ts';

let app: CampaignApi;
let freeze: (campaignId: string) => Promise<unknown>;
beforeAll(async () => {
  app = await startCampaignApi();
  const deps = { orm: app.orm, config: app.config, heartbeatMs: 1_000 } as unknown as ActivityDeps;
  const activities = createCampaignActivities(deps as Parameters<typeof createCampaignActivities>[0]);
  freeze = (campaignId) => new MockActivityEnvironment().run(() => activities.freezeAudience({ campaignId }));
});
afterAll(() => app.stop());

async function sending(owner?: TestProject): Promise<string> {
  const { id } = await app.createCampaign({}, owner);
  await query(app.em(), sql`update campaign set status = 'SENDING' where id = ${id}`);
  return id;
}

async function isFrozen(id: string): Promise<boolean> {
  const row = await queryOne<{ done: boolean }>(
    app.em(),
    sql`select audience_frozen as done from campaign where id = ${id}`,
  );
  return row?.done ?? false;
}

async function waitersForLocks(): Promise<number> {
  const row = await queryOne<{ count: number }>(
    app.em(),
    sql`select count(*)::int from pg_locks where locktype = 'advisory' and not granted`,
  );
  return row?.count ?? 0;
}

it('the audiences of a project are written down one at a time, and those of others meanwhile', async () => {
  const other = await app.createProject();
  const [first, second] = [await sending(), await sending()];
  const ofOther = [await sending(other), await sending(other), await sending(other)];
  const all: Promise<unknown>[] = [];
  await inTransaction(app.em(), async (tx) => {
    await query(tx, sql`select pg_advisory_xact_lock(hashtextextended(${first}, 0))`);
    all.push(freeze(first));
    await eventually(async () => (await waitersForLocks()) === 1);
    all.push(freeze(second));
    for (const id of ofOther) await freeze(id);
    expect([await isFrozen(first), await isFrozen(second)]).toEqual([false, false]);
  });
  await Promise.all(all);
  expect([await isFrozen(first), await isFrozen(second)]).toEqual([true, true]);
});
