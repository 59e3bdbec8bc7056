import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTransactionalQueue } from '../shared/domain/emails/transactional-queue.ts';
import type { TransactionalRequest } from '../shared/domain/emails/transactional-request.ts';
import { sql } from '../shared/database/sql.ts';
import { queryOne } from './support/rows.ts';
import { linkSignerOf } from '../shared/sending/compose/links.ts';
import { TEST_BRAND } from './support/brand.ts';
import { repeatLongTurns } from './support/hostile-api.ts';
import { createEmailCompiler, type EmailSource } from '../shared/sending/compose/compiled-email.ts';
import { Share } from '../shared/platform/share.ts';
import { expectTooBig, startTestApi, type TestApi } from './support/api.ts';

/** Far longer than one part of the work, and far shorter than all of it. */
const TURN_CPU_MS_MAX = 100;

/** The longest turn of the event loop, in CPU time of this thread, so that other programs do not count. */
function watchTurns(): () => number {
  let longest = 0;
  let isWatching = true;
  let before = process.threadCpuUsage();
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
    before = process.threadCpuUsage();
    if (isWatching) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isWatching = false;
    return longest;
  };
}

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
});
afterAll(() => app.stop());

const mail = (change: object) => ({ to: 'a@x.test', subject: 'S', body: 'B', from: 'a@example.com', ...change });
const send = (change: object) => app.api('POST', '/v1/send', { body: mail(change) });
const recipients = (count: number) => Array.from({ length: count }, (_, index) => `r${index}@x.test`);

const counts = () =>
  queryOne(
    app.em(),
    sql`
      select (select count(*) from contact) as contacts, (select count(*) from email) as emails,
        (select count(*) from email_content) as contents, (select count(*) from outbox) as outbox`,
  );

describe('a body', () => {
  it('may have 20,000 tags, in a request and when it is stored', async () => {
    expect((await send({ body: '{{a}} '.repeat(20_000) })).status).toBe(200);
    expectTooBig(await send({ body: '{{a}} '.repeat(20_001) }), 'body');
    const content = { name: 'T', subject: 'S', from: 'a@example.com', type: 'TRANSACTIONAL' };
    const tooMany = { ...content, body: '{{a}}'.repeat(20_001) };
    expectTooBig(await app.api('POST', '/templates', { body: tooMany }), 'body');
    expectTooBig(await app.api('POST', '/campaigns', { body: { ...tooMany, audienceType: 'ALL' } }), 'body');
    const { body } = await app.api('POST', '/templates', { body: { ...content, body: 'B' } });
    expectTooBig(await app.api('PATCH', `/templates/${body.id}`, { body: { body: tooMany.body } }), 'body');
    expectTooBig(await app.api('PATCH', `/templates/${body.id}`, { body: { body: 'x'.repeat(2_000_001) } }), 'body');
  });

  it('with fewer tags may have megabytes', async () => {
    const body = `<p>{{a}}</p>${'<p>Some words.</p>'.repeat(1_000_000)}`;
    const reply = await send({ body });
    expect(reply.status).toBe(200);
    const stored = await queryOne(
      app.em(),
      sql`select length(html) as length from email_content where email_id = ${reply.body.data.emails[0].email}`,
    );
    expect(stored?.length).toBe(body.length - '{{a}}'.length);
  });
});

describe('headers', () => {
  it('must keep their limits when they are rendered', async () => {
    expectTooBig(await send({ headers: { 'X-Long': '{{long}}' }, data: { long: 'x'.repeat(999) } }), 'headers.X-Long');
    const headers = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`X-${index}`, '{{text}}']));
    expectTooBig(await send({ headers, data: { text: 'x'.repeat(900) } }), 'headers');
  });

  it('count for the steps of rendering like the body', async () => {
    const loop = '{{#each list}}{{a.b.c.d}}{{a.b.c.d}}{{/each}}';
    const headers = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`X-${index}`, loop]));
    expectTooBig(await send({ headers, data: { list: { value: Array(9_000).fill(0), persistent: false } } }), 'body');
  });
});

describe('a request to many', () => {
  it('is refused and changes nothing when all its bodies together are too large', async () => {
    const before = await counts();
    expectTooBig(await send({ to: recipients(1_000), body: 'x'.repeat(100_000) }), 'to');
    expect(await counts()).toEqual(before);
  });

  it('is refused when rendering takes too long in total', async () => {
    const body = `{{#each list}}${'{{this.a}}'.repeat(20)}{{/each}}`;
    const data = { list: { value: Array(1_000).fill({ a: 1 }), persistent: false } };
    expectTooBig(await send({ to: recipients(1_000), body, data }), 'to');
    expect((await send({ to: recipients(20), body, data })).status).toBe(200);
  });

  it('answers in the order of the request, also for an address that appears twice', async () => {
    const to = ['z@x.test', ...recipients(120), 'b@x.test', { email: 'Z@x.test', name: 'Zoe' }];
    const reply = await send({ to });
    expect(reply.body.data.emails.map((item: any) => item.contact.email)).toEqual([
      'z@x.test',
      ...recipients(120),
      'b@x.test',
      'z@x.test',
    ]);
    expect(new Set(reply.body.data.emails.map((item: any) => item.email)).size).toBe(to.length);
  });
});

describe('the process', () => {
  const request = (change: Partial<TransactionalRequest>): TransactionalRequest => ({
    key: { id: '01890000-0000-7000-8000-000000000000', senderDomains: null },
    to: [{ address: 'a@x.test' }],
    subject: 'S',
    html: 'B',
    from: { address: 'a@example.com' },
    headers: [],
    attachments: [],
    ...change,
  });
  const depsOf = (compileEmail = createEmailCompiler()) => ({
    compileEmail,
    links: linkSignerOf(app.config),
    messageBytesMax: app.config.MESSAGE_MAX_BYTES,
    largeWork: new Share({ total: 2 }),
  });
  const queueOf = (deps = depsOf()) => {
    const slots = new Share({ total: 2 });
    const queue = createTransactionalQueue({ ...deps, slots, em: () => app.em(), inboundDomain: undefined });
    const project = { ...app.project, brand: TEST_BRAND };
    return (change: Partial<TransactionalRequest>) => queue({ project, request: request(change), claim: undefined });
  };

  it('compiles nothing for a sender that is refused', async () => {
    const compiled: EmailSource[] = [];
    const compile = createEmailCompiler();
    const deps = depsOf((source) => {
      compiled.push(source);
      return compile(source);
    });
    const queue = queueOf(deps);
    await expect(queue({ from: { address: 'a@unknown.example' } })).rejects.toMatchObject({
      code: 'SENDER_DOMAIN_REFUSED',
    });
    expect(compiled).toHaveLength(0);
    await queue({ from: { address: 'a@example.com' } });
    expect(compiled).toHaveLength(1);
  });

  it.each<[string, Partial<TransactionalRequest>]>([
    [
      'the largest bodies to many',
      {
        to: recipients(200).map((address) => ({ address })),
        html: '<p>Some words for {{email}}.</p>'.repeat(2_000),
      },
    ],
    [
      '20,000 tags to many',
      { to: recipients(40).map((address) => ({ address })), html: '<b>{{a}}</b> '.repeat(20_000) },
    ],
    [
      'loops for many',
      {
        to: recipients(40).map((address) => ({ address })),
        html: '{{#each l}}{{this.a}}{{this.b}}{{/each}}',
        data: { l: { value: Array(9_000).fill({ a: 1 }), persistent: false } },
      },
    ],
  ])('does other work meanwhile: %s', async (_what, change) => {
    const queue = queueOf();
    await queue({ html: '<p>warm {{a}}</p>' });
    const longestMs = await repeatLongTurns(TURN_CPU_MS_MAX, async () => {
      const longestTurn = watchTurns();
      await queue(change).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'VALIDATION_ERROR' });
      });
      return longestTurn();
    });
    expect(longestMs).toBeLessThan(TURN_CPU_MS_MAX);
  });
});
