import { z } from 'zod';
import {
  assertCampaignExists,
  countLinks,
  countUnreached,
  listRecipients,
  readRecipients,
} from '../../shared/domain/campaigns/recipients.ts';
import { UNREACHED, type ListedEmail } from '../../shared/domain/emails/email-lists.ts';
import { EMAIL_STATUSES } from '../../shared/pure/emails/email-types.ts';
import { emailMoments } from '../emails/email.view.ts';
import { continuationOf, readEmailCursor } from '../emails/emails.schemas.ts';
import { answeredAddress } from '../http/answered-address.ts';
import { csvTable } from '../http/csv-reply.ts';
import { cursorFields } from '../http/cursor.ts';
import { ok, type Endpoint } from '../http/endpoint.ts';
import { cursorPageQuery, formatQuery } from '../http/pagination.ts';
import { campaignEndpoint } from './campaigns.schemas.ts';
import { listOf, model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

const moment = z.iso.datetime().nullable();

const recipientSchema = model('Recipient', 'What became of a recipient of a campaign', {
  emailId: z.uuid(),
  number: z.int().describe('its number in the audience, from 1'),
  state: z.enum(EMAIL_STATUSES),
  email: answeredAddress.nullable().describe('null once its contact was erased'),
  contactId: z.uuid().nullable(),
  words: z.string().nullable().describe('of the server, or why it was not sent'),
  deferrals: z.int(),
  nextAttemptAt: moment,
  ...emailMoments,
});
type Recipient = z.infer<typeof recipientSchema>;

const recipientView = viewOf(recipientSchema, (email: ListedEmail) => ({
  emailId: email.id,
  number: email.seq ?? 0,
  state: email.status,
  email: email.to,
  words: email.error,
  nextAttemptAt: email.retryAt?.toISOString() ?? null,
}));

const COLUMNS = Object.keys(recipientSchema.shape) as (keyof Recipient)[];

async function* viewPages(pages: AsyncIterable<ListedEmail[]>): AsyncGenerator<Recipient[]> {
  for await (const page of pages) yield page.map(recipientView);
}

const list = campaignEndpoint('listCampaignRecipients', 'GET /campaigns/:id/recipients', {
  roles: ['marketing', 'read'],
  summary: 'What became of each recipient',
  description:
    'Each recipient is in one state at a time, so all states together are `totalRecipients`. The highest number comes first. With a state, a page may have fewer than `limit`: go on while `hasMore` is true. As CSV (`Accept: text/csv` or `format=csv`) all of them come in one answer.',
  query: z.strictObject({
    ...cursorPageQuery({ limitDefault: 50 }),
    state: z.optional(z.enum([...EMAIL_STATUSES, UNREACHED])).meta({
      description: '`UNREACHED` stands for all states of recipients who did not get it',
      examples: ['BOUNCED'],
    }),
    ...formatQuery,
  }),
  replies: {
    200: {
      description: 'A page of recipients, or all of them as CSV',
      schema: z.object({ recipients: z.array(recipientSchema), ...cursorFields }),
      csv: true,
    },
  },
  errors: ['BAD_REQUEST'],
  async handle({ em, project, params: { id }, query: { cursor, limit, state, format }, wantsCsv }) {
    const after = readEmailCursor(cursor, true);
    await assertCampaignExists(em, project.id, id);
    if (wantsCsv(format)) {
      const pages = viewPages(readRecipients(em, project.id, id, state));
      return { status: 200, stream: csvTable(`recipients-${id}.csv`, COLUMNS, pages) };
    }
    const page = await listRecipients(em, project.id, id, { state, limit, after });
    return ok({ recipients: page.emails.map(recipientView), ...continuationOf(page) });
  },
});

const unreached = campaignEndpoint('listCampaignUnreached', 'GET /campaigns/:id/unreached', {
  roles: ['marketing', 'read'],
  isHeavy: true,
  summary: 'Why a campaign did not reach some of its recipients, with counts',
  description:
    'The fifty most frequent reasons. Words of servers that differ only in an address or an id are one reason. At most 200,000 recipients are read.',
  replies: {
    200: {
      description: 'The reasons',
      schema: z.object({
        reasons: listOf('UnreachedReason', 'Why some recipients did not get a campaign', 'the most frequent first', {
          state: z.enum(EMAIL_STATUSES),
          words: z.string().describe('of the server, or why it was not sent; empty where no reason is known'),
          recipients: z.int(),
        }),
      }),
    },
  },
  async handle({ em, project, params: { id } }) {
    await assertCampaignExists(em, project.id, id);
    return ok({ reasons: await countUnreached(em, id) });
  },
});

const links = campaignEndpoint('listCampaignLinks', 'GET /campaigns/:id/links', {
  roles: ['marketing', 'read'],
  isHeavy: true,
  summary: 'Which links of a campaign were clicked, and by how many',
  description: 'The fifty links that most people clicked. Clicks of machines are not counted.',
  replies: {
    200: {
      description: 'The links',
      schema: z.object({
        links: listOf('CampaignLink', 'A link of a campaign', 'the link that most people clicked first', {
          url: z.string().describe('where it leads to'),
          recipients: z.int().describe('People who clicked it'),
          clicks: z.int().describe('How often it was clicked'),
        }),
      }),
    },
  },
  async handle({ em, project, params: { id } }) {
    await assertCampaignExists(em, project.id, id);
    return ok({ links: await countLinks(em, id) });
  },
});

export const recipientEndpoints: Endpoint[] = [list, unreached, links];
