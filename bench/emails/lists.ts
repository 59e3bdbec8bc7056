import { query, queryOne, sql } from '../../shared/database/sql.ts';
import { text } from '../../shared/database/tables.ts';
import { createCampaign } from '../harness/bench-mail.ts';
import type { BenchStack } from '../harness/stack.ts';
import type { FilledHistory } from '../history/fill.ts';

/** The requests of lists: a name and a path each. */
type ListPaths = Record<string, string>;

/** Values of every filter: frequent ones, rare ones, and some that nothing has. */
interface FilterValues {
  [name: string]: [parameter: string, value: string];
}

/** One in this many recipients of the large campaign is in the rare state. */
const RARE = 10_000;
/** The number of pages before a cursor deep in a list. */
const DEPTH = 100;
const DAY_MS = 86_400_000;

/** Adds a campaign of many recipients, of whom a few have failed. @returns its id */
export async function addLargeCampaign(stack: BenchStack, recipients: number): Promise<string> {
  const id = await createCampaign(stack, { name: 'Large' });
  await query(
    stack.em(),
    sql`
      insert into email (id, project_id, contact_id, campaign_id, campaign_seq, to_address, status, created_at, sent_at)
      select everpost_uuid_v7(), ${stack.project.id}, everpost_uuid_v7(), ${id}, n, 'large' || n || '@example.com',
        case when n % ${RARE}::int = 7 then 'FAILED' else 'SENT' end, now() - interval '1 day',
        case when n % ${RARE}::int <> 7 then now() - interval '1 day' end
      from generate_series(1, ${recipients}::int) n`,
  );
  await query(
    stack.em(),
    sql`
      update campaign set status = 'SENT', audience_frozen = true, sent_at = now(), total_recipients = ${recipients}
      where id = ${id}`,
  );
  await query(stack.em(), sql`vacuum analyze email`);
  return id;
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}

function filterValues(history: FilledHistory, largeCampaignId: string): FilterValues {
  const { address, campaignId, contactId, templateId, automationId } = history;
  const nobody = '019000ff-0000-7000-8000-000000000000';
  return {
    address: ['address', address],
    'unknown address': ['address', 'nobody@example.com'],
    contact: ['contactId', contactId],
    campaign: ['campaignId', campaignId],
    'large campaign': ['campaignId', largeCampaignId],
    template: ['templateId', templateId],
    'unknown template': ['templateId', nobody],
    workflow: ['workflowId', automationId],
    'frequent state': ['status', 'SENT'],
    'rare state': ['status', 'FAILED'],
    'state of none': ['status', 'PENDING'],
    type: ['type', 'TRANSACTIONAL'],
    'type of none': ['type', 'HEADLESS'],
    since: ['since', dayBefore(100)],
    until: ['until', dayBefore(90)],
  };
}

function pathOf(base: string, values: readonly (readonly [string, string])[]): string {
  return `${base}?${new URLSearchParams({ limit: '50', ...Object.fromEntries(values) }).toString()}`;
}

/** No filter, each value alone, each pair, and all filters together. */
function filteredPaths(values: FilterValues): ListPaths {
  const all = Object.entries(values);
  const paths: ListPaths = { emails: pathOf('/emails', []) };
  for (const [index, [name, first]] of all.entries()) {
    paths[name] = pathOf('/emails', [first]);
    for (const [other, second] of all.slice(index + 1)) {
      if (first[0] !== second[0]) paths[`${name}, ${other}`] = pathOf('/emails', [first, second]);
    }
  }
  paths['every filter'] = pathOf('/emails', [...new Map(all.map(([, value]) => [value[0], value])).values()]);
  return paths;
}

/** The path with a cursor that lies many pages behind the first one, or as many as there are. */
async function deep(stack: BenchStack, path: string): Promise<string> {
  let at = path;
  for (let page = 0; page < DEPTH; page++) {
    const { cursor, hasMore } = (await stack.call('GET', at)) as { cursor: string; hasMore: boolean };
    if (!hasMore) return at;
    at = `${path}&cursor=${cursor}`;
  }
  return at;
}

async function storyPaths(stack: BenchStack, campaignId: string): Promise<ListPaths> {
  const find = async (order: 'oldest' | 'newest' | 'bounced' | 'of a campaign') => {
    const mine = sql`select id from email where project_id = ${stack.project.id}`;
    const row = await queryOne(
      stack.em(),
      {
        oldest: sql`${mine} order by created_at limit 1`,
        newest: sql`${mine} order by created_at desc limit 1`,
        bounced: sql`${mine} and trouble = 'BOUNCED' limit 1`,
        'of a campaign': sql`${mine} and campaign_id = ${campaignId} limit 1`,
      }[order],
      { id: text },
    );
    return `/emails/${row?.id}`;
  };
  return {
    'oldest email': await find('oldest'),
    'newest email': await find('newest'),
    'bounced email': await find('bounced'),
    'email of a campaign': await find('of a campaign'),
  };
}

/** Every list of emails and recipients, first pages and pages far behind, and single emails. */
export async function listPaths(
  stack: BenchStack,
  history: FilledHistory,
  largeCampaignId: string,
): Promise<ListPaths> {
  const paths = filteredPaths(filterValues(history, largeCampaignId));
  const recipients = `/campaigns/${largeCampaignId}/recipients`;
  const ofRecipients: ListPaths = {
    recipients: pathOf(`/campaigns/${history.campaignId}/recipients`, []),
    'recipients of a large campaign': pathOf(recipients, []),
    'frequent state of recipients': pathOf(recipients, [['state', 'SENT']]),
    'rare state of recipients': pathOf(recipients, [['state', 'FAILED']]),
    'state of no recipient': pathOf(recipients, [['state', 'PENDING']]),
  };
  const far: ListPaths = {};
  for (const [name, path] of Object.entries({ ...paths, ...ofRecipients })) {
    if (!name.includes(',')) far[`${name}, far behind`] = await deep(stack, path);
  }
  return { ...paths, ...ofRecipients, ...far, ...(await storyPaths(stack, history.campaignId)) };
}
