import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ParsedMail } from 'mailparser';
import { ContactEntity } from '../shared/domain/contacts/contact.entity.ts';
import { EmailEntity, type Email } from './support/entities/email.entity.ts';
import { EventEntity } from './support/entities/event.entity.ts';
import { updateProject } from '../shared/domain/lifecycle/update-project.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { emailDeliveryWorkflowId } from '../shared/pure/workflow-contracts.ts';
import type { ReceivedMessage } from './support/received-messages.ts';
import type { TestProject } from './support/api.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const RETRY_SECONDS = [0.5, 0.5];
const FROM = 'hello@example.com';

let stack: TestStack;
let addressCount = 0;
const freshEmail = () => `to-${++addressCount}@mail.test`;
beforeAll(async () => {
  stack = await startTestStack({
    config: {
      DELIVERY_RETRY_SECONDS: RETRY_SECONDS,
      DELIVERY_PAUSE_SECONDS: 0.5,
      API_RATE_LIMIT_PER_MINUTE: 1_000_000,
    },
  });
});
afterAll(() => stack.stop());
beforeEach(() => stack.sink.clear());

/** Sends a request that must be accepted. @returns the ids of the emails */
async function send(body: Record<string, unknown>, project: TestProject = stack): Promise<string[]> {
  const reply = await project.api('POST', '/v1/send', {
    body: { subject: 'Hello', body: '<p>Hi</p>', from: FROM, ...body },
  });
  expect(reply.body).toMatchObject({ success: true });
  return reply.body.data.emails.map((item: any) => item.email);
}

async function sendOne(body: Record<string, unknown>, project?: TestProject): Promise<string> {
  const [id] = await send(body, project);
  if (id === undefined) throw new Error('nothing was sent');
  return id;
}

const record = (id: string): Promise<Email> => stack.em().findOneOrFail(EmailEntity, { id });
const recordIn = (id: string, status: Email['status']): Promise<Email> =>
  eventually(async () => {
    const email = await record(id);
    return email.status === status && email;
  });
const contactOf = (email: string) => stack.em().findOneOrFail(ContactEntity, { projectId: stack.project.id, email });
const eventsOf = async (contactId: string) => stack.em().find(EventEntity, { contactId }, { orderBy: { id: 'asc' } });
const messagesTo = (address: string): ReceivedMessage[] =>
  stack.sink.messages().filter((message) => message.to.includes(address));

async function arrived(address: string): Promise<{ message: ReceivedMessage; mail: ParsedMail }> {
  const message = await eventually(async () => messagesTo(address)[0]);
  return { message, mail: await message.parsed() };
}

async function createTemplate(type: string): Promise<string> {
  const reply = await stack.api('POST', '/templates', {
    body: { name: type, subject: 'News', body: '<p>Dear {{name}}</p>', from: FROM, fromName: 'Paper', type },
  });
  return reply.body.id;
}

describe('an email as it arrives', () => {
  it('has the headers, parts and attachments of the request', async () => {
    const to = freshEmail();
    const pdf = randomBytes(70_000);
    const logo = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));
    const id = await sendOne({
      to: { email: to, name: 'Zoë "Z" Šimić, 東京' },
      from: { email: 'Team@Example.com', name: 'Équipe <Everpost>' },
      reply: 'answers@example.com',
      subject: 'Grüße, {{name}} 🎉',
      body: '<h1>Hi {{name}}</h1><p>Your <a href="https://shop.test/o">order</a></p><img src="cid:logo@1" alt="Logo">',
      headers: { 'X-Order': 'n° {{order}}', 'X-Plain': 'a, b; c' },
      data: { name: 'Zoë <3', order: { value: 42, persistent: false } },
      attachments: [
        { filename: 'Rechnung März; 1.pdf', content: pdf.toString('base64'), contentType: 'application/pdf' },
        {
          filename: 'logo.png',
          content: logo.toString('base64'),
          contentType: 'image/png',
          contentId: 'logo@1',
          disposition: 'inline',
        },
      ],
    });
    const { message, mail } = await arrived(to);
    expect([message.from, message.to]).toEqual(['team@example.com', [to]]);
    expect(mail.from?.value).toEqual([{ address: 'team@example.com', name: 'Équipe <Everpost>' }]);
    expect([mail.to].flat()[0]?.value).toEqual([{ address: to, name: 'Zoë "Z" Šimić, 東京' }]);
    expect(mail.replyTo?.value).toEqual([{ address: 'answers@example.com', name: '' }]);
    expect(mail.subject).toBe('Grüße, Zoë <3 🎉');
    expect(mail.messageId).toBe(`<${id}@example.com>`);
    expect(Math.abs((mail.date?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
    expect([mail.headers.get('x-order'), mail.headers.get('x-plain')]).toEqual([
      `=?UTF-8?B?${Buffer.from('n° 42').toString('base64')}?=`,
      'a, b; c',
    ]);
    expect(mail.headers.has('list-unsubscribe')).toBe(false);
    expect(mail.text).toMatch(/hi zoë <3/i);
    expect(mail.text).toContain('https://shop.test/o');
    expect(mail.html).toContain('<h1>Hi Zoë &lt;3</h1>');

    const files = new Map(mail.attachments.map((file) => [file.filename, file]));
    expect([...files.keys()].sort()).toEqual(['Rechnung März; 1.pdf', 'logo.png']);
    expect(files.get('Rechnung März; 1.pdf')).toMatchObject({
      contentType: 'application/pdf',
      contentDisposition: 'attachment',
    });
    expect(files.get('Rechnung März; 1.pdf')?.content.equals(pdf)).toBe(true);
    expect(files.get('logo.png')).toMatchObject({
      contentType: 'image/png',
      cid: 'logo@1',
      contentDisposition: 'inline',
    });
    expect(files.get('logo.png')?.content.equals(logo)).toBe(true);

    const sent = await recordIn(id, 'SENT');
    expect(sent).toMatchObject({ deferrals: 0, error: null, sentAt: expect.any(Date) });
    const [event, ...others] = await eventsOf((await contactOf(to)).id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      name: 'email.sent',
      emailId: id,
      data: { emailId: id, to, from: 'team@example.com' },
    });
  });

  it('shows the display name of the project, as sender of content without one and as name of the list', async () => {
    const [to, owner] = [freshEmail(), await stack.createProject()];
    const displayName = 'Tee & Brötchen';
    await updateProject(stack.em(), owner.project.id, { displayName });
    await owner.api('POST', '/contacts', { body: { email: to, subscribed: true } });
    const content = { name: 'N', subject: 'News', body: '<p>Hi</p>', from: FROM, type: 'MARKETING' };
    const template = (await owner.api('POST', '/templates', { body: content })).body.id;
    await sendOne({ to, template, subject: undefined, body: undefined, from: undefined }, owner);
    const campaign = await owner.api('POST', '/campaigns', { body: { ...content, audienceType: 'ALL' } });
    for (const [action, body] of Object.entries({ test: { email: to }, send: {} })) {
      const reply = await owner.api('POST', `/campaigns/${campaign.body.data.id}/${action}`, { body });
      expect([action, reply.status]).toEqual([action, 200]);
    }
    const messages = await eventually(async () => messagesTo(to).length === 3 && messagesTo(to));
    for (const message of messages) {
      expect((await message.parsed()).from?.value).toEqual([{ address: FROM, name: displayName }]);
      const [, name, id] = /^List-Id: =\?UTF-8\?B\?(\S+)\?=\s+<(\S+)>\r$/m.exec(message.raw.toString('latin1')) ?? [];
      expect(Buffer.from(name ?? '', 'base64').toString()).toBe(displayName);
      expect(id).toBe(`${owner.project.id}.example.com`);
    }
  });

  it('has no header that a text field tried to inject', async () => {
    const to = freshEmail();
    const evil = 'a\r\nBcc: victim@mail.test\r\nX-Evil: 1';
    await sendOne({
      to: { email: to, name: 'A"\u2028Bcc: <victim@mail.test>\u0085X-Evil: 1\u000b' },
      from: { email: FROM, name: '"<boss@example.com>, \\' },
      subject: '{{evil}}\u2028X-Evil: 1 {{{evil}}}',
      body: `<p>${evil}</p>\r\n.\r\nMAIL FROM:<victim@mail.test>\r\n{{{evil}}}`,
      headers: { 'X-Good': '{{evil}} {{{evil}}}', 'x-good-2': '\u2028X-Evil: 1' },
      data: { evil },
      attachments: [
        {
          filename: 'a;\\ X-Evil=1\u2028%0d%0aX-Evil: 1.txt',
          content: 'aGk=',
          contentType: 'text/plain; name=a; x-evil=1\u2028b',
          contentId: 'x\u0085evil;%0d%0a',
        },
      ],
    });
    const { message, mail } = await arrived(to);
    expect(message.to).toEqual([to]);
    const names = mail.headerLines.map((line) => line.key);
    expect(names.sort()).toEqual([
      'auto-submitted',
      'content-type',
      'date',
      'feedback-id',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
      'x-good',
      'x-good-2',
    ]);
    expect(mail.from?.value.map((mailbox) => mailbox.address)).toEqual([FROM]);
    expect([mail.to].flat().flatMap((field) => field?.value.map((mailbox) => mailbox.address))).toEqual([to]);
    expect(mail.attachments).toHaveLength(1);
    const raw = message.raw.toString('latin1');
    const [head = ''] = raw.split('\r\n\r\n', 1);
    expect(head).not.toMatch(/^(bcc|x-evil):/im);
    expect(raw).not.toMatch(/\r(?!\n)|(?<!\r)\n|[^\x00-\x7f]/);
    for (const part of raw.split(/^--/m).slice(1)) {
      expect(part.split('\r\n\r\n', 1)[0]).not.toMatch(/^(bcc|x-evil):/im);
    }
    expect(stack.sink.messageCount()).toBe(1);
  });

  it.each([
    ['MARKETING', true, true],
    ['HEADLESS', false, true],
    ['TRANSACTIONAL', false, false],
  ])('has the footer and headers of %s', async (type, hasFooter, isBulk) => {
    const to = freshEmail();
    await sendOne({ to, template: await createTemplate(type), subject: undefined, body: undefined, from: undefined });
    const { mail, message } = await arrived(to);
    expect(mail.from?.text).toBe(`"Paper" <${FROM}>`);
    expect(mail.html !== false && mail.html.includes('Unsubscribe</a>')).toBe(hasFooter);
    expect(mail.text?.includes('Unsubscribe')).toBe(hasFooter);
    const raw = message.raw.toString();
    expect(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m.test(raw)).toBe(isBulk);
    expect(/^List-Unsubscribe: <https:\/\/everpost\.test\/[^>]+>\r$/m.test(raw.replace(/\r\n /g, ' '))).toBe(isBulk);
    expect(mail.headers.get('precedence')).toBe(isBulk ? 'bulk' : undefined);
  });
});

describe('the answers of mail servers', () => {
  it('that defer an email twice lead to one message', async () => {
    const to = freshEmail();
    stack.sink.replyTo(to, { code: 451, stage: 'rcpt', times: 1 });
    stack.sink.replyTo(to, { code: 452, stage: 'data', times: 1 });
    const id = await sendOne({ to }, await stack.createProject());
    expect(await recordIn(id, 'SENT')).toMatchObject({ deferrals: 2, error: null });
    expect(messagesTo(to)).toHaveLength(1);
    const workflow = stack.temporal.client.workflow.getHandle(emailDeliveryWorkflowId(id));
    expect(await workflow.result()).toEqual({ rounds: 3, emails: { SENT: 1 } });
  });

  it('that defer an email delay no other email of its request, and fail it after the last attempt', async () => {
    const [slow, quick] = [freshEmail(), freshEmail()];
    stack.sink.replyTo(slow, { code: 450, text: '4.2.1 Later', stage: 'rcpt' });
    const [slowId = '', quickId = ''] = await send({ to: [slow, quick] });
    await recordIn(quickId, 'SENT');
    const failed = await recordIn(slowId, 'FAILED');
    expect(failed).toMatchObject({ deferrals: RETRY_SECONDS.length });
    expect(failed.error).toMatch(/given up after 3 deferrals.*Later/);
    expect((await contactOf(slow)).subscribed).toBe(false);
    expect((await eventsOf((await contactOf(slow)).id)).map(({ name }) => name)).toEqual(['email.failed']);
  });

  it('end the subscription when they know no such user', async () => {
    const [to, text] = [freshEmail(), '5.1.1 No such user'];
    stack.sink.replyTo(to, { code: 550, text, stage: 'data' });
    const id = await sendOne({ to, subscribed: true });
    const bounced = await recordIn(id, 'BOUNCED');
    expect(bounced).toMatchObject({ sentAt: null, bouncedAt: expect.any(Date) });
    const contact = await contactOf(to);
    expect(contact.subscribed).toBe(false);
    const events = await eventsOf(contact.id);
    expect(events.map((event) => event.name).sort()).toEqual(['contact.unsubscribed', 'email.bounce']);
    expect(events.find((event) => event.name === 'email.bounce')?.data).toMatchObject({
      emailId: id,
      to,
      bounceType: 'hard',
      diagnostic: expect.stringContaining(text),
    });
    expect(messagesTo(to)).toEqual([]);
  });

  it('defer an email and keep its contact subscribed when a refusal is not about the address', async () => {
    const to = freshEmail();
    stack.sink.replyTo(to, { code: 550, text: '5.7.1 Relaying denied', stage: 'rcpt', times: 2 });
    const id = await sendOne({ to, subscribed: true });
    expect(await recordIn(id, 'SENT')).toMatchObject({ deferrals: 2, error: null });
    const contact = await contactOf(to);
    expect(contact.subscribed).toBe(true);
    expect((await eventsOf(contact.id)).map((event) => event.name)).toEqual(['email.sent']);
    expect(messagesTo(to)).toHaveLength(1);
  });

  it('that refuse the content fail the email, and keep its contact subscribed', async () => {
    const to = freshEmail();
    stack.sink.replyTo(to, { code: 554, text: '5.7.1 Looks like spam', stage: 'data' });
    const id = await sendOne({ to, subscribed: true });
    expect((await recordIn(id, 'FAILED')).error).toContain('Looks like spam');
    const contact = await contactOf(to);
    expect(contact.subscribed).toBe(true);
    expect((await eventsOf(contact.id)).map(({ name }) => name)).toEqual(['email.failed']);
  });
});

/** Resolves when an activity has failed with this type and will be tried again. */
async function waitForRetry(failureType: string): Promise<void> {
  const { client } = stack.temporal;
  await eventually(async () => {
    for await (const { workflowId } of client.workflow.list({ query: 'ExecutionStatus = "Running"' })) {
      const { raw } = await client.workflow.getHandle(workflowId).describe();
      const isRetried = raw.pendingActivities?.some(
        (activity) => activity.lastFailure?.applicationFailureInfo?.type === failureType,
      );
      if (isRetried) return true;
    }
    return false;
  });
}

describe('a delivery', () => {
  it('waits for a mail server that is down, and loses and repeats no email', async () => {
    const addresses = Array.from({ length: 20 }, freshEmail);
    await stack.sink.setUnavailable(true);
    const ids = await send({ to: addresses });
    await waitForRetry('SmtpUnavailable');
    expect((await Promise.all(ids.map(record))).every((email) => email.deferrals === 0)).toBe(true);
    await stack.sink.setUnavailable(false);
    await Promise.all(ids.map((id) => recordIn(id, 'SENT')));
    expect(addresses.map((address) => messagesTo(address).length)).toEqual(addresses.map(() => 1));
  });

  it('waits while its project is disabled, and delays no other project', async () => {
    const other = await stack.createProject();
    const [theirs, ours] = [freshEmail(), freshEmail()];
    // The project is disabled after the request was accepted, before a worker takes the email.
    await stack.stopWorkers();
    const id = await sendOne({ to: theirs }, other);
    await updateProject(stack.em(), other.project.id, { disabled: true });
    await stack.startWorkers();
    await waitForRetry('ProjectDisabled');
    await recordIn(await sendOne({ to: ours }), 'SENT');
    expect((await record(id)).status).toBe('PENDING');
    expect(messagesTo(theirs)).toEqual([]);
    await updateProject(stack.em(), other.project.id, { disabled: false });
    await recordIn(id, 'SENT');
    expect(messagesTo(theirs)).toHaveLength(1);
  });
});

describe('many emails', () => {
  it('of 300 requests at once, from three projects, arrive exactly once each', async () => {
    const projects = [stack, await stack.createProject(), await stack.createProject()];
    const ids = await Promise.all(
      Array.from({ length: 300 }, (_, n) => sendOne({ to: `burst-${n}@mail.test` }, projects[n % 3])),
    );
    await eventually(async () => {
      const [row] = await query(
        stack.em(),
        sql`select count(*)::int as left from email where id = any(${ids}::uuid[]) and status <> 'SENT'`,
      );
      return row?.left === 0;
    });
    expect(new Set(ids).size).toBe(300);
    expect(stack.sink.recipientCounts()).toEqual(
      new Map(Array.from({ length: 300 }, (_, n) => [`burst-${n}@mail.test`, 1] as const)),
    );
  });

  it('are sent no faster than the speed of their project', async () => {
    const slow = await stack.createProject();
    await updateProject(stack.em(), slow.project.id, { emailsPerSecond: 10 });
    const addresses = Array.from({ length: 28 }, freshEmail);
    const requestedAt = Date.now();
    const ids = (
      await Promise.all([
        send({ to: addresses.slice(0, 25) }, slow),
        ...addresses.slice(25).map((to) => send({ to }, slow)),
      ])
    ).flat();
    await Promise.all(ids.map((id) => recordIn(id, 'SENT')));
    const times = stack.sink.messages().map((message) => message.receivedAt.getTime());
    expect(times).toHaveLength(28);
    // 5 are sent at once, the other 23 take 2.3 seconds at least; the margin is for inexact clocks. A process that was late
    // sends what it missed at once, so the first arrival says nothing.
    expect(Math.max(...times) - requestedAt).toBeGreaterThan(2_000);
  });

  it('reserve no more of the speed of their project than they need', async () => {
    const busy = await stack.createProject();
    await updateProject(stack.em(), busy.project.id, { emailsPerSecond: 50 });
    const id = await sendOne({ to: freshEmail() }, busy);
    await recordIn(id, 'SENT');
    const [row] = await query(
      stack.em(),
      sql`
        select extract(epoch from b.next_free_at - e.sent_at)::float8 as seconds
        from project_permit b join email e using (project_id) where e.id = ${id}`,
    );
    expect(row?.seconds).toBeLessThan(1 / 50);
  });
});
