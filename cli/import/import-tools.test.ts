import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { runCommand } from '../../tests/support/cli.ts';
import { startFakeTool, type FakeAnswer } from '../../tests/support/fake-tool.ts';
import { fileOf, gone, importTwice, KEY, run, stack, stateOf, useMoving } from '../../tests/support/moving.ts';
import { zipOf } from '../../tests/support/zip-files.ts';

useMoving();

describe('listmonk', () => {
  it('is imported from its CSV', async () => {
    const owner = await stack.createProject();
    const content =
      '\uFEFFuuid,email,name,attributes,status,created_at,updated_at\r\n' +
      'u1,ADA@x.test,"Lovelace, Ada","{""city"": ""Graz"", ""note"": ""two\\nlines""}",enabled,2020-01-01T00:00:00Z,\r\n' +
      'u2,block@x.test,B,{},blocklisted,,\r\nu3,off@x.test,,,disabled,,\r\nu4,odd@x.test,O,{},archived,,\r\n' +
      'u5,ada@x.test,Ada,{},enabled,,\r\nu6,not an address,N,{},enabled,,\r\nu7,many@x.test,N,{},enabled,,,,more\r\n';
    const { result, state } = await importTwice(
      owner,
      'ada@x.test',
      'listmonk',
      await fileOf('subscribers.csv', content),
    );
    expect(result).toMatchObject({
      rows: 7,
      createdCount: 3,
      failureCount: 3,
      leftCounts: { blocked: 1, notSubscribed: 1 },
    });
    expect(result.errors.map(({ row, error }: any) => [row, error])).toEqual([
      [5, expect.stringContaining('the status "archived"')],
      [7, expect.stringContaining('no address')],
      [8, expect.stringContaining('9 cells')],
    ]);
    expect(state).toMatchObject({
      'ada@x.test': { data: { name: 'Ada', city: 'Graz', note: 'two\nlines' }, suppressed: null },
      'block@x.test': { subscribed: false, hasLeft: true, suppressed: 'MANUAL', consents: gone('blocked'), events: 0 },
      'off@x.test': { subscribed: false, hasLeft: false, suppressed: null, consents: null },
    });
  });

  it('is imported from its API, with lists, 429s and a broken page', async () => {
    const owner = await stack.createProject();
    const list = (id: number, subscription_status: string) => ({
      id,
      name: `List ${id}`,
      type: 'public',
      subscription_status,
    });
    const subscriber = (id: number, status: string, lists: object[]) => ({
      id,
      email: `s${id}@x.test`,
      name: `S${id}`,
      attribs: { id },
      status,
      lists,
    });
    const all = [
      subscriber(1, 'enabled', [list(1, 'confirmed'), list(2, 'unsubscribed')]),
      subscriber(2, 'enabled', [list(1, 'unsubscribed')]),
      subscriber(3, 'enabled', [list(2, 'unconfirmed')]),
      subscriber(4, 'enabled', []),
      subscriber(5, 'blocklisted', [list(1, 'confirmed')]),
      ...Array.from({ length: 600 }, (_, index) => subscriber(index + 6, 'enabled', [list(1, 'unconfirmed')])),
    ];
    const page = (at: number): FakeAnswer => ({
      body: { data: { results: all.slice(at * 500, at * 500 + 500), total: all.length } },
    });
    const templates = [
      {
        name: 'Receipt',
        type: 'tx',
        subject: 'Order {{ .Tx.Data.id }}',
        body: '<p>{{ .Subscriber.Name }}{{ range .Tx.Data.items }}{{ .name }}{{ end }}</p>',
      },
      { name: 'Layout', type: 'campaign', body: '<p>\n{{ template "content" . }}</p>' },
    ];
    const fake = await startFakeTool((url, count) => {
      if (url.startsWith('/api/lists'))
        return {
          body: {
            data: {
              results: [
                { id: 1, optin: 'single' },
                { id: 2, optin: 'double' },
              ],
            },
          },
        };
      if (url === '/api/templates') return { body: { data: templates } };
      if (url.endsWith('page=1'))
        return count === 1 ? { status: 429, headers: { 'retry-after': '0' }, body: {} } : page(0);
      return count === 1 && url.endsWith('page=2')
        ? { body: '{"data": {"results": [' }
        : page(url.endsWith('page=2') ? 1 : 2);
    });
    const args = ['--url', fake.url, '--templates', '--from', 'hello@local.test'];
    const environment = { DATABASE_URL: stack.database.url, APP_SECRET: 'a secret with enough characters for a test' };
    for (const verb of ['add', 'trust'])
      await runCommand(['domain', verb, owner.project.id, 'local.test'], environment);
    const { result, state } = await importTwice(owner, 's1@x.test', 'listmonk', ...args);
    await fake.stop();
    expect(result).toMatchObject({ rows: 605, createdCount: 605, createdTopics: ['list-1', 'list-2'] });
    expect(result.leftCounts).toEqual({ unsubscribed: 1, notSubscribed: 2, blocked: 1 });
    expect(fake.requests.every(({ authorization }) => authorization === `token ${KEY}`)).toBe(true);
    expect(state).toMatchObject({
      's1@x.test': { topics: { 'list-1': true, 'list-2': false } },
      's2@x.test': { subscribed: false, hasLeft: true, topics: { 'list-1': false }, consents: gone('unsubscribed') },
      's3@x.test': { subscribed: false, hasLeft: false, topics: null },
      's4@x.test': { subscribed: false },
      's5@x.test': { suppressed: 'MANUAL' },
      's605@x.test': { subscribed: true, topics: { 'list-1': true } },
    });
    expect(result.templates[1]).toEqual({
      name: 'Layout',
      outcome: 'not translated',
      problems: ['body, line 2: {{ template "content" . }}'],
    });
    expect(result.templates[0]).toEqual({ name: 'Receipt', outcome: 'created', problems: [] });
    const { body } = await owner.api('GET', '/templates?search=Receipt');
    expect(body).toMatchObject({ total: 1 });
    expect(body.data[0]).toMatchObject({
      subject: 'Order {{id}}',
      type: 'TRANSACTIONAL',
      body: '<p>{{name}}{{#each items}}{{this.name}}{{/each}}</p>',
    });
  }, 60_000);
});

it('Mailchimp is imported from the archive of an audience', async () => {
  const owner = await stack.createProject();
  const head = 'Email Address,First Name,Last Name,MEMBER_RATING,OPTIN_TIME,CC,LEID,EUID,NOTES,TAGS';
  const files = {
    'subscribed_members_export_1.csv': `${head}\nADA@x.test,Ada,"Lovelace, Countess",5,2020-01-01 10:00:00,GB,1,e1,"[{""note"":""rude""}]","""vip"",""a """"b"""""""\nboth@x.test,Both,,2,,,,,,\n`,
    'unsubscribed_members_export_1.csv': `${head},UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_REASON\nboth@x.test,Both,,2,,,,,,,2021-02-03 04:05:06,May,N\nspam@x.test,,,1,,,,,,,2021-02-03 04:05:06,May,SPAM\n`,
    'cleaned_members_export_1.csv': `${head},CLEAN_TIME,CLEAN_CAMPAIGN_TITLE\nbounced@x.test,,,1,,,,,,,2021-02-04 04:05:06,May\n`,
    'nonsubscribed_members_export_1.csv': `${head}\nbuyer@x.test,Bea,,1,,,,,,\n`,
    'empty/': '',
  };
  const archive = await fileOf('audience.zip', zipOf(files));
  const { result, state } = await importTwice(owner, 'ada@x.test', 'mailchimp', archive);
  expect(result).toMatchObject({
    rows: 6,
    createdCount: 5,
    leftCounts: { unsubscribed: 1, complained: 1, bounced: 1, notSubscribed: 1 },
  });
  expect(state).toMatchObject({
    'both@x.test': {
      subscribed: false,
      hasLeft: true,
      suppressed: null,
      consents: gone('unsubscribed', '2021-02-03 04:05:06'),
      events: 0,
    },
    'spam@x.test': { subscribed: false, suppressed: 'COMPLAINT', consents: gone('complained', '2021-02-03 04:05:06') },
    'bounced@x.test': {
      subscribed: false,
      suppressed: 'HARD_BOUNCE',
      consents: gone('bounced', '2021-02-04 04:05:06'),
    },
    'buyer@x.test': { subscribed: false, hasLeft: false, consents: null },
  });
  expect(state['ada@x.test'].data).toEqual({
    firstName: 'Ada',
    lastName: 'Lovelace, Countess',
    OPTIN_TIME: '2020-01-01 10:00:00',
    lists: ['vip', 'a "b"'],
  });
  const unnamed = await fileOf('people.csv', `${head}\nx@x.test,,,,,,,,,\n`);
  expect((await run(owner, 'mailchimp', unnamed)).failure).toContain('people.csv');
  expect((await run(owner, 'mailchimp', await fileOf('cut.zip', zipOf(files).subarray(0, 300)))).failure).toContain(
    'End of central directory record signature not found',
  );
  expect((await run(owner, 'mailchimp', '--api')).failure).toContain('from its export');
});

it('SendGrid is imported from its files, and its suppressions from its API', async () => {
  const owner = await stack.createProject();
  const contacts =
    'EMAIL,FIRST_NAME,CONTACT_ID,PLAN\nADA@x.test,Ada,1,pro\nbounce@x.test,B,2,\nleft@x.test,L,3,\nweekly@x.test,W,4,\n';
  const files = [
    await fileOf('contacts.csv.gzip', gzipSync(contacts)),
    await fileOf('bounces.csv', 'status,reason,email,created\n5.1.1,"550, no such\nuser",bounce@x.test,1600000000\n'),
    await fileOf('blocks.csv', 'status,reason,email,created\n4.2.1,busy,ada@x.test,1600000000\n'),
    await fileOf('spam_reports.csv', 'email,ip,created\nspam@x.test,1.2.3.4,1600000000\n'),
    await fileOf('global_unsubscribes.csv', 'email,created\nleft@x.test,1600000000\nbounce@x.test,1600000001\n'),
    await fileOf('group_unsubscribes.csv', 'email,group_name,created\nweekly@x.test,Weekly news,1600000000\n'),
  ];
  const { result, state } = await importTwice(owner, 'ada@x.test', 'sendgrid', ...files);
  expect(result).toMatchObject({ createdCount: 5, createdTopics: ['weekly-news'] });
  expect(result.leftCounts).toEqual({ bounced: 1, complained: 1, unsubscribed: 2 });
  expect(state).toMatchObject({
    'ada@x.test': { data: { firstName: 'Ada', PLAN: 'pro' }, suppressed: null },
    'bounce@x.test': {
      subscribed: false,
      suppressed: 'HARD_BOUNCE',
      consents: gone('bounced', '1600000000'),
      events: 0,
    },
    'spam@x.test': { suppressed: 'COMPLAINT' },
    'left@x.test': { subscribed: false, suppressed: null, hasLeft: true },
    'weekly@x.test': { subscribed: true, topics: { 'weekly-news': false } },
  });
  expect((await run(owner, 'sendgrid', await fileOf('x.csv', 'email,created\na@x.test,1\n'))).failure).toContain(
    'bounces.csv',
  );
  expect((await run(owner, 'sendgrid', await fileOf('bounce_house.csv', contacts))).failure).toContain(
    'The columns of bounce_house.csv are those of contacts',
  );

  const other = await stack.createProject();
  const fake = await startFakeTool((url) => {
    const at = Number(new URLSearchParams(url.split('?')[1]).get('offset'));
    if (url.startsWith('/v3/suppression/bounces')) {
      return {
        body: Array.from({ length: { 0: 500, 500: 3 }[at] ?? 0 }, (_, index) => ({
          email: `b${at + index}@x.test`,
          created: 1,
        })),
      };
    }
    if (url === '/v3/asm/groups') return { body: [{ id: 7, name: 'Weekly' }] };
    return { body: url === '/v3/asm/groups/7/suppressions' ? ['g@x.test'] : [] };
  });
  expect(await run(other, 'sendgrid', '--url', fake.url)).toMatchObject({
    createdCount: 504,
    leftCounts: { bounced: 503 },
    createdTopics: ['weekly'],
  });
  await fake.stop();
});

it('Resend is imported from its API and from a file', async () => {
  const owner = await stack.createProject();
  const contact = (id: number) => ({
    id: `c${id}`,
    email: `C${id}@x.test`,
    first_name: 'C',
    last_name: '',
    unsubscribed: id === 2,
    properties: { plan: 'pro' },
  });
  const topics = [{ id: 't1', name: 'News', default_subscription: 'opt_in' }];
  const fake = await startFakeTool((url) => {
    if (url.startsWith('/suppressions')) return { body: { object: 'list', has_more: false, data: [] } };
    if (url.startsWith('/topics')) return { body: { object: 'list', has_more: false, data: topics } };
    if (url.startsWith('/contact-properties')) return { body: { object: 'list', has_more: false, data: [] } };
    const own = /^\/contacts\/(c\d+)\/topics/.exec(url)?.[1];
    if (own)
      return {
        body: {
          has_more: false,
          data: [{ id: 't1', name: 'News', subscription: own === 'c3' ? 'opt_out' : 'opt_in' }],
        },
      };
    const after = Number(/after=c(\d+)/.exec(url)?.[1] ?? 0);
    return {
      body: { object: 'list', has_more: after < 2, data: [contact(after + 1), ...(after < 2 ? [] : [contact(4)])] },
    };
  });
  const { state, result } = await importTwice(owner, 'c1@x.test', 'resend', '--url', fake.url);
  await fake.stop();
  expect(result).toMatchObject({ rows: 4, createdTopics: ['news'] });
  expect(state).toMatchObject({
    'c1@x.test': { data: { firstName: 'C', plan: 'pro' }, topics: { news: true } },
    'c2@x.test': { subscribed: false, consents: gone('unsubscribed') },
    'c3@x.test': { subscribed: true, topics: { news: false } },
  });
  const csv = 'id,email,first_name,last_name,unsubscribed,created_at\n1,d@x.test,D,E,true,x\n2,e@x.test,E,,maybe,x\n';
  const saved = JSON.stringify({ object: 'list', data: [contact(2), contact(9)] }, null, 2);
  const files = [await fileOf('resend.csv', csv), await fileOf('contacts.json', saved)];
  expect(await run(owner, 'resend', ...files)).toMatchObject({
    createdCount: 2,
    failureCount: 1,
    leftCounts: { unsubscribed: 2 },
  });
});

it('Plunk is imported from its API and from a file', async () => {
  const owner = await stack.createProject();
  const fake = await startFakeTool((url, count) => {
    if (url.includes('cursor=two') && count === 1)
      return { status: 503, headers: { 'retry-after': '0' }, body: 'down' };
    return url.includes('cursor=two')
      ? { body: { data: [{ id: '3', email: 'c@x.test', subscribed: true, data: null }], cursor: null, hasMore: false } }
      : {
          body: {
            data: [
              { id: '1', email: 'A@x.test', subscribed: true, data: { plan: 'pro' } },
              { id: '2', email: 'b@x.test', subscribed: false, data: {} },
            ],
            cursor: 'two',
            hasMore: true,
          },
        };
  });
  const { state } = await importTwice(owner, 'a@x.test', 'plunk', '--url', fake.url);
  await fake.stop();
  expect(state).toMatchObject({
    'a@x.test': { data: { plan: 'pro' } },
    'b@x.test': { subscribed: false, hasLeft: true },
    'c@x.test': { subscribed: true },
  });
  const file = await fileOf(
    'plunk.csv',
    'email;subscribed;createdAt;plan\r\nd@x.test;true;x;pro\r\nb@x.test;true;x;\r\n',
  );
  await run(owner, 'plunk', file);
  expect(await stateOf(owner)).toMatchObject({ 'd@x.test': { subscribed: true }, 'b@x.test': { subscribed: false } });
});

it('an API that refuses, or goes round in circles, ends the command', async () => {
  const owner = await stack.createProject();
  const fake = await startFakeTool((url) => {
    if (url.startsWith('/contacts')) return { body: { data: [{ email: 'a@x.test' }], cursor: 'same', hasMore: true } };
    return { status: 401, body: { error: 'bad key' } };
  });
  expect((await run(owner, 'plunk', '--url', fake.url)).failure).toContain('with the page before it');
  expect((await run(owner, 'listmonk', '--url', fake.url)).failure).toContain('answered 401');
  await fake.stop();
  expect((await run(owner, 'listmonk')).failure).toContain('--api');
  expect((await run(owner, 'listmonk', await fileOf('notes.txt', 'email'))).failure).toContain('notes.txt cannot be');
  const noKey = await runCommand(['import', 'plunk', '--url', fake.url, '--project', owner.project.id], {
    DATABASE_URL: stack.database.url,
  });
  expect(noKey.error).toContain('EVERPOST_IMPORT_KEY');
});
