import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { recordComplaint } from '../shared/domain/emails/feedback.ts';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import type { TestProject } from './support/api.ts';
import { campaignContent } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const READERS = 20;

let stack: TestStack;
beforeAll(async () => {
  stack = await startTestStack({ config: { COMPLAINT_RATE_MAX: 10, COMPLAINT_RATE_MIN_EMAILS: READERS } });
});
afterAll(() => stack.stop());

/** A project with readers at two providers. */
async function createAudience(): Promise<TestProject> {
  const owner = await stack.createProject();
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select everpost_uuid_v7(), ${owner.project.id}, 'reader' || n || '@' || domain, true, now(), now()
      from generate_series(1, ${READERS}::int) n cross join (values ('googlemail.com'), ('gmail.com'), ('other.test')) d (domain)`,
  );
  return owner;
}

async function send({ api }: TestProject): Promise<{ id: string; read: () => Promise<any> }> {
  const { body } = await api('POST', '/campaigns', { body: campaignContent() });
  const id: string = body.data.id;
  await api('POST', `/campaigns/${id}/send`, { body: {} });
  return { id, read: async () => (await api('GET', `/campaigns/${id}`)).body };
}

async function complain({ project }: TestProject, count: number): Promise<void> {
  const emails = await query(
    stack.em(),
    sql`
      select id from email where project_id = ${project.id} and complained_at is null and to_address like '%@googlemail.com'
      order by id limit ${count}`,
  );
  for (const { id } of emails) await recordComplaint(stack.em(), id);
}

const ratesOf = async ({ api }: TestProject) => (await api('GET', '/activity/stats')).body.complaintRates;
const isSent = async (campaign: { read: () => Promise<any> }) => (await campaign.read()).status === 'SENT';

describe('complaints', () => {
  it.concurrent(
    'are counted by project and provider, each email once',
    async () => {
      const [owner, other] = [await createAudience(), await createAudience()];
      const campaign = await send(owner);
      await eventually(() => isSent(campaign), 30_000);
      // Workers count what they have sent in groups.
      const counted = async () =>
        (await ratesOf(owner)).reduce((sum: number, { sent }: { sent: number }) => sum + sent, 0);
      await eventually(async () => (await counted()) === 3 * READERS);
      await complain(owner, 1);
      const [{ id }] = (await query(
        stack.em(),
        sql`select id from email where complained_at is not null and project_id = ${owner.project.id}`,
      )) as [{ id: string }];
      await recordComplaint(stack.em(), id);
      expect(await ratesOf(owner)).toEqual([
        { provider: 'gmail.com', sent: 2 * READERS, complaints: 1, complaintRate: 2.5 },
        { provider: 'other.test', sent: READERS, complaints: 0, complaintRate: 0 },
      ]);
      expect(await ratesOf(other)).toEqual([]);
    },
    60_000,
  );

  it.concurrent(
    'hold the campaigns of a project, which say why, until a campaign is continued by request',
    async () => {
      const owner = await createAudience();
      const first = await send(owner);
      await eventually(() => isSent(first), 30_000);
      await eventually(async () => (await ratesOf(owner))[0]?.sent === 2 * READERS);
      await complain(owner, 4);
      const second = await send(owner);
      await eventually(async () => (await second.read()).waiting !== null, 30_000);
      expect(await second.read()).toMatchObject({
        status: 'SENDING',
        waiting: { provider: 'gmail.com', reason: expect.stringMatching(/^10\.00 % of 40 emails .* wait at 10 %/) },
        sentCount: 0,
      });
      const handle = stack.temporal.client.workflow.getHandle(campaignWorkflowId(second.id));
      await eventually(async () =>
        JSON.stringify(await handle.query('__temporal_workflow_metadata')).includes('10.00 % of 40 emails'),
      );
      const { body } = await owner.api('POST', `/campaigns/${second.id}/continue`);
      expect(body).toMatchObject({ id: second.id, waiting: null });
      await eventually(() => isSent(second), 60_000);
      expect((await second.read()).sentCount).toBe(3 * READERS - 4);
      expect((await owner.api('POST', `/campaigns/${second.id}/continue`)).status).toBe(400);
    },
    120_000,
  );

  it.concurrent(
    'that are older than seven days, about few emails, or of another project hold no campaign',
    async () => {
      const [owner, other] = [await createAudience(), await stack.createProject()];
      await query(
        stack.em(),
        sql`
          insert into provider_day (project_id, provider, day, sent, complained) values
            (${owner.project.id}, 'gmail.com', (now() at time zone 'UTC')::date - 7, 1000, 900),
            (${owner.project.id}, 'other.test', (now() at time zone 'UTC')::date - 6, ${READERS - 1}, 10),
            (${other.project.id}, 'gmail.com', (now() at time zone 'UTC')::date, 1000, 900)`,
      );
      const campaign = await send(owner);
      await eventually(() => isSent(campaign), 30_000);
      expect((await campaign.read()).sentCount).toBe(3 * READERS);
    },
    60_000,
  );
});
