import { startFakeTool, type FakeAnswer, type FakeTool } from './fake-tool.ts';

/**
 * The APIs of other tools, as they answer: who is asked without the right key, pages, what a page that is too large
 * becomes, limits of requests, and faults that pass. Each fault comes once.
 */

/** The faults of a service: an answer for the first request that fits. */
type Faults = [path: RegExp, answer: FakeAnswer][];

interface Service {
  /** How it wants to be told its key. */
  authorization: string;
  /** The answer to a request without the right key. */
  refusal: FakeAnswer;
  faults: Faults;
  answer: (path: string, query: URLSearchParams) => unknown;
}

const NOT_FOUND: FakeAnswer = { status: 404, body: { message: 'not found' } };

function startService({ authorization, refusal, faults, answer }: Service): Promise<FakeTool> {
  const open = [...faults];
  return startFakeTool((asked, _count, said) => {
    if (said !== authorization) return refusal;
    const at = open.findIndex(([fits]) => fits.test(asked));
    const [fault] = at < 0 ? [] : open.splice(at, 1);
    if (fault) return fault[1];
    const { pathname, searchParams } = new URL(asked, 'http://x');
    const body = answer(pathname, searchParams);
    return body === undefined ? NOT_FOUND : { body };
  });
}

const range = (length: number) => Array.from({ length }, (_, n) => n + 1);
const sizeOf = (query: URLSearchParams, name: string, byDefault: number, most: number) =>
  Math.min(Number(query.get(name) ?? byDefault), most);
const MOMENT = '2024-03-01T10:00:00.000Z';

/** Plunk: contacts by a cursor, templates by pages, both at most 100 (here 3) at a time. */
export function startPlunk(key: string): Promise<FakeTool> {
  const contacts = range(250).map((n) => ({
    id: `ct_${n}`,
    projectId: 'p',
    email: `P${n}@plunk.test`,
    createdAt: MOMENT,
    updatedAt: MOMENT,
    subscribed: n % 50 !== 0,
    data: n === 7 ? null : { firstName: `P${n}`, plan: 'pro' },
    snoozedUntil: null,
  }));
  const template = (name: string, type: string, body: string) => ({
    id: name,
    projectId: 'p',
    name,
    description: null,
    subject: `${name} {{firstName}}`,
    body,
    type,
    from: 'a@plunk.test',
    fromName: null,
    replyTo: null,
    createdAt: MOMENT,
    updatedAt: MOMENT,
  });
  const templates = [
    template('Receipt', 'TRANSACTIONAL', '<p>{{ order }}</p>'),
    template('News', 'MARKETING', '<p>{{firstName ?? "you"}}</p>'),
    template('Digest', 'HEADLESS', '<p>{{#each items}}{{this}}{{/each}}</p>'),
    template('Later', 'MARKETING', '<p>x</p>'),
    template('Broken', 'MARKETING', '<p>\n{{#each items}}</p>'),
  ];
  return startService({
    authorization: `Bearer ${key}`,
    refusal: { status: 401, body: { success: false, error: { code: 'UNAUTHORIZED', message: 'Invalid API key' } } },
    faults: [
      [
        /^\/contacts/,
        {
          status: 429,
          headers: { 'retry-after': '0' },
          body: { success: false, error: { code: 'RATE_LIMIT_EXCEEDED' } },
        },
      ],
      [/cursor=ct_100/, { isCut: true }],
      [/cursor=ct_200/, { body: '{"data":[{"id":' }],
      [
        /^\/templates/,
        { status: 503, headers: { 'retry-after': '0', 'content-type': 'text/html' }, body: '<h1>Unavailable</h1>' },
      ],
    ],
    answer(asked, query) {
      if (asked === '/contacts') {
        const limit = sizeOf(query, 'limit', 20, 100);
        const from = contacts.findIndex(({ id }) => id === query.get('cursor')) + 1;
        const data = contacts.slice(from, from + limit);
        const hasMore = from + limit < contacts.length;
        return { data, total: from === 0 ? contacts.length : 0, hasMore, ...(hasMore && { cursor: data.at(-1)?.id }) };
      }
      if (asked !== '/templates') return undefined;
      const [page, pageSize] = [Number(query.get('page') ?? 1), sizeOf(query, 'pageSize', 20, 3)];
      const data = templates.slice((page - 1) * pageSize, page * pageSize);
      return { data, total: templates.length, page, pageSize, totalPages: Math.ceil(templates.length / pageSize) };
    },
  });
}

/** listmonk: pages of at most 50, whatever is asked for. */
export function startListmonk(key: string): Promise<FakeTool> {
  const list = (id: number, subscription_status: string) => ({
    subscription_status,
    subscription_created_at: MOMENT,
    subscription_meta: {},
    id,
    uuid: `l${id}`,
    name: `List ${id}`,
    type: id === 1 ? 'public' : 'private',
    tags: [],
  });
  const listsOf: Record<number, object[]> = {
    1: [list(1, 'confirmed'), list(2, 'unsubscribed')],
    2: [list(1, 'unsubscribed')],
    3: [list(2, 'unconfirmed')],
    4: [],
  };
  const subscribers = range(120).map((id) => ({
    id,
    uuid: `u${id}`,
    email: `l${id}@listmonk.test`,
    name: `L ${id}`,
    attribs: { city: 'Graz' },
    status: id === 5 ? 'blocklisted' : 'enabled',
    lists: listsOf[id] ?? [list(1, 'unconfirmed')],
    created_at: MOMENT,
  }));
  const templates = [
    {
      id: 1,
      name: 'Receipt',
      type: 'tx',
      subject: 'Order {{ .Tx.Data.id }}',
      body: '<p>{{ .Subscriber.Name }}</p>',
      is_default: false,
    },
    {
      id: 2,
      name: 'Layout',
      type: 'campaign',
      subject: '',
      body: '<p>\n{{ template "content" . }}</p>',
      is_default: true,
    },
  ];
  return startService({
    authorization: `token ${key}`,
    refusal: { status: 403, body: { message: 'invalid API credentials' } },
    faults: [
      [/page=2$/, { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad gateway</html>' }],
      [/page=3$/, { status: 429, headers: { 'retry-after': '1' }, body: {} }],
    ],
    answer(asked, query) {
      if (asked === '/api/lists') {
        const results = [1, 2].map((id) => ({ id, name: `List ${id}`, optin: id === 2 ? 'double' : 'single' }));
        return { data: { results, total: 2, per_page: 2, page: 1 } };
      }
      if (asked === '/api/templates') return { data: templates };
      if (asked !== '/api/subscribers') return undefined;
      const [page, per_page] = [Number(query.get('page') ?? 1), sizeOf(query, 'per_page', 20, 50)];
      const results = subscribers.slice((page - 1) * per_page, page * per_page);
      return { data: { query: '', results, total: subscribers.length, per_page, page } };
    },
  });
}

const RESEND_GONE = 'c103';
const RESEND_PROPERTIES = ['plan', 'seats'].map((key) => ({ id: key, key, type: 'string', fallback_value: null }));
const RESEND_CONTACTS = range(103).map((n) => ({
  id: `c${n}`,
  email: `r${n}@resend.test`,
  first_name: `R${n}`,
  last_name: '',
  created_at: MOMENT,
  unsubscribed: n === 2,
  properties: { plan: { type: 'string', value: 'pro' }, seats: { type: 'number', value: n } },
}));
const RESEND_TOPICS = [
  {
    id: 't1',
    name: 'News',
    description: null,
    default_subscription: 'opt_in',
    visibility: 'public',
    created_at: MOMENT,
  },
  {
    id: 't2',
    name: 'Betas',
    description: '',
    default_subscription: 'opt_out',
    visibility: 'private',
    created_at: MOMENT,
  },
];
const RESEND_SUPPRESSIONS = ['bounce', 'complaint', 'manual'].map((origin, n) => ({
  object: 'suppression',
  id: `s${n}`,
  email: `${origin}@resend.test`,
  origin,
  source_id: null,
  created_at: MOMENT,
}));
const RESEND_HTMLS = [
  '<p>{{{FIRST_NAME|there}}}</p>',
  '<p>{{{ORDER}}} {{{ PRICE }}}</p>',
  '<p>{{{bad name}}}</p>',
  '<p>plain</p>',
];
const RESEND_TEMPLATES = RESEND_HTMLS.map((html, n) => ({
  object: 'template',
  id: `tpl${n}`,
  alias: null,
  name: `Template ${n}`,
  status: n === 3 ? 'draft' : 'published',
  from: null,
  subject: n === 1 ? null : 'Hi {{{FIRST_NAME}}}',
  html,
  text: null,
  variables: [
    { id: 'v1', key: 'ORDER', type: 'string', fallback_value: null, created_at: MOMENT, updated_at: MOMENT },
    { id: 'v2', key: 'PRICE', type: 'number', fallback_value: 0, created_at: MOMENT, updated_at: MOMENT },
  ],
  created_at: MOMENT,
}));

/**
 * Resend: lists with `has_more`, from the id of the last item on; five requests a second. Only a contact that is asked
 * for alone has its properties. The last one is deleted after it was listed.
 */
export function startResend(key: string): Promise<FakeTool> {
  const pageOf = (items: readonly { id: string }[], query: URLSearchParams, most: number) => {
    const from = items.findIndex(({ id }) => id === query.get('after')) + 1;
    const data = items.slice(from, from + sizeOf(query, 'limit', 20, most));
    return { object: 'list', has_more: from + data.length < items.length, data };
  };
  const limited = { 'ratelimit-limit': '5', 'ratelimit-remaining': '0', 'ratelimit-reset': '0', 'retry-after': '0' };
  const tooMany = { statusCode: 429, name: 'rate_limit_exceeded', message: 'Too many requests.' };
  return startService({
    authorization: `Bearer ${key}`,
    refusal: {
      status: 401,
      body: { statusCode: 401, name: 'restricted_api_key', message: 'This API key is restricted to only send emails' },
    },
    faults: [
      [/^\/contacts\/c9\/topics/, { status: 429, headers: limited, body: tooMany }],
      [/^\/contacts\/c9\/topics/, { status: 429, headers: limited, body: tooMany }],
      [
        /^\/templates\/tpl1/,
        { status: 500, headers: { 'retry-after': '0' }, body: { statusCode: 500, name: 'internal_server_error' } },
      ],
    ],
    answer(asked, query) {
      const [, kind, id, part] = asked.split('/');
      if (kind === 'suppressions') return pageOf(RESEND_SUPPRESSIONS, query, 2);
      if (kind === 'topics') return pageOf(RESEND_TOPICS, query, 100);
      if (kind === 'contact-properties') return pageOf(RESEND_PROPERTIES, query, 100);
      if (kind === 'contacts' && id === RESEND_GONE) return undefined;
      if (kind === 'contacts' && part === 'topics') {
        const choices = RESEND_TOPICS.map((topic) => ({
          id: topic.id,
          name: topic.name,
          description: null,
          subscription: topic.id === 't1' && id !== 'c3' ? 'opt_in' : 'opt_out',
        }));
        return pageOf(choices, query, 100);
      }
      if (kind === 'contacts' && id !== undefined) return RESEND_CONTACTS.find((contact) => contact.id === id);
      if (kind === 'contacts') {
        return pageOf(
          RESEND_CONTACTS.map((contact) => ({ ...contact, properties: undefined })),
          query,
          100,
        );
      }
      if (kind !== 'templates') return undefined;
      const whole = RESEND_TEMPLATES.find((template) => template.id === id);
      return id === undefined
        ? pageOf(
            RESEND_TEMPLATES.map((template) => ({ ...template, html: undefined, text: undefined })),
            query,
            3,
          )
        : whole;
    },
  });
}

const SENDGRID_SUPPRESSED: Record<string, object[]> = {
  bounces: range(1_203).map((n) => ({
    created: 1_600_000_000 + n,
    email: `b${n}@sg.test`,
    reason: '550',
    status: '5.1.1',
  })),
  spam_reports: [{ created: 1_600_000_000, email: 'spam@sg.test', ip: '192.0.2.1' }],
  invalid_emails: [],
  unsubscribes: [{ created: 1_600_000_000, email: 'left@sg.test' }],
};
const sendGridVersion = (active: number, subject: string, html_content: string) => ({
  id: `v${active}`,
  template_id: 't',
  active,
  name: 'v',
  subject,
  html_content,
  plain_content: '',
  generate_plain_content: true,
});
const SENDGRID_TEMPLATES: Record<string, object[]> = {
  'd-1': [
    sendGridVersion(0, 'Old', '<p>old</p>'),
    sendGridVersion(1, 'Hi {{first_name}}', '<p>{{#if vip}}{{insert name "default=you"}}{{/if}}</p>'),
  ],
  'd-2': [],
  'd-3': [sendGridVersion(1, 'Legacy <%subject%>', '<p><%body%></p>')],
};

/** SendGrid: suppressions by an offset, templates by the token in the address of the next page. */
export function startSendGrid(key: string): Promise<FakeTool> {
  const ids = Object.keys(SENDGRID_TEMPLATES);
  const named = (id: string) => ({
    id,
    name: `Template ${id}`,
    generation: 'dynamic',
    updated_at: '2024-03-01 10:00:00',
  });
  return startService({
    authorization: `Bearer ${key}`,
    refusal: { status: 401, body: { errors: [{ field: null, message: 'authorization required' }] } },
    faults: [
      [
        /bounces\?limit=500&offset=500$/,
        {
          status: 429,
          headers: {
            'x-ratelimit-limit': '600',
            'x-ratelimit-remaining': '0',
            'x-ratelimit-reset': String(Math.ceil(Date.now() / 1_000)),
          },
          body: { errors: [{ field: null, message: 'too many requests' }] },
        },
      ],
      [/asm\/groups\/7/, { status: 500, headers: { 'retry-after': '0' }, body: { errors: [{ message: 'internal' }] } }],
    ],
    answer(asked, query) {
      const kind = /^\/v3\/suppression\/(\w+)$/.exec(asked)?.[1];
      if (kind !== undefined) {
        const offset = Number(query.get('offset') ?? 0);
        return SENDGRID_SUPPRESSED[kind]?.slice(offset, offset + sizeOf(query, 'limit', 500, 500));
      }
      if (asked === '/v3/asm/groups') {
        return [7, 8].map((id) => ({
          id,
          name: id === 7 ? 'Weekly' : 'Empty',
          description: '',
          is_default: false,
          unsubscribes: 1,
        }));
      }
      if (asked.startsWith('/v3/asm/groups/')) return asked.includes('/7/') ? ['weekly@sg.test'] : [];
      const one = /^\/v3\/templates\/([\w-]+)$/.exec(asked)?.[1];
      if (one !== undefined) return { ...named(one), versions: SENDGRID_TEMPLATES[one] ?? [] };
      if (asked !== '/v3/templates') return undefined;
      const from = Number(query.get('page_token') ?? 0);
      const next = from + sizeOf(query, 'page_size', 2, 2);
      const url = (token: number) => `https://api.sendgrid.com/v3/templates?page_size=2&page_token=${token}`;
      return {
        result: ids.slice(from, next).map((id) => ({ ...named(id), versions: [] })),
        _metadata: { count: ids.length, self: url(from), ...(next < ids.length && { next: url(next) }) },
      };
    },
  });
}
