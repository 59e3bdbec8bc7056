import { beforeEach, describe, expect, it } from '@jest/globals';
import { v7 as uuidV7 } from 'uuid';
import { testConfig } from '../../../tests/support/config.ts';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { linkSignerOf } from '../../sending/compose/links.ts';
import { createEmailCompiler } from '../../sending/compose/compiled-email.ts';
import { Share } from '../../platform/share.ts';
import { sql, SqlFragment } from '../../database/sql.ts';
import { query } from '../../../tests/support/rows.ts';
import { trustDomain } from '../domains/sender-domains.ts';
import { claimIdempotencyKeys, type ClaimOutcome, type IdempotencyClaim } from '../idempotency/idempotency.ts';
import { createProject } from '../projects/projects.ts';
import { createTemplate } from '../templates/templates.ts';
import { createTransactionalQueue, type TransactionalQueue } from './transactional-queue.ts';
import type { TransactionalRequest } from './transactional-request.ts';
import { TEST_BRAND } from '../../../tests/support/brand.ts';

let projectId: string;
let queue: TransactionalQueue;
/** The number of turns that groups and lone requests took. */
let turns = 0;
const { em } = useTestDatabase();
beforeEach(async () => {
  projectId = (await createProject(em(), 'Sending')).project.id;
  await trustDomain(em(), projectId, 'example.com');
  turns = 0;
  const config = testConfig({});
  queue = createTransactionalQueue({
    em,
    slots: {
      run(_, work) {
        turns += 1;
        return work();
      },
    },
    links: linkSignerOf(config),
    compileEmail: createEmailCompiler(),
    largeWork: new Share({ total: 2 }),
    messageBytesMax: config.MESSAGE_MAX_BYTES,
    inboundDomain: 'in.example.com',
  });
});

type RequestInput = Partial<TransactionalRequest> & { claim?: IdempotencyClaim };

const to = (...addresses: string[]) => ({ to: addresses.map((address) => ({ address })) });

/** Queues requests at the same moment. @returns the addresses of each that was accepted, or the code of its refusal */
async function queueTogether(...requests: RequestInput[]): Promise<string[]> {
  const results = await Promise.allSettled(
    requests.map(({ claim, ...request }) =>
      queue({
        project: { id: projectId, tracking: 'DISABLED', brand: TEST_BRAND },
        claim,
        request: {
          key: { id: '01890000-0000-7000-8000-000000000000', senderDomains: null },
          ...to('a@x.test'),
          subject: 'S',
          html: 'B',
          from: { address: 'shop@example.com' },
          headers: [],
          attachments: [],
          ...request,
        },
      }),
    ),
  );
  return results.map((result) =>
    result.status === 'fulfilled'
      ? result.value.map(({ contact }) => contact.email).join()
      : (result.reason.code ?? result.reason.message),
  );
}

async function emailsOf(): Promise<object[]> {
  return query(
    em(),
    sql`
      select e.to_address as to, e.subject, c.html, c.from_address as from, c.reply_to as reply
      from email e join email_content c on c.email_id = e.id where e.project_id = ${projectId} order by e.id`,
  );
}

async function countOf(table: 'contact' | 'email' | 'outbox'): Promise<number> {
  const rows = await query(em(), sql`select from ${new SqlFragment(table)} where project_id = ${projectId}`);
  return rows.length;
}

async function claimKey(key: string): Promise<ClaimOutcome> {
  const wanted = { projectId, key, token: uuidV7(), request: 'POST /v1/send', ttlHours: 24 };
  const [outcome] = await claimIdempotencyKeys(em(), [wanted]);
  return outcome!;
}

async function claimFreeKey(key: string): Promise<IdempotencyClaim> {
  const outcome = await claimKey(key);
  if (!('claim' in outcome)) throw new Error('the key is taken');
  return outcome.claim;
}

async function statusOf(key: string): Promise<number | null | undefined> {
  const outcome = await claimKey(key);
  return 'original' in outcome ? outcome.original.statusCode : undefined;
}

describe('requests that are queued together', () => {
  it('share one turn, and each email has the content, data and sender of its own request', async () => {
    expect(
      await queueTogether(
        { ...to('b@x.test', 'a@x.test'), subject: 'One {{n}}', html: '{{email}}', data: { n: 1 } },
        {
          ...to('c@x.test'),
          html: '{{n}}',
          data: { n: 2 },
          from: { address: 'other@example.com' },
          replyTo: 'r@x.test',
        },
      ),
    ).toEqual(['b@x.test,a@x.test', 'c@x.test']);
    expect(turns).toBe(1);
    expect(await emailsOf()).toEqual([
      { to: 'b@x.test', subject: 'One 1', html: 'b@x.test', from: 'shop@example.com', reply: null },
      { to: 'a@x.test', subject: 'One 1', html: 'a@x.test', from: 'shop@example.com', reply: null },
      { to: 'c@x.test', subject: 'S', html: '2', from: 'other@example.com', reply: 'r@x.test' },
    ]);
    expect(await countOf('outbox')).toBe(3);
  });

  it('to one contact take effect in their order', async () => {
    await queueTogether(...[0, 1, 2].map((n) => ({ html: '{{n}}{{k0}}{{k1}}{{k2}}', data: { n, [`k${n}`]: n } })));
    expect((await emailsOf()).map((email: any) => email.html)).toEqual(['00', '101', '2012']);
  });

  it('do not include large requests and those with a reply address at the inbound domain', async () => {
    await queueTogether(
      to('a@x.test'),
      {
        ...to('b@x.test'),
        attachments: [
          { filename: 'f', content: Buffer.from('x'), contentType: 'text/plain', disposition: 'attachment' },
        ],
      },
      { ...to('c@x.test'), html: `<p>${'x'.repeat(60_000)}</p>` },
      { ...to('d@x.test'), replyTo: 'help@in.example.com' },
      to('e@x.test'),
    );
    expect(turns).toBe(4);
    expect(await countOf('email')).toBe(5);
  });
});

describe('a bad request among good ones', () => {
  it('is refused by itself for its sender, its template or its content', async () => {
    const template = await createTemplate(em(), projectId, {
      name: 'T',
      subject: 'Known',
      body: '<b>{{email}}</b>',
      from: 'shop@example.com',
      type: 'TRANSACTIONAL',
    });
    const templated = { subject: undefined, html: undefined, from: undefined };
    expect(
      await queueTogether(
        { ...to('a@x.test'), ...templated, templateId: template.id },
        { ...to('b@x.test'), from: { address: 'a@unknown.test' } },
        { ...to('c@x.test'), ...templated, templateId: uuidV7() },
        { ...to('d@x.test'), html: '{{#if a}}' },
        { ...to('e@x.test'), subject: undefined },
        to('f@x.test'),
      ),
    ).toEqual([
      'a@x.test',
      'SENDER_DOMAIN_REFUSED',
      'TEMPLATE_NOT_FOUND',
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
      'f@x.test',
    ]);
    expect(turns).toBe(1);
    expect(await countOf('contact')).toBe(2);
  });

  it('is refused by itself when its fault is found after contacts were written', async () => {
    const marketing = await createTemplate(em(), projectId, {
      name: 'M',
      subject: 'Offer',
      body: '<b>B</b>',
      from: 'shop@example.com',
      type: 'MARKETING',
    });
    await queueTogether(to('gone@x.test'));
    await query(
      em(),
      sql`
        update contact set opted_out_at = now(), subscribed = false
        where project_id = ${projectId} and email = 'gone@x.test'`,
    );
    expect(
      await queueTogether(
        { ...to('a@x.test'), data: { big: 'x'.repeat(70_000) } },
        { ...to('gone@x.test'), templateId: marketing.id, data: { n: 1 } },
        to('b@x.test'),
      ),
    ).toEqual(['VALIDATION_ERROR', 'BAD_REQUEST', 'b@x.test']);
    const rows = await query(em(), sql`select email, data from contact where project_id = ${projectId} order by email`);
    expect(rows).toEqual([
      { email: 'b@x.test', data: {} },
      { email: 'gone@x.test', data: {} },
    ]);
    expect([await countOf('email'), await countOf('outbox')]).toEqual([2, 2]);
  });

  it('gets no reply address for its project when it is refused', async () => {
    const replyTo = 'desk@in.example.com';
    expect(await queueTogether({ replyTo, from: { address: 'shop@other.test' } })).toEqual(['SENDER_DOMAIN_REFUSED']);
    expect(await query(em(), sql`select from reply_address where project_id = ${projectId}`)).toEqual([]);
    expect(await queueTogether({ replyTo })).toEqual(['a@x.test']);
    expect(await query(em(), sql`select from reply_address where project_id = ${projectId}`)).toHaveLength(1);
  });

  it('is refused by itself, and stores nothing, when another request has taken over its key', async () => {
    const [kept, lost] = [await claimFreeKey('kept'), await claimFreeKey('lost')];
    await query(em(), sql`update idempotency_claim set token = ${uuidV7()} where token = ${lost.token}`);
    expect(
      await queueTogether({ ...to('a@x.test'), claim: kept }, { ...to('b@x.test'), claim: lost }, to('c@x.test')),
    ).toEqual(['a@x.test', 'IDEMPOTENCY_KEY_REUSED', 'c@x.test']);
    expect(await countOf('email')).toBe(2);
    expect([await statusOf('kept'), await statusOf('lost')]).toEqual([200, null]);
  });
});
