import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { emailDeliveryWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { query } from './support/rows.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const FROM = 'hello@example.com';
const HOUR_MS = 3_600_000;

let stack: TestStack;
let addressCount = 0;
const freshEmail = () => `to-${++addressCount}@mail.test`;
beforeAll(async () => {
  stack = await startTestStack({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
});
afterAll(() => stack.stop());
beforeEach(() => stack.sink.clear());

const mail = (change: Record<string, unknown> = {}) => ({ subject: 'Hello', body: '<p>Hi</p>', from: FROM, ...change });
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const send = (change: Record<string, unknown>) =>
  stack.api('POST', '/v1/send', { body: mail({ to: freshEmail(), ...change }) });

async function sent(change: Record<string, unknown>): Promise<string[]> {
  const reply = await send(change);
  expect(reply.body).toMatchObject({ success: true });
  return reply.body.data.emails.map((each: any) => each.email);
}

const messagesTo = (address: string) => stack.sink.messages().filter(({ to }) => to.includes(address));
const arrived = (address: string) => eventually(async () => messagesTo(address)[0]);
const read = async (id: string) =>
  (await stack.api('GET', `/emails/${id}`)).body.data ?? (await stack.api('GET', `/emails/${id}`)).body;

async function faultsOf(change: Record<string, unknown>): Promise<string[]> {
  const reply = await send(change);
  expect([reply.status, reply.body.error?.code]).toEqual([422, 'VALIDATION_ERROR']);
  return reply.body.error.errors.map(({ field }: any) => field);
}

describe('copies', () => {
  it('go to each recipient once, as one message with one Message-ID', async () => {
    const [to, cc, hidden] = [freshEmail(), freshEmail(), freshEmail()];
    const ids = await sent({
      to: { email: to, name: 'Ada' },
      cc: [{ email: cc, name: 'Bo, Jr.' }, freshEmail()],
      bcc: hidden,
      subject: 'For {{name}}',
      body: '<p>{{name}} {{email}}</p>',
      data: { name: 'Ada' },
    });
    expect(ids).toHaveLength(4);
    const mails = [];
    for (const address of [to, cc, hidden]) {
      const message = await arrived(address);
      expect(message.to).toEqual([address]);
      mails.push(await message.parsed());
    }
    for (const each of mails) {
      expect(each.subject).toBe('For Ada');
      expect(each.messageId).toBe(mails[0]?.messageId);
      expect([each.to].flat().map((line) => line?.text)).toEqual([`"Ada" <${to}>`]);
      expect(each.cc).toMatchObject({ value: [{ address: cc, name: 'Bo, Jr.' }, { name: '' }] });
      expect(each.bcc).toBeUndefined();
      expect(each.html).toContain(`Ada ${to}`);
      expect(JSON.stringify([...each.headers])).not.toContain(hidden);
    }
    const [contact] = await query(stack.em(), sql`select data, subscribed from contact where email = ${cc}`);
    expect(contact).toEqual({ data: {}, subscribed: false });
  });

  it('reach the others when one address is suppressed', async () => {
    const [to, cc] = [freshEmail(), freshEmail()];
    await stack.api('POST', '/suppressions', { body: { emails: [to] } });
    const [toId] = await sent({ to, cc });
    await arrived(cc);
    await eventually(async () => (await read(toId ?? '')).status === 'SUPPRESSED');
    expect(messagesTo(to)).toEqual([]);
  });

  it('are of one recipient, of transactional email, and of nobody twice', async () => {
    const [to, other] = [freshEmail(), freshEmail()];
    expect(await faultsOf({ to: [to, other], cc: freshEmail() })).toEqual(['to']);
    expect(await faultsOf({ to, cc: [to.toUpperCase()] })).toEqual(['cc']);
    expect(await faultsOf({ to, cc: [other], bcc: [other] })).toEqual(['bcc']);
    expect(await faultsOf({ to, cc: Array.from({ length: 51 }, freshEmail) })).toEqual(['cc']);
    expect(
      await faultsOf({ to, cc: Array.from({ length: 30 }, freshEmail), bcc: Array.from({ length: 21 }, freshEmail) }),
    ).toEqual(['cc']);
    expect(await faultsOf({ to, cc: ['nobody'] })).toEqual(['cc.0']);
    const template = await stack.api('POST', '/templates', { body: { name: 'N', ...mail(), type: 'MARKETING' } });
    expect(await faultsOf({ to, template: template.body.id, bcc: other })).toEqual(['bcc']);
  });

  it('go with attachments and many recipients', async () => {
    const cc = Array.from({ length: 40 }, freshEmail);
    const ids = await sent({
      cc,
      attachments: [{ filename: 'a.txt', content: 'aGk=', contentType: 'text/plain' }],
    });
    expect(ids).toHaveLength(41);
    const parsed = await (await arrived(cc[39] ?? '')).parsed();
    expect(parsed.attachments.map(({ filename }) => filename)).toEqual(['a.txt']);
    expect(parsed.cc).toMatchObject({ value: cc.map((address) => ({ address })) });
  });
});

describe('tags', () => {
  it('are shown, filter lists, and are in the events', async () => {
    const to = freshEmail();
    const [id] = await sent({ to, tags: ['receipt', ' Größe "M" ', 'receipt '] });
    await arrived(to);
    expect((await read(id ?? '')).tags).toEqual(['receipt', 'Größe "M"']);
    const list = async (tag: string) =>
      (await stack.api('GET', `/emails?tag=${encodeURIComponent(tag)}`)).body.emails.map((email: any) => email.id);
    expect(await list('Größe "M"')).toEqual([id]);
    expect(await list('nothing')).toEqual([]);
    const event = await eventually(
      async () =>
        (await query(stack.em(), sql`select data from event where email_id = ${id} and name = 'email.sent'`))[0],
    );
    expect(event.data.tags).toEqual(['receipt', 'Größe "M"']);
  });

  it('have limits', async () => {
    expect(await faultsOf({ tags: Array.from({ length: 11 }, (_, n) => `t${n}`) })).toEqual(['tags']);
    expect(await faultsOf({ tags: ['x'.repeat(101)] })).toEqual(['tags.0']);
    expect(await faultsOf({ tags: ['', '  '] })).toEqual(['tags.0', 'tags.1']);
  });
});

describe('a scheduled email', () => {
  it('goes when it is due, not earlier', async () => {
    const to = freshEmail();
    const scheduledAt = inMs(1_500);
    await sent({ to, scheduledAt });
    const message = await arrived(to);
    const parsed = await message.parsed();
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(scheduledAt));
    expect(Math.abs((parsed.date?.getTime() ?? 0) - Date.parse(scheduledAt))).toBeLessThan(1_000);
    expect(messagesTo(to)).toHaveLength(1);
  });

  it('waits in Temporal, gets another moment, and goes once', async () => {
    const to = freshEmail();
    const scheduledAt = inMs(HOUR_MS);
    const [id = ''] = await sent({ to, scheduledAt });
    expect(await read(id)).toMatchObject({
      status: 'PENDING',
      scheduledAt,
      waiting: { reason: 'scheduled', until: scheduledAt },
    });
    const handle = stack.temporal.client.workflow.getHandle(emailDeliveryWorkflowId(id));
    await eventually(async () => (await handle.describe().catch(() => undefined))?.status.name === 'RUNNING');
    const later = inMs(2 * HOUR_MS);
    expect((await stack.api('PATCH', `/emails/${id}`, { body: { scheduledAt: later } })).body).toMatchObject({
      scheduledAt: later,
    });
    expect(messagesTo(to)).toEqual([]);
    await stack.api('PATCH', `/emails/${id}`, { body: { scheduledAt: '2020-01-01T00:00:00+02:00' } });
    await arrived(to);
    await handle.result();
    expect(messagesTo(to)).toHaveLength(1);
    expect((await stack.api('PATCH', `/emails/${id}`, { body: { scheduledAt: later } })).status).toBe(409);
    expect((await stack.api('POST', `/emails/${id}/cancel`)).status).toBe(409);
  });

  it('can be cancelled, for good', async () => {
    const to = freshEmail();
    const [id = ''] = await sent({ to, scheduledAt: inMs(HOUR_MS) });
    expect((await stack.api('POST', `/emails/${id}/cancel`)).body).toMatchObject({
      status: 'CANCELLED',
      waiting: null,
    });
    expect((await stack.api('POST', `/emails/${id}/cancel`)).status).toBe(409);
    const handle = stack.temporal.client.workflow.getHandle(emailDeliveryWorkflowId(id));
    await eventually(async () => (await handle.describe().catch(() => undefined))?.status.name === 'COMPLETED');
    expect(messagesTo(to)).toEqual([]);
  });

  it('is told apart from others, and has limits', async () => {
    const [id = ''] = await sent({});
    expect((await stack.api('POST', `/emails/${id}/cancel`)).body.error).toMatchObject({
      code: 'CONFLICT',
      message: 'The email was not scheduled',
    });
    expect(
      (await stack.api('PATCH', '/emails/019a0000-0000-7000-8000-000000000000', { body: { scheduledAt: inMs(1) } }))
        .status,
    ).toBe(404);
    const other = await stack.createProject();
    const [scheduled = ''] = await sent({ scheduledAt: inMs(HOUR_MS) });
    expect((await other.api('POST', `/emails/${scheduled}/cancel`)).status).toBe(404);
    for (const scheduledAt of ['tomorrow', '2030-01-01', inMs(181 * 24 * HOUR_MS)]) {
      expect(await faultsOf({ scheduledAt })).toEqual(['scheduledAt']);
    }
    expect((await read((await sent({ scheduledAt: '2001-01-01T00:00:00Z' }))[0] ?? '')).scheduledAt).toBeNull();
  });
});

describe('POST /v1/send/batch', () => {
  const batch = (emails: unknown[], headers: Record<string, string> = {}) =>
    stack.api('POST', '/v1/send/batch', { body: { emails }, headers });

  it('sends different emails, each with an outcome of its own', async () => {
    const [first, last] = [freshEmail(), freshEmail()];
    const reply = await batch([
      mail({ to: first, subject: 'One' }),
      mail({ to: 'nobody' }),
      mail({ to: freshEmail(), from: 'me@elsewhere.test' }),
      mail({ to: freshEmail(), template: '019a0000-0000-7000-8000-000000000000' }),
      7,
      mail({ to: freshEmail(), attachments: [{ filename: 'a.txt', content: 'aGk=', contentType: 'text/plain' }] }),
      mail({ to: [first, last], subject: 'Two {{email}}', tags: ['b'] }),
    ]);
    expect(reply.status).toBe(200);
    const { results } = reply.body.data;
    expect(results.map(({ success, error, emails }: any) => (success ? emails.length : error.statusCode))).toEqual([
      1, 422, 403, 404, 422, 422, 2,
    ]);
    expect(results[1].error.errors).toEqual([expect.objectContaining({ field: 'to' })]);
    await eventually(async () => messagesTo(first).length === 2 && messagesTo(last).length === 1);
  });

  it('refuses those whose recipients left, and keeps nothing of them', async () => {
    const template = await stack.api('POST', '/templates', { body: { name: 'N', ...mail(), type: 'MARKETING' } });
    const [leaver, stranger] = [freshEmail(), freshEmail()];
    const created = await stack.api('POST', '/contacts', { body: { email: leaver, subscribed: true } });
    await stack.api('PATCH', `/contacts/${created.body.id}`, { body: { subscribed: false } });
    const { body } = await batch([
      { to: [leaver, stranger], template: template.body.id, data: { marked: true } },
      mail({ to: freshEmail() }),
    ]);
    expect(body.data.results.map(({ success }: any) => success)).toEqual([false, true]);
    expect(body.data.results[0].error).toMatchObject({ code: 'BAD_REQUEST', details: { recipients: [leaver] } });
    expect(
      await query(stack.em(), sql`select email from contact where email = ${stranger} or jsonb_exists(data, 'marked')`),
    ).toEqual([]);
  });

  it('is repeated without sending anything again', async () => {
    const to = freshEmail();
    const emails = Array.from({ length: 100 }, (_, n) => mail({ to, subject: `Mail ${n}` }));
    const headers = { 'idempotency-key': 'batch-1' };
    const replies = await Promise.all([batch(emails, headers), batch(emails, headers)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await batch(emails, headers)).status).toBe(409);
    await eventually(async () => messagesTo(to).length === 100);
    const subjects = await Promise.all(messagesTo(to).map(async (message) => (await message.parsed()).subject));
    expect(new Set(subjects).size).toBe(100);
  });

  it('has limits', async () => {
    const fieldOf = async (emails: unknown[]) => (await batch(emails)).body.error.errors.map(({ field }: any) => field);
    expect(await fieldOf([])).toEqual(['emails']);
    expect(await fieldOf(Array.from({ length: 101 }, () => mail({ to: freshEmail() })))).toEqual(['emails']);
    const many = Array.from({ length: 501 }, freshEmail);
    expect(await fieldOf([mail({ to: many }), mail({ to: many })])).toEqual(['emails']);
  });
});
