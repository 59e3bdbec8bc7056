import { AppError } from '../../pure/app-error.ts';
import type { EmailStatus } from '../../pure/emails/email-types.ts';
import type { Em } from '../../database/em.ts';
import { queryOne, sql } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { listEmails, type EmailPage, type EmailCursor, type ListedEmail } from '../emails/email-lists.ts';

export interface RecipientQuery {
  /** All when left out. */
  state?: EmailStatus | undefined;
  limit: number;
  after?: EmailCursor | undefined;
}

/** Checks that a project has a campaign. @throws AppError CAMPAIGN_NOT_FOUND */
export async function assertCampaignExists(em: Em, projectId: string, campaignId: string): Promise<void> {
  const found = await queryOne(
    em,
    sql`select id from campaign where id = ${campaignId} and project_id = ${projectId}`,
    { id: tables.campaign.id },
  );
  if (!found) throw new AppError('CAMPAIGN_NOT_FOUND');
}

/** One page of the frozen audience of a campaign, the highest number first. */
export async function listRecipients(
  em: Em,
  projectId: string,
  campaignId: string,
  { state: status, limit, after }: RecipientQuery,
): Promise<EmailPage> {
  return listEmails(em, projectId, { campaignId, status, limit, after });
}

const PAGE_SIZE = 1_000;

/** All recipients of a campaign in a state, or in any state when undefined, page by page. */
export async function* readRecipients(
  em: Em,
  projectId: string,
  campaignId: string,
  state: EmailStatus | undefined,
): AsyncGenerator<ListedEmail[]> {
  let after: EmailCursor | undefined;
  do {
    const page = await listRecipients(em, projectId, campaignId, { state, limit: PAGE_SIZE, after });
    after = page.next;
    yield page.emails;
  } while (after);
}
