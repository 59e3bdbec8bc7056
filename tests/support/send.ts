import { expect } from '@jest/globals';
import { sql, type Em } from '../../shared/database/sql.ts';
import { query } from './rows.ts';
import { ContactEntity, type Contact } from '../../shared/domain/contacts/contact.entity.ts';
import { EmailEntity, type Email } from './entities/email.entity.ts';
import { EventEntity } from './entities/event.entity.ts';
import { startTestApi, type TestApi, type TestProject, type TestReply } from './api.ts';

interface StoredContent {
  fromAddress: string;
  fromName: string | null;
  toName: string | null;
  replyTo: string | null;
  html: string;
  text: string;
  headers: [string, string][];
}

/** The API, and shortcuts for tests of `POST /v1/send`. Nothing delivers the emails. */
export interface SendApi extends TestApi {
  send: (body: unknown, project?: TestProject) => Promise<TestReply>;
  /** Sends a request to one recipient, which must be accepted. */
  sendOne: (body: unknown) => Promise<{ emailId: string; content: StoredContent; subject: Email['subject'] }>;
  contactOf: (email: string) => Promise<Contact>;
  emailRecord: (id: string) => Promise<Email>;
  contentOf: (emailId: string) => Promise<StoredContent>;
  eventNames: (contactId: string) => Promise<string[]>;
  expectNothingWritten: (request: () => Promise<TestReply>) => Promise<TestReply>;
  /** Expects 422 that names the field, and that nothing is written. */
  expectRefused: (body: unknown, field: string, code: string) => Promise<TestReply>;
  /** @returns the id of the template */
  createTemplate: (change?: Record<string, unknown>, project?: TestProject) => Promise<string>;
}

export const FROM = 'hello@example.com';
export const ATTACHMENTS_MAX_BYTES = 100_000;
export const MESSAGE_MAX_BYTES = 200_000;

let addressCount = 0;
export const freshEmail = () => `to-${++addressCount}@mail.test`;
/** A valid request, with the fields of `change`. */
export const mail = (change: Record<string, unknown> = {}) => ({
  to: freshEmail(),
  subject: 'Hello',
  body: '<p>Hi</p>',
  from: FROM,
  ...change,
});

async function contentOf(em: Em, emailId: string): Promise<StoredContent> {
  const [row] = await query(
    em,
    sql`
      select from_address as "fromAddress", from_name as "fromName", to_name as "toName", reply_to as "replyTo", html,
        body_text as text, headers
      from email_content where email_id = ${emailId}`,
  );
  if (!row) throw new Error(`no content of ${emailId}`);
  return row;
}

/** The number of rows in each table that a send may write. */
async function rowCounts(em: Em): Promise<Record<string, number>> {
  const [row] = await query(
    em,
    sql`
      select (select count(*)::int from contact) as contacts, (select count(*)::int from contact_field) as fields,
        (select count(*)::int from event) as events, (select count(*)::int from email) as emails,
        (select count(*)::int from email_content) as contents, (select count(*)::int from attachment) as attachments,
        (select count(*)::int from outbox) as outbox`,
  );
  return row ?? {};
}

async function createTemplate(project: TestProject, change: Record<string, unknown> = {}): Promise<string> {
  const reply = await project.api('POST', '/templates', {
    body: {
      name: 'Welcome',
      subject: 'Welcome {{name ?? "friend"}}',
      body: '<p>Dear {{name}}</p>',
      from: 'template@example.com',
      fromName: 'Template',
      replyTo: 'template-reply@example.com',
      type: 'TRANSACTIONAL',
      ...change,
    },
  });
  expect(reply.status).toBe(201);
  return reply.body.id;
}

export async function startSendApi(): Promise<SendApi> {
  const app = await startTestApi({
    config: { ATTACHMENTS_MAX_BYTES, MESSAGE_MAX_BYTES, API_RATE_LIMIT_PER_MINUTE: 1_000_000 },
  });
  const send: SendApi['send'] = (body, project = app) => project.api('POST', '/v1/send', { body });
  const emailRecord: SendApi['emailRecord'] = (id) => app.em().findOneOrFail(EmailEntity, { id });
  const expectNothingWritten: SendApi['expectNothingWritten'] = async (request) => {
    const before = await rowCounts(app.em());
    const reply = await request();
    expect(await rowCounts(app.em())).toEqual(before);
    return reply;
  };

  return {
    ...app,
    send,
    async sendOne(body) {
      const reply = await send(body);
      expect(reply.body).toMatchObject({ success: true });
      const emailId: string = reply.body.data.emails[0].email;
      return {
        emailId,
        content: await contentOf(app.em(), emailId),
        subject: (await emailRecord(emailId)).subject,
      };
    },
    contactOf: (email) => app.em().findOneOrFail(ContactEntity, { projectId: app.project.id, email }),
    emailRecord,
    contentOf: (emailId) => contentOf(app.em(), emailId),
    eventNames: async (contactId) =>
      (await app.em().find(EventEntity, { contactId }, { orderBy: { id: 'asc' } })).map((event) => event.name),
    expectNothingWritten,
    async expectRefused(body, field, code) {
      const reply = await expectNothingWritten(() => send(body));
      expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
      expect(reply.body.error.errors).toContainEqual(expect.objectContaining({ field, code }));
      return reply;
    },
    createTemplate: (change, project = app) => createTemplate(project, change),
  };
}
