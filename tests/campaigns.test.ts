import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ParsedMail } from 'mailparser';
import { ContactEntity } from '../shared/domain/contacts/contact.entity.ts';
import { upsertContacts } from '../shared/domain/contacts/contacts.ts';
import { EmailEntity } from './support/entities/email.entity.ts';
import { EventEntity } from './support/entities/event.entity.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import type { TestProject } from './support/api.ts';
import { campaignContent, filterCondition, inDays, proPlan } from './support/campaigns.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

let stack: TestStack;
let projectCount = 0;
beforeAll(async () => {
  stack = await startTestStack({
    config: { DELIVERY_RETRY_SECONDS: [0.5, 0.5], DELIVERY_PAUSE_SECONDS: 0.5, API_RATE_LIMIT_PER_MINUTE: 1_000_000 },
  });
});
afterAll(() => stack.stop());

interface Audience extends TestProject {
  /** The address of a contact of this project. */
  address: (name: string | number) => string;
}

/** A project of its own for each test, so that ALL means the contacts of that test. */
async function createAudience(names: (string | number)[]): Promise<Audience> {
  const project = await stack.createProject();
  const domain = `p${++projectCount}.test`;
  const address = (name: string | number) => `${name}@${domain}`;
  if (names.length > 0) {
    await upsertContacts(stack.em(), {
      projectId: project.project.id,
      emails: names.map(address),
      subscribedDefault: true,
      cause: { reason: 'send' },
    });
  }
  return { ...project, address };
}

const range = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const content = (change: Record<string, unknown> = {}) =>
  campaignContent({ subject: 'Hi {{firstName ?? "reader"}}', ...change });

async function createCampaign(audience: TestProject, change: Record<string, unknown> = {}): Promise<string> {
  const reply = await audience.api('POST', '/campaigns', { body: content(change) });
  expect(reply.status).toBe(201);
  return reply.body.data.id;
}

async function send(audience: TestProject, id: string, body: unknown = {}): Promise<void> {
  expect((await audience.api('POST', `/campaigns/${id}/send`, { body })).status).toBe(200);
}

const read = async (audience: TestProject, id: string) => (await audience.api('GET', `/campaigns/${id}`)).body;
const statsOf = async (audience: TestProject, id: string) => (await audience.api('GET', `/campaigns/${id}/stats`)).body;
const finished = (audience: TestProject, id: string): Promise<any> =>
  eventually(async () => {
    const campaign = await read(audience, id);
    return campaign.status === 'SENT' && campaign;
  });
/** Resolves when the campaign's workflow runs. */
const workflowStart = (id: string) =>
  eventually(async () => {
    const handle = stack.temporal.client.workflow.getHandle(campaignWorkflowId(id));
    return (await handle.describe().catch(() => undefined))?.status.name === 'RUNNING';
  });
/** Resolves when Temporal has nothing more to do for a campaign. */
const workflowEnd = (id: string) => stack.temporal.client.workflow.getHandle(campaignWorkflowId(id)).result();

const messagesTo = (address: string) => stack.sink.messages().filter((message) => message.to.includes(address));
/** The first email to an address, as soon as it is there. */
const arrived = async (address: string): Promise<ParsedMail> =>
  (await eventually(async () => messagesTo(address)[0])).parsed();
/** The contacts of a project that got email, with the number of emails. */
function reached(audience: Audience): Map<string, number> {
  const domain = audience.address('');
  return new Map([...stack.sink.recipientCounts()].filter(([address]) => address.endsWith(domain)).sort());
}
const onceEach = (audience: Audience, names: (string | number)[]) =>
  new Map(names.map((name) => [audience.address(name), 1] as const).sort());

async function contactId(audience: Audience, name: string | number): Promise<string> {
  const where = { projectId: audience.project.id, email: audience.address(name) };
  return (await stack.em().findOneOrFail(ContactEntity, where)).id;
}

async function statusCounts(campaignId: string): Promise<Record<string, number>> {
  const rows = await query(
    stack.em(),
    sql`select status, count(*)::int as count from email where campaign_id = ${campaignId} group by status`,
  );
  return Object.fromEntries(rows.map((row) => [row.status, row.count]));
}

describe('a campaign', () => {
  it('sends every subscribed contact one personal email, and ends as SENT', async () => {
    const audience = await createAudience(range(30));
    await audience.api('POST', '/contacts', {
      body: { email: audience.address('ann'), data: { firstName: 'Ann <3', visits: 7 } },
    });
    await audience.api('POST', '/contacts', { body: { email: audience.address('gone'), subscribed: false } });
    const id = await createCampaign(audience, {
      body: '<p>Dear {{firstName ?? email}}, visit {{visits}}</p>',
      fromName: 'Pâpers',
      replyTo: 'answers@example.com',
    });
    const sent = await audience.api('POST', `/campaigns/${id}/send`, { body: {} });
    expect(sent.body).toMatchObject({ success: true, data: { status: 'SENDING' }, message: 'Campaign is being sent' });

    expect(await finished(audience, id)).toMatchObject({
      totalRecipients: 31,
      sentCount: 31,
      bouncedCount: 0,
      scheduledFor: null,
      sentAt: expect.any(String),
    });
    expect(reached(audience)).toEqual(onceEach(audience, [...range(30), 'ann']));

    const mails = await Promise.all(['ann', 0, 1].map((name) => arrived(audience.address(name))));
    expect(mails.map((mail) => mail.subject)).toEqual(['Hi Ann <3', 'Hi reader', 'Hi reader']);
    expect(mails[0]?.html).toContain('Dear Ann &lt;3, visit 7');
    expect(mails[1]?.html).toContain(`Dear ${audience.address(0)}, visit `);
    expect(mails[0]?.from?.text).toBe('"Pâpers" <news@example.com>');
    expect(mails[0]?.replyTo?.text).toBe('answers@example.com');
    expect(mails[0]?.headers.get('precedence')).toBe('bulk');
    const unsubscribeLinks = messagesTo(audience.address('ann'))
      .concat(messagesTo(audience.address(0)))
      .map((message) => /^List-Unsubscribe:\s*<([^>]+)>/m.exec(message.raw.toString())?.[1]);
    expect(new Set(unsubscribeLinks).size).toBe(2);

    const records = await stack.em().find(EmailEntity, { campaignId: id });
    const ann = records.find((email) => email.toAddress === audience.address('ann'));
    expect(mails[0]?.messageId).toBe(`<${ann?.id}@example.com>`);
    const event = await stack.em().findOneOrFail(EventEntity, { emailId: ann?.id });
    expect(event).toMatchObject({ name: 'email.sent', data: { campaignId: id, subject: 'Hi Ann <3' } });
    expect(await stack.em().count(EventEntity, { projectId: audience.project.id, name: 'email.sent' })).toBe(31);
  });

  it('is sent once although twenty requests ask for it at the same time', async () => {
    const audience = await createAudience(range(50));
    const id = await createCampaign(audience);
    const replies = await Promise.all(range(20).map(() => audience.api('POST', `/campaigns/${id}/send`, { body: {} })));
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...range(19).map(() => 400)]);
    expect(await finished(audience, id)).toMatchObject({ totalRecipients: 50, sentCount: 50 });
    expect(reached(audience)).toEqual(onceEach(audience, range(50)));
  });

  it('can be sent at the same time as others, each to its own contacts', async () => {
    const audiences = await Promise.all(range(3).map(() => createAudience(range(15))));
    const ids = await Promise.all(audiences.map((audience) => createCampaign(audience)));
    const [first] = audiences as [Audience];
    const second = await createCampaign(first, { subject: 'Second' });
    await Promise.all([...audiences.map((audience, n) => send(audience, ids[n] ?? '')), send(first, second)]);
    await Promise.all([...audiences.map((audience, n) => finished(audience, ids[n] ?? '')), finished(first, second)]);
    expect(audiences.map((audience) => [...reached(audience).values()])).toEqual([
      range(15).map(() => 2),
      range(15).map(() => 1),
      range(15).map(() => 1),
    ]);
  });
});

describe('a scheduled campaign', () => {
  it('is sent at the latest time that was set, with the latest content', async () => {
    const audience = await createAudience(range(3));
    const id = await createCampaign(audience);
    await send(audience, id, { scheduledFor: inDays(30) });
    await workflowStart(id);
    expect((await audience.api('PUT', `/campaigns/${id}`, { body: content({ subject: 'Changed' }) })).status).toBe(200);
    const scheduledFor = new Date(Date.now() + 1_500).toISOString();
    await send(audience, id, { scheduledFor });

    const campaign = await finished(audience, id);
    expect(campaign.scheduledFor).toBe(scheduledFor);
    expect(campaign.sentAt > scheduledFor).toBe(true);
    const mails = await Promise.all(range(3).map((n) => arrived(audience.address(n))));
    expect(mails.map((mail) => mail.subject)).toEqual(range(3).map(() => 'Changed'));
    const times = range(3).flatMap((n) => messagesTo(audience.address(n)).map((message) => message.receivedAt));
    expect(Math.min(...times.map((time) => time.getTime()))).toBeGreaterThanOrEqual(Date.parse(scheduledFor));
    await workflowEnd(id);
  });

  it('sends nothing once it is cancelled', async () => {
    const audience = await createAudience(range(3));
    const id = await createCampaign(audience);
    await send(audience, id, { scheduledFor: inDays(1) });
    await workflowStart(id);
    expect((await audience.api('POST', `/campaigns/${id}/cancel`)).body.status).toBe('CANCELLED');
    await workflowEnd(id);
    expect(await read(audience, id)).toMatchObject({ status: 'CANCELLED', totalRecipients: 0, sentAt: null });
    expect([reached(audience).size, await statusCounts(id)]).toEqual([0, {}]);
    expect((await audience.api('DELETE', `/campaigns/${id}`)).status).toBe(204);
  });
});

describe('a campaign that is cancelled while it is being sent', () => {
  it('sends no further email, and counts the sent ones', async () => {
    const audience = await createAudience(range(100));
    await updateProject(stack.em(), audience.project.id, { emailsPerSecond: 20 });
    const id = await createCampaign(audience);
    await send(audience, id);
    await eventually(async () => reached(audience).size >= 15);
    expect((await audience.api('POST', `/campaigns/${id}/cancel`)).status).toBe(200);
    await workflowEnd(id);

    const counts = await statusCounts(id);
    const sentCount = reached(audience).size;
    expect(counts).toEqual({ SENT: sentCount, CANCELLED: 100 - sentCount });
    expect(sentCount).toBeLessThan(100);
    expect(await read(audience, id)).toMatchObject({
      status: 'CANCELLED',
      totalRecipients: 100,
      sentCount,
      sentAt: null,
    });
    expect((await audience.api('POST', `/campaigns/${id}/send`, { body: {} })).status).toBe(400);
  });
});

describe('a campaign of a throttled project', () => {
  it('skips contacts that unsubscribe while it is being sent', async () => {
    const audience = await createAudience(range(60));
    await updateProject(stack.em(), audience.project.id, { emailsPerSecond: 10 });
    const id = await createCampaign(audience);
    await send(audience, id);
    await eventually(async () => reached(audience).size >= 5);
    await audience.api('PATCH', `/contacts/${await contactId(audience, 58)}`, { body: { subscribed: false } });
    await finished(audience, id);
    expect(await statusCounts(id)).toEqual({ SENT: 59, SKIPPED: 1 });
    expect(reached(audience).has(audience.address(58))).toBe(false);
  });
});

describe('a test email', () => {
  it('reaches an unsubscribed contact and an unknown address, creates no contact, and is not counted', async () => {
    const audience = await createAudience([]);
    const [ann, stranger] = [audience.address('ann'), audience.address('stranger')];
    await audience.api('POST', '/contacts', { body: { email: ann, data: { firstName: 'Ann' }, subscribed: false } });
    const id = await createCampaign(audience);
    for (const email of [ann, stranger]) await audience.api('POST', `/campaigns/${id}/test`, { body: { email } });
    const mails = await Promise.all([ann, stranger].map(arrived));
    expect(mails.map((mail) => mail.subject)).toEqual(['[Test] Hi Ann', '[Test] Hi reader']);
    expect(mails.every((mail) => mail.html !== false && mail.html.includes('Unsubscribe</a>'))).toBe(true);
    expect(await stack.em().count(ContactEntity, { projectId: audience.project.id })).toBe(1);
    expect(await read(audience, id)).toMatchObject({ status: 'DRAFT', totalRecipients: 0, sentCount: 0 });
  });
});

describe('the audience', () => {
  it('consists of the contacts that type, filter and segment select', async () => {
    const audience = await createAudience([]);
    const contacts: [string, Record<string, unknown>][] = [
      ['ann', { data: { plan: 'pro', visits: 12 } }],
      ['bob', { data: { plan: 'free', visits: 3 } }],
      ['cat', { data: { plan: 'pro', visits: 5 }, subscribed: false }],
      ['old', { data: { plan: 'free' } }],
    ];
    for (const [name, body] of contacts) {
      await audience.api('POST', '/contacts', { body: { email: audience.address(name), ...body } });
    }
    await query(
      stack.em(),
      sql`update contact set created_at = now() - interval '40 days' where email = ${audience.address('old')}`,
    );
    const segment = await audience.api('POST', '/segments', { body: { name: 'Pro', condition: proPlan } });
    expect(segment.status).toBe(201);
    const segmentId: string = segment.body.id;

    const filtered = (...filters: unknown[]) => ({
      audienceType: 'FILTERED',
      audienceCondition: filterCondition(...filters),
    });
    const cases: [Record<string, unknown>, string[]][] = [
      [{ type: 'MARKETING' }, ['ann', 'bob', 'old']],
      [{ type: 'HEADLESS' }, ['ann', 'bob', 'old']],
      [{ type: 'TRANSACTIONAL' }, ['ann', 'bob', 'cat', 'old']],
      [filtered({ field: 'data.plan', operator: 'equals', value: 'pro' }), ['ann']],
      [
        { ...filtered({ field: 'data.plan', operator: 'equals', value: 'pro' }), type: 'TRANSACTIONAL' },
        ['ann', 'cat'],
      ],
      [
        filtered(
          { field: 'data.visits', operator: 'greaterThan', value: 2 },
          { field: 'data.visits', operator: 'lessThan', value: 12 },
        ),
        ['bob'],
      ],
      [filtered({ field: 'email', operator: 'contains', value: 'OB@' }), ['bob']],
      [{ ...filtered({ field: 'subscribed', operator: 'equals', value: false }), type: 'TRANSACTIONAL' }, ['cat']],
      [filtered({ field: 'createdAt', operator: 'olderThan', value: 30, unit: 'days' }), ['old']],
      [filtered({ field: 'createdAt', operator: 'within', value: 30, unit: 'days' }), ['ann', 'bob']],
      [{ audienceType: 'SEGMENT', segmentId }, ['ann']],
      [{ audienceType: 'SEGMENT', segmentId, type: 'TRANSACTIONAL' }, ['ann', 'cat']],
      [filtered({ field: 'segment', operator: 'notMemberOfSegment', value: segmentId }), ['bob', 'old']],
    ];
    const ids = await Promise.all(
      cases.map(([change], n) => createCampaign(audience, { subject: `Case ${n}`, ...change })),
    );
    await Promise.all(ids.map((id) => send(audience, id)));
    const campaigns = await Promise.all(ids.map((id) => finished(audience, id)));
    expect(campaigns.map((campaign) => campaign.totalRecipients)).toEqual(cases.map(([, names]) => names.length));
    const mails = await Promise.all(
      stack.sink.messages().map(async (message) => ({ to: message.to[0], subject: (await message.parsed()).subject })),
    );
    for (const [n, [, names]] of cases.entries()) {
      const recipients = mails.filter((mail) => mail.subject === `Case ${n}`).map((mail) => mail.to);
      expect([n, recipients.sort()]).toEqual([n, names.map(audience.address)]);
    }
  });

  it('is fixed when sending begins, and its contacts that unsubscribe or are deleted later are skipped', async () => {
    const audience = await createAudience(range(10));
    const id = await createCampaign(audience);
    await stack.sink.setUnavailable(true);
    await send(audience, id);
    await eventually(async () => {
      const [row] = await query(stack.em(), sql`select audience_frozen as frozen from campaign where id = ${id}`);
      return row?.frozen;
    });
    await stack.stopWorkers();
    for (const name of [1, 2]) {
      await audience.api('PATCH', `/contacts/${await contactId(audience, name)}`, { body: { subscribed: false } });
    }
    await audience.api('DELETE', `/contacts/${await contactId(audience, 3)}`);
    await audience.api('POST', '/contacts', { body: { email: audience.address('late') } });
    await audience.api('PATCH', `/contacts/${await contactId(audience, 4)}`, { body: { data: { firstName: 'New' } } });
    await stack.sink.setUnavailable(false);
    await stack.startWorkers();

    await finished(audience, id);
    expect(await statsOf(audience, id)).toMatchObject({
      totalRecipients: 10,
      sentCount: 7,
      skippedCount: 3,
      failedCount: 0,
    });
    expect(await statusCounts(id)).toEqual({ SENT: 7, SKIPPED: 3 });
    expect(reached(audience)).toEqual(onceEach(audience, [0, 4, 5, 6, 7, 8, 9]));
    // The audience is fixed, but the data of its contacts is not.
    expect((await arrived(audience.address(4))).subject).toBe('Hi New');
  });
});

describe('the answers of mail servers', () => {
  it('decide the outcome of each recipient, and the counters add up', async () => {
    const audience = await createAudience(['ok', 'fine', 'later', 'never', 'unknown', 'spam']);
    const { sink } = stack;
    sink.replyTo(audience.address('later'), { code: 451, text: '4.7.1 Greylisted', stage: 'rcpt', times: 1 });
    sink.replyTo(audience.address('never'), { code: 450, stage: 'data' });
    sink.replyTo(audience.address('unknown'), { code: 550, text: '5.1.1 No such user', stage: 'rcpt' });
    sink.replyTo(audience.address('spam'), { code: 554, text: '5.7.1 Spam', stage: 'data' });
    const id = await createCampaign(audience);
    await send(audience, id);
    await finished(audience, id);

    expect(await statsOf(audience, id)).toMatchObject({
      totalRecipients: 6,
      sentCount: 3,
      bouncedCount: 1,
      failedCount: 2,
      skippedCount: 0,
    });
    expect(reached(audience)).toEqual(onceEach(audience, ['ok', 'fine', 'later']));
    const emails = await stack.em().find(EmailEntity, { campaignId: id });
    const outcomes = Object.fromEntries(
      emails.map((email) => [email.toAddress?.split('@')[0], [email.status, email.deferrals]]),
    );
    expect(outcomes).toEqual({
      ok: ['SENT', 0],
      fine: ['SENT', 0],
      later: ['SENT', 1],
      never: ['FAILED', 2],
      unknown: ['BOUNCED', 0],
      spam: ['FAILED', 1],
    });
    const contacts = await stack.em().find(ContactEntity, { projectId: audience.project.id, subscribed: false });
    expect(contacts.map((contact) => contact.email)).toEqual([audience.address('unknown')]);
    const events = await stack.em().find(EventEntity, { contactId: contacts[0]?.id });
    expect(events.map((event) => event.name).sort()).toEqual(['contact.unsubscribed', 'email.bounce']);
    expect(events.find((event) => event.name === 'email.bounce')?.data).toMatchObject({
      campaignId: id,
      bounceType: 'hard',
    });
  });
});
