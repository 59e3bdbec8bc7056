import { AppError } from '../../pure/app-error.ts';
import { emailStatus } from '../../database/constants.ts';
import { query, queryOne, sql, type Em, type SqlFragment } from '../../database/sql.ts';
import { notNull, number, tables, text } from '../../database/tables.ts';
import {
  listEmails,
  type EmailCursor,
  type EmailFilters,
  type EmailPage,
  type ListedEmail,
} from '../emails/email-lists.ts';

export interface RecipientQuery {
  /** All when left out. */
  state?: EmailFilters['status'];
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
  state: EmailFilters['status'],
): AsyncGenerator<ListedEmail[]> {
  let after: EmailCursor | undefined;
  do {
    const page = await listRecipients(em, projectId, campaignId, { state, limit: PAGE_SIZE, after });
    after = page.next;
    yield page.emails;
  } while (after);
}

/** The recipients of one campaign that are read to group them. */
const GROUPED_MAX = 200_000;
const GROUPS_MAX = 50;
export const WORDS_LENGTH_MAX = 300;

/** What differs between words that say the same: addresses, and ids. */
const ADDRESSES = '<?[^[:space:]<>]+@[^[:space:]<>]+>?';
const IDS = '[[:alnum:]_-]*[0-9][[:alnum:]_-]{7,}';

/** Words of servers without the addresses in them. */
export const withoutAddresses = (words: SqlFragment): SqlFragment =>
  sql`regexp_replace(${words}, ${ADDRESSES}, '…', 'g')`;

const REASON = { state: notNull(tables.email.trouble), words: text, recipients: number };

/**
 * Why a campaign did not reach some of its recipients, the most frequent reason first. Words of servers that differ
 * only in the address or in numbers are one reason.
 */
export async function countUnreached(em: Em, campaignId: string) {
  return query(
    em,
    sql`
      select trouble as state, words, count(*)::int as recipients from (
        select trouble, left(regexp_replace(${withoutAddresses(sql`coalesce(error, '')`)},
          ${IDS}, '…', 'g'), ${WORDS_LENGTH_MAX}::int) as words
        from email where campaign_id = ${campaignId} and trouble is not null and trouble <> ${emailStatus.COMPLAINED}
        limit ${GROUPED_MAX}
      ) unreached
      group by 1, 2 order by 3 desc, 1, 2 limit ${GROUPS_MAX}`,
    REASON,
  );
}

const LINK = { url: text, recipients: number, clicks: number };

/** The links of a campaign by how many people clicked them. Clicks of machines are left out where that is known. */
export async function countLinks(em: Em, campaignId: string) {
  return query(
    em,
    sql`
      select v.data ->> 'link' as url, count(distinct v.contact_id)::int as recipients, count(*)::int as clicks
      from (
        select id, contact_id, created_at from email where campaign_id = ${campaignId} and clicked_at is not null
        limit ${GROUPED_MAX}
      ) e join event v on v.contact_id = e.contact_id and v.name = 'email.click' and v.created_at >= e.created_at
        and v.email_id = e.id
      where v.data ->> 'link' is not null and coalesce(v.data ->> 'isMachine', 'false') <> 'true'
      group by 1 order by 2 desc, 3 desc, 1 limit ${GROUPS_MAX}`,
    LINK,
  );
}
