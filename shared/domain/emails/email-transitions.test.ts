import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from '@jest/globals';
import { RESENDABLE_STATES } from '../../pure/campaigns/campaign-status.ts';
import { EMAIL_STATUSES, EMAIL_TRANSITIONS, type EmailStatus } from '../../pure/emails/email-types.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { listTransitions, watchStatuses } from '../../../tests/support/status-watch.ts';
import { recordCampaignResults } from '../campaigns/campaign-delivery.ts';
import { finishCampaign } from '../campaigns/campaign-state.ts';
import { requeueNextRecipients } from '../campaigns/resend.ts';
import { upsertContacts } from '../contacts/contacts.ts';
import { query, sql, SqlFragment } from '../../database/sql.ts';
import { recordEngagements } from '../engagement/engagement.ts';
import { deleteContacts } from '../lifecycle/delete-contacts.ts';
import { eraseAtOnce } from '../lifecycle/erase-contacts.ts';
import { createProject } from '../projects/projects.ts';
import { suppressRecipients } from '../suppressions/suppressions.ts';
import type { DeliveryResult } from '../../sending/ports.ts';
import { recordTransactionalResults } from './delivery-results.ts';
import {
  recordComplaint,
  recordDeliveries,
  recordDelivery,
  recordHardBounce,
  recordReply,
  recordSoftBounce,
} from './feedback.ts';
import { abandonEmails, claimEmails, releaseEmails } from './transactional-delivery.ts';

const VERDICTS = ['sent', 'bounced', 'failed', 'skipped', 'suppressed', 'deferred', 'uncertain', 'held'] as const;
/** Columns with the moment of a report, which may come before the sending is recorded. */
const REPORTS = ['delivered_at', 'opened_at', 'clicked_at', 'bounced_at', 'complained_at'];

let projectId: string;
let transitionsSeen: () => Promise<string[]>;
const { em } = useTestDatabase();
beforeAll(async () => {
  projectId = (await createProject(em(), 'Test')).project.id;
  transitionsSeen = await watchStatuses(em, 'email');
});

interface TestEmail {
  id: string;
  contactId: string;
  claimToken: string;
  deliveryId: string;
  address: string;
}

async function addEmail(status: EmailStatus, campaignId: string | null, reportColumn?: string): Promise<TestEmail> {
  const address = `${randomUUID()}@example.com`;
  const [contact] = await upsertContacts(em(), {
    projectId,
    emails: [address],
    subscribedDefault: true,
    cause: { reason: 'send' },
  });
  const email = {
    id: randomUUID(),
    contactId: contact!.id,
    claimToken: randomUUID(),
    deliveryId: randomUUID(),
    address,
  };
  await query(
    em(),
    sql`
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, subject, status, claim_token,
        delivery_id, created_at)
      values (${email.id}, ${projectId}, ${email.contactId}, ${campaignId}, ${campaignId === null ? null : 1}, ${address}, 'S',
        ${status}, ${email.claimToken}, ${email.deliveryId}, now())`,
  );
  await query(
    em(),
    sql`
      insert into email_content (email_id, from_address, html, body_text, created_at)
      values (${email.id}, 'a@example.com', '', '', now())`,
  );
  if (reportColumn !== undefined) {
    await query(em(), sql`update email set ${new SqlFragment(reportColumn)} = now() where id = ${email.id}`);
  }
  return email;
}

async function addCampaign(status: string, error: string | null): Promise<string> {
  const id = randomUUID();
  await query(
    em(),
    sql`
      insert into campaign (id, project_id, name, subject, body, from_address, status, error, audience_type, created_at,
        updated_at)
      values (${id}, ${projectId}, 'C', 'S', '', 'a@example.com', ${status}, ${error}, 'ALL', now(), now())`,
  );
  return id;
}

function resultOf(emailId: string, verdict: (typeof VERDICTS)[number]): DeliveryResult {
  const until = new Date(Date.now() + 1_000).toISOString();
  const held = { level: 'provider', reason: 'provider paused', words: 'blocked', until } as const;
  return { emailId, verdict, subject: null, error: 'words', ...(verdict === 'held' && { held }) };
}

const failure = { kind: 'hard', rule: 'r', diagnostic: 'no such user' } as const;
const engagement = (emailId: string, url: string | null) => ({
  id: randomUUID(),
  emailId,
  url,
  ageMs: 0,
  repeats: 0,
  machineReason: null,
});

/**
 * Everything that may change the status of an email. Each function adds an email with the given status and changes it.
 */
function writers(): ((status: EmailStatus) => Promise<unknown>)[] {
  const onOne = (write: (email: TestEmail) => Promise<unknown>) => async (status: EmailStatus) =>
    write(await addEmail(status, null));
  const claim = (email: TestEmail) => claimEmails(em(), [email.id], email);
  return [
    onOne(claim),
    onOne(async (email) => {
      await suppressRecipients(em(), [email.id], 'COMPLAINT');
      await claim(email);
    }),
    onOne(async (email) => {
      await query(em(), sql`delete from contact where id = ${email.contactId}`);
      await claim(email);
    }),
    onOne((email) => releaseEmails(em(), [email.id], email.claimToken)),
    onOne((email) => abandonEmails(em(), [email.id], email.deliveryId, 'too late')),
    ...VERDICTS.map((verdict) =>
      onOne(({ id, claimToken }) =>
        recordTransactionalResults(em(), projectId, claimToken, [resultOf(id, verdict)], [60]),
      ),
    ),
    ...REPORTS.map((column) => async (status: EmailStatus) => {
      const { id, claimToken } = await addEmail(status, null, column);
      await recordTransactionalResults(em(), projectId, claimToken, [resultOf(id, 'sent')], [60]);
    }),
    ...[
      ...VERDICTS.map((verdict) => [verdict, undefined] as const),
      ...REPORTS.map((column) => ['sent', column] as const),
    ].map(([verdict, column]) => async (status: EmailStatus) => {
      const page = { campaignId: randomUUID(), firstSeq: 1, lastSeq: 1, claimToken: randomUUID() };
      const { id } = await addEmail(status, page.campaignId, column);
      const heading = { from: 'a@example.com', subject: 'S' };
      await recordCampaignResults(em(), { ...page, heading, projectId }, [resultOf(id, verdict)], [60]);
    }),
    ...['it cannot go on', null].map((error) => async (status: EmailStatus) => {
      const campaignId = await addCampaign('CANCELLED', error);
      await addEmail(status, campaignId);
      await finishCampaign(em(), campaignId, () => undefined);
    }),
    async (status) => {
      const campaignId = await addCampaign('SENDING', null);
      await addEmail(status, campaignId);
      await query(
        em(),
        sql`
          update campaign set total_recipients = 1, resend_states = ${[...RESENDABLE_STATES]}::text[], resend_as_of = now()
          where id = ${campaignId}`,
      );
      await requeueNextRecipients(em(), campaignId);
    },
    onOne(({ id }) => recordDelivery(em(), id)),
    onOne(({ id }) => recordDeliveries(em(), [id])),
    onOne(({ id }) => recordHardBounce(em(), id, failure)),
    onOne(({ id }) => recordSoftBounce(em(), id, failure, 'report')),
    onOne(({ id }) => recordComplaint(em(), id)),
    onOne(({ id }) => recordReply(em(), id, { id: 'reply', from: 'x', to: 'y', subject: 'z' })),
    onOne(({ id }) => recordEngagements(em(), [engagement(id, null)])),
    onOne(({ id }) => recordEngagements(em(), [engagement(id, 'https://example.com')])),
    onOne(async ({ contactId }) => {
      await deleteContacts(em(), projectId, [contactId]);
      await eraseAtOnce(em(), projectId, [contactId]);
    }),
  ];
}

it('Emails take every transition of the table EMAIL_TRANSITIONS, and no other', async () => {
  for (const write of writers()) for (const status of EMAIL_STATUSES) await write(status);

  expect(await transitionsSeen()).toEqual(listTransitions(EMAIL_TRANSITIONS));
});
