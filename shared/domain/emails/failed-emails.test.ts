import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { listActivity } from '../activity-feed/activity-feed.ts';
import { claimCampaignPage, recordCampaignResults } from '../campaigns/campaign-delivery.ts';
import { closeRecipients } from '../campaigns/campaign-state.ts';
import { sql } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { recordTransactionalResults } from './delivery-results.ts';
import { meetSources } from './sources.ts';
import { abandonEmails, claimEmails } from './transactional-delivery.ts';

let projectId: string;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Failed emails')).project.id;
});

async function createEmail(campaign?: { id: string; seq: number }): Promise<string> {
  const id = uuidV7();
  await query(
    em(),
    sql`
      with owner as (
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        values (everpost_uuid_v7(), ${projectId}, ${id}::text || '@x.test', true, '{}', now(), now()) returning id, email
      ),
      added as (
        insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, subject, status, created_at)
        select ${id}, ${projectId}, id, ${campaign?.id ?? null}, ${campaign?.seq ?? null}, email,
          ${campaign ? null : 'Hello'}, 'PENDING', now()
        from owner returning id
      )
      insert into email_content (email_id, from_address, html, body_text, created_at)
      select id, 'us@example.com', '', '', now() from added where ${campaign === undefined}::boolean`,
  );
  return id;
}

async function createCampaign(status: string, error: string | null): Promise<string> {
  const id = uuidV7();
  await query(
    em(),
    sql`
      insert into campaign
        (id, project_id, name, subject, body, from_address, status, error, audience_type, created_at, updated_at)
      values (${id}, ${projectId}, 'Spring', 'S', 'B', 'us@example.com', ${status}, ${error}, 'ALL', now(), now())`,
  );
  return id;
}

const eventsOf = (emailId: string) => query(em(), sql`select name, data from event where email_id = ${emailId}`);

async function expectFailed(emailId: string, data: Record<string, unknown>): Promise<void> {
  expect(await eventsOf(emailId)).toEqual([
    { name: 'email.failed', data: expect.objectContaining({ emailId, ...data }) },
  ]);
  const feed = await listActivity(em(), projectId, { limit: 100, types: ['email.failed'], period: {} });
  expect(feed.activities.filter(({ metadata }) => metadata['emailId'] === emailId)).toHaveLength(1);
}

describe('an email that cannot be sent', () => {
  it('gets an event with the words of the server when a server refused it', async () => {
    const id = await createEmail();
    const claimToken = uuidV7();
    await claimEmails(em(), [id], { deliveryId: uuidV7(), claimToken });
    const refusal = { kind: 'sender', rule: 'blocked', server: 'mx.test' } as const;
    const result = {
      emailId: id,
      subject: null,
      verdict: 'failed',
      error: '554 Blocked',
      refusal,
      server: 'mx.test',
    } as const;
    for (let round = 0; round < 2; round++)
      await recordTransactionalResults(em(), projectId, claimToken, [result], [1]);
    await expectFailed(id, {
      reason: '554 Blocked',
      rule: 'blocked',
      server: 'mx.test',
      from: 'us@example.com',
      subject: 'Hello',
    });
  });

  it('keeps a reason that PostgreSQL could not store as it is', async () => {
    const id = await createEmail();
    const claimToken = uuidV7();
    await claimEmails(em(), [id], { deliveryId: uuidV7(), claimToken });
    const texts = { subject: 'Hel\0lo \ud83d', error: 'No\0 \ude00', server: 'mx\0.test' };
    const result = { emailId: id, verdict: 'failed', ...texts } as const;
    await recordTransactionalResults(em(), projectId, claimToken, [result], [1]);
    const row = await queryOne(em(), sql`select status, subject, error, attempts from email where id = ${id}`);
    expect(row).toMatchObject({ status: 'FAILED', subject: 'Hel\ufffdlo \ufffd', error: 'No\ufffd \ufffd' });
  });

  it('gets an event with the reason when its delivery was given up', async () => {
    const id = await createEmail();
    for (let round = 0; round < 2; round++) await abandonEmails(em(), [id], uuidV7(), 'no server for two days');
    await expectFailed(id, { reason: 'no server for two days', from: 'us@example.com' });
  });

  it('gets an event with the error of its campaign when the campaign could not go on', async () => {
    const campaignId = await createCampaign('CANCELLED', 'the sender domain is gone');
    const ids = [await createEmail({ id: campaignId, seq: 1 }), await createEmail({ id: campaignId, seq: 2 })];
    for (let round = 0; round < 2; round++) await closeRecipients(em(), campaignId, () => undefined);
    for (const id of ids)
      await expectFailed(id, { reason: 'the sender domain is gone', campaignId, subject: 'S', from: 'us@example.com' });
    expect(await queryOne(em(), sql`select failed_count as n from campaign where id = ${campaignId}`)).toEqual({
      n: 2,
    });
  });

  it('becomes CANCELLED without an event when somebody has cancelled its campaign', async () => {
    const campaignId = await createCampaign('CANCELLED', null);
    const id = await createEmail({ id: campaignId, seq: 1 });
    await closeRecipients(em(), campaignId, () => undefined);
    expect(await eventsOf(id)).toEqual([]);
    const row = await queryOne(em(), sql`select status, error from email where id = ${id}`);
    expect(row).toEqual({ status: 'CANCELLED', error: 'the campaign was cancelled' });
  });

  it('gets an event with the words of the server when it belongs to a campaign', async () => {
    const campaignId = await createCampaign('SENDING', null);
    const id = await createEmail({ id: campaignId, seq: 1 });
    const page = { campaignId, firstSeq: 1, lastSeq: 1, claimToken: uuidV7() };
    await claimCampaignPage(em(), page, page.claimToken);
    const held = { ...page, projectId, heading: { from: 'us@example.com', subject: 'S' } };
    const record = (verdict: 'deferred' | 'failed', error: string) =>
      recordCampaignResults(em(), held, [{ emailId: id, subject: null, verdict, error, server: 'mx.test' }], [60]);
    await record('deferred', '450 later');
    await record('failed', '554 no');
    await expectFailed(id, { reason: '554 no', subject: 'S' });
    const row = await queryOne(em(), sql`select attempts from email where id = ${id}`);
    expect(row?.attempts).toEqual([
      expect.objectContaining({
        verdict: 'deferred',
        server: 'mx.test',
        words: '450 later',
        nextAt: expect.stringMatching(/Z$/),
      }),
      { at: expect.stringMatching(/Z$/), verdict: 'failed', server: 'mx.test', words: '554 no' },
    ]);
  });
});

describe('an email that a traffic rule holds', () => {
  it('is tried again soon when its project or a source changed after the worker looked at them', async () => {
    const holdFor = async (projectAge: string, sourceAge: string): Promise<number> => {
      const id = await createEmail();
      await query(em(), sql`update project set updated_at = now() - ${projectAge}::interval where id = ${projectId}`);
      await query(em(), sql`update source set changed_at = now() - ${sourceAge}::interval`);
      const claimToken = uuidV7();
      await claimEmails(em(), [id], { deliveryId: uuidV7(), claimToken });
      const until = new Date(Date.now() + 3_600_000).toISOString();
      const knownMs = Date.now() - 60_000;
      const held = { level: 'relay', reason: 'traffic rule', words: 'used up', until, knownMs } as const;
      await recordTransactionalResults(
        em(),
        projectId,
        claimToken,
        [{ emailId: id, subject: null, error: null, verdict: 'held', held }],
        [1],
      );
      const row = await queryOne(
        em(),
        sql`select extract(epoch from delivery_due_at - now())::int as seconds from email where id = ${id}`,
      );
      return row.seconds;
    };
    await meetSources(em(), [{ name: 'way', kind: 'relay', pool: 'default', label: 'way:25' }]);
    expect(await holdFor('80 seconds', '80 seconds')).toBeGreaterThan(3_000);
    expect(await holdFor('50 seconds', '80 seconds')).toBeLessThanOrEqual(2);
    expect(await holdFor('80 seconds', '50 seconds')).toBeLessThanOrEqual(2);
  });
});
