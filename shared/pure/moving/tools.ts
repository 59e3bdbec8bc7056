import { AppError, badRequest } from '../app-error.ts';
import { EMAIL_TYPES } from '../emails/email-types.ts';
import type { LeftElsewhere } from '../events/subscription-reasons.ts';
import {
  itemsOf,
  itemsOfPages,
  objectOf,
  SourceRecord,
  type Get,
  type Moved,
  type MovedList,
  type MovedTemplate,
} from './moved.ts';

/** How contacts and templates of another tool are read. */
export interface Tool {
  /** What its lists become unless the operator says otherwise. */
  lists: 'topics' | 'field';
  /** Reads a record of an export, or an item of the API. @throws AppError when nothing says what a file is */
  read: (record: SourceRecord) => Moved;
  /** The files that say who has left are read first, so that nobody is subscribed in between. */
  isAboutLeaving?: RegExp;
  api?: {
    url?: string;
    headers: (key: string) => Record<string, string>;
    /** @param know to be called with all lists, before the contacts */
    contacts: (get: Get, know: (lists: MovedList[]) => void) => AsyncGenerator<Moved>;
    templates?: (get: Get) => AsyncGenerator<MovedTemplate>;
  };
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const left = (because: LeftElsewhere['because'], at?: string): LeftElsewhere => ({
  because,
  ...(at && { leftAt: at }),
});
const str = (value: unknown): string => (typeof value === 'string' ? value : '');
const idOf = ({ id }: Record<string, unknown>): string | undefined => new SourceRecord({ id }).text('id') || undefined;

function readPlunk(record: SourceRecord): Moved {
  const subscribed = record.choice('subscribed');
  if (subscribed === null) return 'has a value for "subscribed" that is neither true nor false';
  const own = objectOf(record.get('data'));
  const rest = record.data(/^(?:id|subscribed|createdat|updatedat|projectid|project|_count|triggers|emails)$/);
  if (own) delete rest['data'];
  const contact = { email: record.email(), data: { ...rest, ...own } };
  return { contact: subscribed === false ? { ...contact, left: left('unsubscribed') } : contact };
}

async function* plunkTemplates(get: Get): AsyncGenerator<MovedTemplate> {
  const path = (page: number): string => `/templates?page=${page}&pageSize=100`;
  const next = (_body: unknown, items: unknown[], page: number) => (items.length === 0 ? undefined : path(page + 1));
  for await (const item of itemsOfPages(get, path(1), 'data', next)) {
    const { name, subject, body, type } = item;
    const kind = EMAIL_TYPES.find((each) => each === type) ?? 'MARKETING';
    yield { name: str(name), subject: str(subject), body: str(body), type: kind };
  }
}

function listmonkList(list: Record<string, unknown>): MovedList {
  const isPublic = list['type'] === 'public';
  return { id: idOf(list), name: str(list['name']), isPublic, defaultSubscription: 'opt_out' };
}

function readListmonk(record: SourceRecord, optins?: ReadonlyMap<unknown, unknown>): Moved {
  const status = record.text('status').toLowerCase();
  if (!['enabled', 'disabled', 'blocklisted', 'blacklisted'].includes(status)) {
    return `has the status "${status.slice(0, 40)}", which listmonk does not have`;
  }
  const name = record.text('name');
  const attributes = record.get('attribs', 'attributes');
  const data = { ...(name && { name }), ...(objectOf(attributes) ?? (attributes ? { attributes } : {})) };
  const contact = { email: record.email(), data };
  const listed = Array.isArray(record.get('lists')) ? itemsOf(record.get('lists')) : undefined;
  const lists = listed?.flatMap((list): [MovedList, boolean][] => {
    const spec = listmonkList(list);
    if (list['subscription_status'] === 'unsubscribed') return [[spec, false]];
    const isOpen =
      list['subscription_status'] === 'unconfirmed' && (list['optin'] ?? optins?.get(list['id'])) === 'double';
    return isOpen ? [] : [[spec, true]];
  });
  const found = { ...(lists && { lists }) };
  if (status.startsWith('bl')) return { contact: { ...contact, left: left('blocked') }, ...found };
  if (status === 'disabled') return { contact: { ...contact, subscribed: false }, ...found };
  if (!lists || lists.some(([, isMember]) => isMember)) return { contact, ...found };
  const hasLeftAll = lists.length > 0 && lists.length === listed?.length;
  return {
    contact: hasLeftAll ? { ...contact, left: left('unsubscribed') } : { ...contact, subscribed: false },
    ...found,
  };
}

async function* listmonkContacts(get: Get, know: (lists: MovedList[]) => void): AsyncGenerator<Moved> {
  const found = itemsOf(await get('/api/lists?per_page=all'), 'data.results');
  const optins = new Map(found.map(({ id, optin }) => [id, optin]));
  know(found.map(listmonkList).filter(({ name }) => name !== ''));
  const path = (page: number): string => `/api/subscribers?order_by=id&order=asc&per_page=500&page=${page}`;
  const next = (_body: unknown, items: unknown[], page: number) => (items.length === 0 ? undefined : path(page + 1));
  for await (const item of itemsOfPages(get, path(1), 'data.results', next))
    yield readListmonk(new SourceRecord(item), optins);
}

async function* listmonkTemplates(get: Get): AsyncGenerator<MovedTemplate> {
  for (const { name, subject, body, type } of itemsOf(await get('/api/templates'), 'data')) {
    const kind = type === 'tx' ? 'TRANSACTIONAL' : 'MARKETING';
    yield { name: str(name), subject: str(subject), body: str(body), type: kind };
  }
}

const MAILCHIMP_KIND =
  /(?:^|[^a-z])(non-?subscribed|unsubscribed|subscribed|cleaned|transactional|archived)(?:[^a-z]|$)/i;
const MAILCHIMP_FIELDS =
  /^(?:member_rating|optin_ip|confirm_ip|latitude|longitude|gmtoff|dstoff|cc|region|leid|euid|last_changed|notes|tags|unsub_.*|clean_.*)$/;

function readMailchimp(record: SourceRecord): Moved {
  const [unsubscribedAt, cleanedAt] = [record.text('unsub_time'), record.text('clean_time')];
  const kind =
    MAILCHIMP_KIND.exec(record.file)?.[1]?.toLowerCase() ?? (unsubscribedAt ? 'unsubscribed' : cleanedAt && 'cleaned');
  if (!kind) {
    throw badRequest(
      `Nothing says whether the people of ${record.file} are subscribed: keep the name that Mailchimp gave the file, such as subscribed_members_export_1.csv`,
    );
  }
  const contact = { email: record.email(), data: record.data(MAILCHIMP_FIELDS) };
  const tags = record.text('tags').match(/"(?:[^"]|"")*"|[^,"]+/g) ?? [];
  const lists = tags
    .map((tag) => tag.replaceAll(/^"|"$/g, '').replaceAll('""', '"').trim())
    .filter((name) => name !== '')
    .map((name): [MovedList, boolean] => [{ name, isPublic: false, defaultSubscription: 'opt_out' }, true]);
  if (kind === 'subscribed') return { contact, lists };
  if (kind === 'cleaned') return { contact: { ...contact, left: left('bounced', cleanedAt) }, lists };
  if (kind !== 'unsubscribed') return { contact: { ...contact, subscribed: false }, lists };
  const isComplaint = /abuse|spam/i.test(record.text('unsub_reason'));
  return { contact: { ...contact, left: left(isComplaint ? 'complained' : 'unsubscribed', unsubscribedAt) }, lists };
}

function readResend(record: SourceRecord): Moved {
  const unsubscribed = record.choice('unsubscribed');
  if (unsubscribed === null) return 'has a value for "unsubscribed" that is neither true nor false';
  const properties = Object.entries(objectOf(record.get('properties')) ?? {});
  const values = properties.map(([key, value]) => [key, objectOf(value)?.['value'] ?? value]);
  const data = record.data(/^(?:id|object|unsubscribed|created_at|updated_at|properties|audience_id|topics|segments)$/);
  const contact = { email: record.email(), data: { ...data, ...(Object.fromEntries(values) as object) } };
  return { contact: unsubscribed ? { ...contact, left: left('unsubscribed') } : contact };
}

/** The items of a list of Resend. @param list its path */
function resendItems(get: Get, list: string): AsyncGenerator<Record<string, unknown>> {
  const path = `${list}?limit=100`;
  return itemsOfPages(get, path, 'data', (body, items) =>
    objectOf(body)?.['has_more'] === true
      ? `${path}&after=${encodeURIComponent(str(items.at(-1)?.['id']))}`
      : undefined,
  );
}

/** Why Resend writes to nobody at an address. */
const RESEND_ORIGINS: Readonly<Record<string, LeftElsewhere['because']>> = {
  bounce: 'bounced',
  complaint: 'complained',
};

/** What a listed item has in addition; undefined when it was deleted since it was listed. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  return asked.catch((error: unknown) => {
    if (error instanceof AppError && error.details?.['status'] === 404) return undefined;
    throw error;
  });
}

async function resendTopics(get: Get): Promise<Map<unknown, MovedList>> {
  const topics = new Map<unknown, MovedList>();
  for await (const topic of resendItems(get, '/topics')) {
    const defaultSubscription = topic['default_subscription'] === 'opt_in' ? 'opt_in' : 'opt_out';
    const isPublic = topic['visibility'] !== 'private';
    // Ids are random, so the moment comes before.
    const id = `${str(topic['created_at'])} ${str(topic['id'])}`;
    topics.set(topic['id'], { id, name: str(topic['name']), isPublic, defaultSubscription });
  }
  return topics;
}

async function* resendContacts(get: Get, know: (lists: MovedList[]) => void): AsyncGenerator<Moved> {
  for await (const { email, origin, ...item } of resendItems(get, '/suppressions')) {
    const because = RESEND_ORIGINS[str(origin)] ?? 'blocked';
    yield { contact: { email, left: left(because, str(item['created_at'])) } };
  }
  const topics = await resendTopics(get);
  know([...topics.values()]);
  const hasProperties = itemsOf(await get('/contact-properties?limit=1'), 'data').length > 0;

  async function choicesOf(contact: string): Promise<[MovedList, boolean][]> {
    const lists: [MovedList, boolean][] = [];
    for await (const { id, subscription } of resendItems(get, `${contact}/topics`)) {
      const topic = topics.get(id);
      if (topic) lists.push([topic, subscription === 'opt_in']);
    }
    return lists;
  }

  for await (const listed of resendItems(get, '/contacts')) {
    const own = `/contacts/${str(listed['id'])}`;
    // The list leaves properties out.
    const item = hasProperties ? objectOf(await unlessGone(get(own))) : listed;
    const lists = item && topics.size > 0 ? await unlessGone(choicesOf(own)) : [];
    if (!item || !lists) continue;
    const moved = readResend(new SourceRecord(item));
    yield typeof moved === 'object' && topics.size > 0 ? { ...moved, lists } : moved;
  }
}

async function* resendTemplates(get: Get): AsyncGenerator<MovedTemplate> {
  for await (const { id } of resendItems(get, '/templates')) {
    const template = objectOf(await unlessGone(get(`/templates/${str(id)}`)));
    if (!template) continue;
    const { name, subject, html, variables } = template;
    const fallbacks = new Map(
      itemsOf(variables ?? []).map((each) => [each['key'], new SourceRecord(each).text('fallback_value')]),
    );
    const withFallbacks = (text: unknown): string =>
      str(text).replaceAll(/\{\{\{\s*(\w+)\s*\}\}\}/g, (tag, key: string) =>
        fallbacks.get(key) ? `{{{${key}|${fallbacks.get(key)}}}}` : tag,
      );
    yield { name: str(name), subject: withFallbacks(subject), body: withFallbacks(html), type: 'TRANSACTIONAL' };
  }
}

/** What the suppression files and lists of SendGrid say; null what is no reason to write to nobody. */
const SENDGRID_KINDS: readonly [name: RegExp, because: LeftElsewhere['because'] | 'group' | null, path?: string][] = [
  [/bounce/i, 'bounced', '/v3/suppression/bounces'],
  [/spam/i, 'complained', '/v3/suppression/spam_reports'],
  [/invalid/i, 'bounced', '/v3/suppression/invalid_emails'],
  [/group/i, 'group'],
  [/unsubscribe/i, 'unsubscribed', '/v3/suppression/unsubscribes'],
  // A block is a refusal that passes: SendGrid goes on sending to the address, too.
  [/block/i, null],
];

const groupList = (name: string, id?: string): MovedList => ({
  id,
  name,
  isPublic: true,
  defaultSubscription: 'opt_in',
});

function readSendGrid(record: SourceRecord): Moved {
  const email = record.email();
  const kind = SENDGRID_KINDS.find(([name]) => name.test(record.file));
  const isContact = ['contact_id', 'first_name', 'last_name'].some((name) => record.get(name) !== undefined);
  if (kind && isContact) {
    throw badRequest(
      `The columns of ${record.file} are those of contacts, and its name is that of people who have left: name it otherwise if they are subscribed`,
    );
  }
  if (!kind) {
    if (isContact) return { contact: { email, data: record.data(/^(?:contact_id|created_at|updated_at)$/) } };
    throw badRequest(
      `Nothing says what ${record.file} is: name it as SendGrid does, such as bounces.csv, spam_reports.csv, invalid_emails.csv, global_unsubscribes.csv or group_unsubscribes.csv`,
    );
  }
  if (kind[1] === null) return undefined;
  if (kind[1] !== 'group') return { contact: { email, left: left(kind[1], record.text('created', 'created_at')) } };
  const id = record.text('group_id') || undefined;
  const list = groupList(record.text('group_name', 'group') || (id ?? ''), id);
  return list.name === '' ? 'has no group' : { contact: { email }, lists: [[list, false]] };
}

async function* sendGridContacts(get: Get, know: (lists: MovedList[]) => void): AsyncGenerator<Moved> {
  for (const [, because, path] of SENDGRID_KINDS) {
    if (path === undefined || because === null || because === 'group') continue;
    const page = (offset: number): string => `${path}?limit=500&offset=${offset}`;
    const next = (_body: unknown, items: unknown[], _page: number, read: number) =>
      items.length === 0 ? undefined : page(read);
    for await (const { email, created } of itemsOfPages(get, page(0), '', next)) {
      yield { contact: { email, left: left(because, new SourceRecord({ created }).text('created')) } };
    }
  }
  const groups = itemsOf(await get('/v3/asm/groups')).map((group) => groupList(str(group['name']), idOf(group)));
  know(groups);
  for (const group of groups) {
    const addresses = await unlessGone(get(`/v3/asm/groups/${group.id ?? ''}/suppressions`));
    if (addresses === undefined) continue;
    if (!Array.isArray(addresses)) throw new Error('The API answered without the addresses of a group');
    for (const email of addresses as unknown[]) yield { contact: { email }, lists: [[group, false]] };
  }
}

async function* sendGridTemplates(get: Get): AsyncGenerator<MovedTemplate> {
  const path = '/v3/templates?generations=legacy,dynamic&page_size=200';
  const next = (body: unknown): string | undefined => {
    const url = objectOf(objectOf(body)?.['_metadata'])?.['next'];
    const token = typeof url === 'string' ? new URLSearchParams(url.split('?')[1]).get('page_token') : null;
    return token === null ? undefined : `${path}&page_token=${encodeURIComponent(token)}`;
  };
  for await (const { id, name } of itemsOfPages(get, path, 'result', next)) {
    const template = await unlessGone(get(`/v3/templates/${str(id)}`));
    const version = itemsOf(template ?? { versions: [] }, 'versions').find(({ active }) => active === 1);
    if (version)
      yield {
        name: str(name),
        subject: str(version['subject']),
        body: str(version['html_content']),
        type: 'TRANSACTIONAL',
      };
  }
}

/** The tools that contacts are moved from, by the names of their commands. */
export const TOOLS = {
  plunk: {
    lists: 'topics',
    read: readPlunk,
    api: {
      headers: bearer,
      async *contacts(get) {
        const next = (body: unknown): string | undefined => {
          const cursor = objectOf(body)?.['cursor'];
          return typeof cursor === 'string' && cursor !== '' && objectOf(body)?.['hasMore'] !== false
            ? `/contacts?limit=100&cursor=${encodeURIComponent(cursor)}`
            : undefined;
        };
        for await (const item of itemsOfPages(get, '/contacts?limit=100', 'data', next))
          yield readPlunk(new SourceRecord(item));
      },
      templates: plunkTemplates,
    },
  },
  listmonk: {
    lists: 'topics',
    read: readListmonk,
    api: {
      headers: (key) => ({ authorization: `token ${key}` }),
      contacts: listmonkContacts,
      templates: listmonkTemplates,
    },
  },
  mailchimp: { lists: 'field', read: readMailchimp, isAboutLeaving: /unsubscribed|cleaned/i },
  resend: {
    lists: 'topics',
    read: readResend,
    api: { url: 'https://api.resend.com', headers: bearer, contacts: resendContacts, templates: resendTemplates },
  },
  sendgrid: {
    lists: 'topics',
    read: readSendGrid,
    isAboutLeaving: /bounce|spam|invalid|unsubscribe|group/i,
    api: { url: 'https://api.sendgrid.com', headers: bearer, contacts: sendGridContacts, templates: sendGridTemplates },
  },
} satisfies Record<string, Tool>;
export type ToolName = keyof typeof TOOLS;
