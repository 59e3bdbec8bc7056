import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { EMAIL_STATUSES } from '../../pure/emails/email-types.ts';
import { instantSchema } from '../../pure/filters/instant-schema.ts';
import { listRecipients, readRecipients } from '../campaigns/recipients.ts';
import { sql, type Em } from '../../database/sql.ts';
import { query, queryOne } from '../../../tests/support/rows.ts';
import { createProject } from '../projects/projects.ts';
import { listEmails, type EmailFilters } from './email-lists.ts';
import { readEmailStory } from './email-timeline.ts';
import { abandonEmails, claimEmails, loadEmails, readDeliveryProgress } from './transactional-delivery.ts';

const EMAILS = 60_000;
/**
 * A page reads at most 3,000 emails, some of them twice, and rows of other tables only for the emails that it shows.
 */
const ROWS_MAX = 20_000;

let projectId: string;
const [campaignId, contactId, templateId, automationId] = [uuidV7(), uuidV7(), uuidV7(), uuidV7()];
const { em } = useTestDatabase();

beforeAll(async () => {
  projectId = (await createProject(em(), 'Large')).project.id;
  await query(
    em(),
    sql`
      insert into campaign
        (id, project_id, name, subject, body, from_address, status, audience_type, created_at, updated_at)
      values (${campaignId}, ${projectId}, 'News', 'Hi', 'x', 'a@example.com', 'SENT', 'ALL', now(), now())`,
  );
  // A third of the emails belongs to other projects and a tenth to the campaign. Few are the contact's, and few have
  // failed.
  await query(
    em(),
    sql`
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, template_id, automation_id, to_address,
        status, created_at)
      select everpost_uuid_v7(), case when n % 3 = 0 then everpost_uuid_v7() else ${projectId}::uuid end,
        case when n % 600 = 2 then ${contactId}::uuid else everpost_uuid_v7() end,
        case when n % 10 = 1 then ${campaignId}::uuid end, case when n % 10 = 1 then n end,
        case when n % 50 = 2 then ${templateId}::uuid end, case when n % 50 = 4 then ${automationId}::uuid end,
        'reader' || n || '@mail.test',
        case when n % 1000 = 1 then 'FAILED' else 'SENT' end, now() - n * interval '1 second'
      from generate_series(1, ${EMAILS}::int) n`,
  );
  // Some emails of the contact went to its present address, the others to its former one.
  await query(
    em(),
    sql`
      insert into contact (id, project_id, email, subscribed, created_at, updated_at)
      values (${contactId}, ${projectId}, 'old@mail.test', true, now(), now())`,
  );
  await query(em(), sql`update contact set email = 'reader2@mail.test' where id = ${contactId}`);
  await query(
    em(),
    sql`update email set to_address = 'old@mail.test' where contact_id = ${contactId} and id::text > '8'`,
  );
  await query(em(), sql`vacuum (analyze) email`);
}, 60_000);

interface Reads {
  fullScans: number;
  rows: number;
}

/** The rows of emails and events that a connection has read, in this transaction and shortly before. */
async function readsSoFar(tx: Em): Promise<Reads> {
  const reads = await queryOne(
    tx,
    sql`
      select sum(seq_scan)::int as "fullScans", sum(seq_tup_read + idx_tup_fetch)::int as rows
      from pg_stat_xact_user_tables where relname in ('email', 'event')`,
  );
  return reads ?? { fullScans: -1, rows: -1 };
}

async function readsOf(work: (tx: Em) => Promise<unknown>): Promise<Reads> {
  const tx = em();
  await tx.begin();
  try {
    const before = await readsSoFar(tx);
    await work(tx);
    const after = await readsSoFar(tx);
    return { fullScans: after.fullScans - before.fullScans, rows: after.rows - before.rows };
  } finally {
    await tx.rollback();
  }
}

function expectFew({ fullScans, rows }: Reads): void {
  expect(fullScans).toBe(0);
  expect(rows).toBeLessThan(ROWS_MAX);
}

const hourAgo = instantSchema.parse(new Date(Date.now() - 3_600_000).toISOString());
const filters: [string, () => EmailFilters][] = [
  ['nothing', () => ({})],
  ['an address', () => ({ address: 'reader2@mail.test' })],
  ['a former address', () => ({ address: 'old@mail.test' })],
  ['an unknown address', () => ({ address: 'nobody@mail.test' })],
  ['a contact', () => ({ contactId })],
  ['a campaign', () => ({ campaignId })],
  ['a campaign and a frequent state', () => ({ campaignId, status: 'SENT' })],
  ['a campaign and a rare state', () => ({ campaignId, status: 'FAILED' })],
  ['a campaign and a contact', () => ({ campaignId, contactId })],
  ['a campaign and an address', () => ({ campaignId, address: 'reader11@mail.test' })],
  ['a template', () => ({ templateId })],
  ['a template and a state of none', () => ({ templateId, status: 'PENDING' })],
  ['a workflow', () => ({ workflowId: automationId })],
  ['an unknown workflow', () => ({ workflowId: campaignId })],
  ['a type', () => ({ type: 'MARKETING' })],
  ['a period', () => ({ period: { from: hourAgo } })],
  ...EMAIL_STATUSES.map((status): [string, () => EmailFilters] => [`the state ${status}`, () => ({ status })]),
];

describe('among many emails', () => {
  it.each(filters)(
    'a page of the emails with %s is found by an index, and so is the next page',
    async (_name, filter) => {
      const first = await listEmails(em(), projectId, { ...filter(), limit: 50 });
      expectFew(await readsOf((tx) => listEmails(tx, projectId, { ...filter(), limit: 50 })));
      const after = first.next;
      if (after) expectFew(await readsOf((tx) => listEmails(tx, projectId, { ...filter(), limit: 50, after })));
    },
  );

  it('a page of a campaign reads few more emails than it shows', async () => {
    const { rows } = await readsOf((tx) => listEmails(tx, projectId, { campaignId, limit: 50 }));
    expect(rows).toBeLessThan(200);
  });

  it.each(['templateId', 'workflowId'])('one page has all emails with a %s, however few they are', async (filter) => {
    const id = filter === 'templateId' ? templateId : automationId;
    const { emails, next } = await listEmails(em(), projectId, { [filter]: id, limit: 1_000 });
    expect(emails).toHaveLength((EMAILS * 2) / 150);
    expect(next).toBeUndefined();
  });

  it('one email and its timeline are found by an index', async () => {
    const page = await listEmails(em(), projectId, { limit: 1 });
    const id = page.emails[0]?.id ?? '';
    expectFew(await readsOf((tx) => readEmailStory(tx, projectId, id)));
  });

  it('the emails of one delivery are found by an index, however many there are', async () => {
    const stored = await query(
      em(),
      sql`select id from email where project_id = ${projectId} and campaign_id is null limit 200`,
    );
    const ids = stored.map(({ id }) => id);
    const deliveryId = uuidV7();
    for (const work of [
      (tx: Em) => claimEmails(tx, ids, { deliveryId, claimToken: uuidV7() }),
      (tx: Em) => loadEmails(tx, ids),
      (tx: Em) => readDeliveryProgress(tx, ids, deliveryId),
      (tx: Em) => abandonEmails(tx, ids, deliveryId, 'too old'),
    ]) {
      expectFew(await readsOf(work));
    }
  });

  it.each([undefined, ...EMAIL_STATUSES])(
    'the recipients of a campaign in the state %s are found by an index',
    async (state) => {
      expectFew(await readsOf((tx) => listRecipients(tx, projectId, campaignId, { state, limit: 50 })));
    },
  );

  it('all recipients of a campaign are read once each', async () => {
    let count = 0;
    const reads = await readsOf(async (tx) => {
      for await (const page of readRecipients(tx, projectId, campaignId, undefined)) count += page.length;
    });
    expect(reads.fullScans).toBe(0);
    const stored = await query(
      em(),
      sql`select from email where campaign_id = ${campaignId} and project_id = ${projectId}`,
    );
    expect(count).toBe(stored.length);
  });
});
