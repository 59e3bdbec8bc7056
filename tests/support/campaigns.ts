import { expect } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { sql, type Em } from '../../shared/database/sql.ts';
import { query } from './rows.ts';
import type { CampaignStatus } from '../../shared/pure/campaigns/campaign-status.ts';
import { startTestApi, type TestApi, type TestProject, type TestReply } from './api.ts';

/** The API with one contact, and shortcuts for tests of campaigns. Nothing sends the campaigns. */
export interface CampaignApi extends TestApi {
  postCampaign: (body: unknown, project?: TestProject) => Promise<TestReply>;
  /** Creates a draft with these changes to `campaignContent`. @returns the campaign as the API shows it */
  createCampaign: (change?: Record<string, unknown>, project?: TestProject) => Promise<any>;
  /** Calls `/campaigns/<id><action>`. */
  call: (method: string, id: string, action?: string, body?: unknown) => Promise<TestReply>;
  sendCampaign: (id: string, body?: unknown) => Promise<TestReply>;
  read: (id: string) => Promise<any>;
  /** Creates a campaign in a status. Statuses that only a worker sets are written to the row. */
  campaignIn: (status: CampaignStatus) => Promise<any>;
  /** How many messages about the campaign wait for the dispatcher. */
  outboxRows: (id: string) => Promise<number>;
  createSegment: (project?: TestProject) => Promise<string>;
}

export const UNKNOWN_ID = '019a0000-0000-7000-8000-000000000000';
export const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** The body of a valid campaign, with changes. */
export const campaignContent = (change: Record<string, unknown> = {}) => ({
  name: 'Launch',
  subject: 'Hi {{firstName}}',
  body: '<p>Dear {{firstName}}</p>',
  from: 'news@example.com',
  audienceType: 'ALL',
  ...change,
});
export const filterCondition = (...filters: unknown[]) => ({ logic: 'AND', groups: [{ filters }] });
export const proPlan = filterCondition({ field: 'data.plan', operator: 'equals', value: 'pro' });
export const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** Creates subscribed contacts with the addresses `reader1@<domain>`, `reader2@<domain>` and so on. */
export async function addReaders(em: Em, projectId: string, count: number, domain = 'mail.test'): Promise<void> {
  await query(
    em,
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      select everpost_uuid_v7(), ${projectId}, 'reader' || n || '@' || ${domain}, true, now(), now()
      from generate_series(1, ${count}::int) n`,
  );
}

export interface SentCampaign {
  id: string;
  /** The campaign as the API shows it now. */
  read: () => Promise<any>;
}

/** Creates a campaign to all contacts of a project, and sends it. */
export async function sendToAll({ api }: TestProject): Promise<SentCampaign> {
  const { body } = await api('POST', '/campaigns', {
    body: { name: 'News', subject: 'News', body: '<p>News</p>', from: 'news@example.com', audienceType: 'ALL' },
  });
  const id: string = body.data.id;
  await api('POST', `/campaigns/${id}/send`, { body: {} });
  return { id, read: async () => (await api('GET', `/campaigns/${id}`)).body };
}

export async function startCampaignApi(): Promise<CampaignApi> {
  const app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
  await app.api('POST', '/contacts', { body: { email: 'reader@mail.test', data: { plan: 'pro' } } });

  const postCampaign: CampaignApi['postCampaign'] = (body, project = app) =>
    project.api('POST', '/campaigns', { body });
  const call: CampaignApi['call'] = (method, id, action = '', body) =>
    app.api(method, `/campaigns/${id}${action}`, { body });
  const sendCampaign: CampaignApi['sendCampaign'] = (id, body = {}) => call('POST', id, '/send', body);
  const read: CampaignApi['read'] = async (id) => (await call('GET', id)).body;
  const createCampaign: CampaignApi['createCampaign'] = async (change, project) => {
    const reply = await postCampaign(campaignContent(change), project);
    expect(reply.status).toBe(201);
    return reply.body.data;
  };

  return {
    ...app,
    postCampaign,
    createCampaign,
    call,
    sendCampaign,
    read,
    async campaignIn(status) {
      const { id } = await createCampaign();
      if (status === 'SCHEDULED') await sendCampaign(id, { scheduledFor: inDays(30) });
      else if (status !== 'DRAFT') await query(app.em(), sql`update campaign set status = ${status} where id = ${id}`);
      return read(id);
    },
    outboxRows: async (id) =>
      (await query(app.em(), sql`select from outbox where kind = 'campaign' and subject_id = ${id}`)).length,
    async createSegment(project = app) {
      const id = uuidV7();
      await query(
        app.em(),
        sql`
          insert into segment (id, project_id, name, type, condition, track_membership, member_count, created_at, updated_at)
          values (${id}, ${project.project.id}, 'Pro', 'DYNAMIC', ${JSON.stringify(proPlan)}::jsonb, false, 0, now(), now())`,
      );
      return id;
    },
  };
}
