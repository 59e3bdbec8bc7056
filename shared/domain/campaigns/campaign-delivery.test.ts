import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { LIMITS } from '../../pure/limits.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { closeRecipients, markCampaignCancelled } from './campaign-state.ts';
import { createProject } from '../projects/projects.ts';
import { sql } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import {
  claimCampaignPage,
  loadPendingRecipients,
  recordCampaignResults,
  type PendingRecipient,
} from './campaign-delivery.ts';
import type { DeliveryResult } from '../../sending/ports.ts';

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Campaigns')).project.id;
});

/** Recipients numbered from 1, each with about this many bytes of custom data. */
async function createRecipients(count: number, dataBytes: number): Promise<string> {
  const campaignId = uuidV7();
  await query(
    em(),
    sql`
      with added as (
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select everpost_uuid_v7(), ${projectId}, ${campaignId}::text || n || '@x.test', true,
          jsonb_build_object('text', repeat('x', ${dataBytes}::int)), now(), now()
        from generate_series(1, ${count}::int) n returning id, email
      )
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, created_at)
      select everpost_uuid_v7(), ${projectId}, id, ${campaignId}, row_number() over (order by id), email, 'PENDING',
        now()
      from added`,
  );
  return campaignId;
}

/** Gives recipients the row of a campaign that is being sent. */
async function createSendingCampaign(recipients: number): Promise<string> {
  const campaignId = await createRecipients(recipients, 10);
  await query(
    em(),
    sql`
      insert into campaign (id, project_id, name, subject, body, from_address, audience_type, type, status,
        total_recipients, audience_frozen, created_at, updated_at)
      values (${campaignId}, ${projectId}, 'News', 'S', 'B', 'a@x.test', 'ALL', 'MARKETING', 'SENDING',
        ${recipients}, true, now(), now())`,
  );
  return campaignId;
}

async function statesOf(campaignId: string): Promise<string[]> {
  const rows = await query(em(), sql`select status from email where campaign_id = ${campaignId} order by id`);
  return rows.map(({ status }) => status);
}

async function slicesOf(campaignId: string, page = { firstSeq: 1, lastSeq: 1_000 }): Promise<PendingRecipient[][]> {
  const slices: PendingRecipient[][] = [];
  for await (const slice of loadPendingRecipients(em, { campaignId, ...page }, undefined)) slices.push(slice);
  return slices;
}

const bytesOf = (slice: PendingRecipient[]) => slice.reduce((sum, { data }) => sum + JSON.stringify(data).length, 0);

describe('the recipients of a page', () => {
  it('come in few slices when their data is small', async () => {
    const campaignId = await createRecipients(600, 300);
    const slices = await slicesOf(campaignId);
    expect(slices.map((slice) => slice.length)).toEqual([250, 250, 100]);
  });

  it('come in slices that fit into memory, each recipient once and in order', async () => {
    const campaignId = await createRecipients(200, 60_000);
    const slices = await slicesOf(campaignId);
    expect(slices.length).toBeGreaterThan(2);
    for (const slice of slices) expect(bytesOf(slice)).toBeLessThan(LIMITS.campaignSliceBytes + 65_536);
    const ids = slices.flat().map((recipient) => recipient.emailId);
    const expected = await query(
      em(),
      sql`select id from email where campaign_id = ${campaignId} order by campaign_seq`,
    );
    expect(ids).toEqual(expected.map((row) => row.id));
  });

  it('leave out those with an outcome and those of other pages', async () => {
    const campaignId = await createRecipients(10, 10);
    await query(
      em(),
      sql`update email set status = 'SENT' where campaign_id = ${campaignId} and campaign_seq in (3, 4)`,
    );
    const slices = await slicesOf(campaignId, { firstSeq: 2, lastSeq: 5 });
    expect(slices.map((slice) => slice.length)).toEqual([2]);
    expect(await slicesOf(campaignId, { firstSeq: 11, lastSeq: 20 })).toEqual([]);
  });
});

describe('the results of a page', () => {
  it('are written to the same database pages as the rows that they change, so that indexes do not change', async () => {
    const campaignId = await createRecipients(1_000, 10);
    const readPages = () =>
      query(
        em(),
        sql`select id, (ctid::text::point)[0]::int as page from email where campaign_id = ${campaignId} order by id`,
      );
    const before = await readPages();
    const heading = { from: 'a@x.test', subject: 'S' };
    const page = { campaignId, firstSeq: 1, lastSeq: 1_000, claimToken: uuidV7(), projectId, heading };
    for (let from = 0; from < before.length; from += 100) {
      const results = before
        .slice(from, from + 100)
        .map(({ id }): DeliveryResult => ({ emailId: id, verdict: 'sent', subject: 'x'.repeat(50), error: null }));
      await recordCampaignResults(em(), page, results, [60]);
    }
    const after = await readPages();
    const moved = after.filter((row, index) => row.page !== before[index]?.page);
    // Without free space in the pages, about 550 of the 1,000 rows moved.
    expect(moved.length).toBeLessThan(150);
  });

  it('reach emails that were on the wire when their campaign ended with an error', async () => {
    const campaignId = await createSendingCampaign(3);
    const emails = await query(em(), sql`select id from email where campaign_id = ${campaignId} order by id`);
    const ids = emails.map(({ id }) => id);
    const heading = { from: 'a@x.test', subject: 'S' };
    const page = { campaignId, firstSeq: 1, lastSeq: 3, claimToken: uuidV7(), projectId, heading };
    await claimCampaignPage(em(), page, page.claimToken);
    await markCampaignCancelled(em(), campaignId, 'The template is broken.');
    await closeRecipients(em(), campaignId, () => undefined);
    const late = (verdict: 'sent' | 'bounced' | 'deferred', index: number): DeliveryResult => ({
      emailId: String(ids[index]),
      verdict,
      subject: null,
      error: null,
    });
    const results = [late('sent', 0), late('bounced', 1), late('deferred', 2)];
    for (const claimToken of [uuidV7(), page.claimToken, page.claimToken]) {
      await recordCampaignResults(em(), { ...page, claimToken }, results, [60]);
      if (claimToken !== page.claimToken) expect(await statesOf(campaignId)).toEqual(['FAILED', 'FAILED', 'FAILED']);
    }
    expect(await statesOf(campaignId)).toEqual(['SENT', 'BOUNCED', 'FAILED']);
    const counts = sql`
      select sent_count as sent, failed_count as failed, bounced_count as bounced from campaign where id = ${campaignId}`;
    expect(await query(em(), counts)).toEqual([{ sent: 1, failed: 1, bounced: 1 }]);
  });

  it('count a deferral that one attempt records twice once, and one of the next attempt again', async () => {
    const campaignId = await createSendingCampaign(1);
    const read = sql`
      select id, deferrals, jsonb_array_length(attempts) as attempts from email where campaign_id = ${campaignId}`;
    const emailId = (await query(em(), read))[0]!.id;
    const heading = { from: 'a@x.test', subject: 'S' };
    const page = { campaignId, firstSeq: 1, lastSeq: 1, projectId, heading };
    const deferral: DeliveryResult = { emailId, verdict: 'deferred', subject: null, error: '450 later', server: 's' };
    for (const expected of [1, 2]) {
      const claimToken = uuidV7();
      await claimCampaignPage(em(), page, claimToken);
      for (let i = 0; i < 2; i++) await recordCampaignResults(em(), { ...page, claimToken }, [deferral], [60, 60]);
      expect(await query(em(), read)).toEqual([{ id: emailId, deferrals: expected, attempts: expected }]);
    }
    expect((await slicesOf(campaignId, { firstSeq: 1, lastSeq: 1 })).flat()).toEqual([]);
  });

  it('count a deferral of an email that the same attempt held before', async () => {
    const campaignId = await createSendingCampaign(1);
    const read = sql`select id, deferrals, wait_reason as reason from email where campaign_id = ${campaignId}`;
    const emailId = (await query(em(), read))[0]!.id;
    const claimToken = uuidV7();
    const page = {
      campaignId,
      firstSeq: 1,
      lastSeq: 1,
      projectId,
      heading: { from: 'a@x.test', subject: 'S' },
      claimToken,
    };
    await claimCampaignPage(em(), page, claimToken);
    const until = new Date(Date.now() + 60_000).toISOString();
    const hold = { level: 'provider', reason: 'traffic rule', words: null, until } as const;
    const held: DeliveryResult = { emailId, verdict: 'held', subject: null, error: null, held: hold };
    const deferral: DeliveryResult = { emailId, verdict: 'deferred', subject: null, error: '450 later', server: 's' };
    for (const result of [held, held, deferral, deferral, held])
      await recordCampaignResults(em(), page, [result], [60, 60]);
    expect(await query(em(), read)).toEqual([{ id: emailId, deferrals: 1, reason: 'deferred' }]);
  });
});
