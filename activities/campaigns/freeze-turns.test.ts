import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { sql, inTransaction } from '../../shared/database/sql.ts';
import { query, queryOne } from '../../tests/support/rows.ts';
import type { TestProject } from '../../tests/support/api.ts';
import { startCampaignApi, type CampaignApi } from '../../tests/support/campaigns.ts';
import { eventually } from '../../tests/support/eventually.ts';
import type { ActivityDeps } from '../deps.ts';
import { createCampaignActivities } from './campaign-activities.ts';
import { createAudienceFreezer, pauseAfterStoring } from './freeze-audience.ts';

let app: CampaignApi;
let freeze: (campaignId: string, untilTotal?: number) => Promise<unknown>;
/** As `freeze`, with a turn of no time. */
let freezeForATurn: (campaignId: string) => Promise<unknown>;
beforeAll(async () => {
  app = await startCampaignApi();
  const deps = { orm: app.orm, config: app.config, heartbeatMs: 1_000 } as unknown as ActivityDeps;
  const activities = createCampaignActivities(deps as Parameters<typeof createCampaignActivities>[0]);
  freeze = (campaignId, untilTotal) =>
    new MockActivityEnvironment().run(() => activities.freezeAudience({ campaignId, untilTotal }));
  const freezeAudience = createAudienceFreezer(deps, 0);
  freezeForATurn = (campaignId) => new MockActivityEnvironment().run(() => freezeAudience({ campaignId }));
});
afterAll(() => app.stop());

async function sending(owner?: TestProject): Promise<string> {
  const { id } = await app.createCampaign({}, owner);
  await query(app.em(), sql`update campaign set status = 'SENDING' where id = ${id}`);
  return id;
}

async function storeContacts({ project }: TestProject, count: number): Promise<void> {
  await query(
    app.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${project.id}, 'reader' || n || '@mail.test', true, '{}', now(), now()
      from generate_series(1, ${count}::int) n`,
  );
}

async function isFrozen(id: string): Promise<boolean> {
  const row = await queryOne(app.em(), sql`select audience_frozen as done from campaign where id = ${id}`);
  return row?.done ?? false;
}

async function waitersForLocks(): Promise<number> {
  const row = await queryOne(
    app.em(),
    sql`select count(*)::int from pg_locks where locktype = 'advisory' and not granted`,
  );
  return row?.count ?? 0;
}

it('the audiences of a project are stored one at a time, and those of other projects meanwhile', async () => {
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

it('an audience leaves its slot to others after its turn, also while it waits for another one of its project', async () => {
  const owner = await app.createProject();
  await storeContacts(owner, 4_500);
  const turnOver = expect.objectContaining({ type: 'TurnOver', category: 'BENIGN', nonRetryable: false });
  const [first, second] = [await sending(owner), await sending(owner)];
  await inTransaction(app.em(), async (tx) => {
    await query(tx, sql`select pg_advisory_xact_lock(hashtextextended(${first}, 0))`);
    const begun = freezeForATurn(first).catch((error: unknown) => error);
    await eventually(async () => (await waitersForLocks()) === 1);
    await expect(freezeForATurn(second)).rejects.toEqual(turnOver);
    return { begun };
  }).then(async ({ begun }) => expect(await begun).toEqual(turnOver));
  expect(await freeze(first)).toEqual({ totalRecipients: 4_500, isStopped: false });
  await expect(freezeForATurn(second)).rejects.toEqual(turnOver);
  expect(await freeze(second, 1)).toEqual({ totalRecipients: 4_000, isStopped: false, isPartial: true });
});

it('an audience is stored in parts, each of which continues the previous one', async () => {
  const owner = await app.createProject();
  await storeContacts(owner, 4_500);
  const id = await sending(owner);
  expect(await freeze(id, 1)).toEqual({ totalRecipients: 2_000, isStopped: false, isPartial: true });
  expect(await freeze(id, 2_500)).toEqual({ totalRecipients: 4_000, isStopped: false, isPartial: true });
  expect(await isFrozen(id)).toBe(false);
  expect(await freeze(id, 100_000)).toEqual({ totalRecipients: 4_500, isStopped: false });
  expect(await isFrozen(id)).toBe(true);
});

it('a throttled project has its audiences stored at a multiple of its speed, others without a pause', async () => {
  expect(pauseAfterStoring(2_000, 40, 0)).toBe(0);
  expect(pauseAfterStoring(500, 40, 20)).toBe(60);
  expect(pauseAfterStoring(500, 40, 1_000)).toBe(10);
  expect(pauseAfterStoring(0, 40, 20)).toBe(0);

  const owner = await app.createProject();
  await query(app.em(), sql`update project set emails_per_second = 20 where id = ${owner.project.id}`);
  await storeContacts(owner, 1_200);
  expect(await freeze(await sending(owner))).toEqual({ totalRecipients: 1_200, isStopped: false });
});

it('an audience that can no longer be computed ends the campaign with the reason, and says who has the email', async () => {
  const owner = await app.createProject();
  await storeContacts(owner, 4_500);
  const all = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'exists' }] }] };
  const nonsense = { logic: 'AND', groups: [{ filters: [{ field: 'email', operator: 'within', value: 'soon' }] }] };
  const endsWith = async (storedFirst: boolean) => {
    const { id } = await app.createCampaign({ audienceType: 'FILTERED', audienceCondition: all }, owner);
    await query(app.em(), sql`update campaign set status = 'SENDING' where id = ${id}`);
    if (storedFirst) await freeze(id, 1);
    await query(
      app.em(),
      sql`update campaign set audience_condition = ${JSON.stringify(nonsense)}::jsonb where id = ${id}`,
    );
    expect(await freeze(id)).toEqual({ totalRecipients: storedFirst ? 2_000 : 0, isStopped: true });
    const { body } = await owner.api('GET', `/campaigns/${id}`);
    expect(body).toMatchObject({
      status: 'CANCELLED',
      error: expect.stringMatching(/^The audience cannot be computed: /),
    });
    return (body.error as string).includes(`GET /campaigns/${id}/recipients says who has the email`);
  };
  expect([await endsWith(false), await endsWith(true)]).toEqual([false, true]);
});
