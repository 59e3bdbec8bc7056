import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { recordComplaint, recordReply, recordSoftBounce } from '../shared/domain/emails/feedback.ts';
import { recordEngagements } from '../shared/domain/engagement/engagement.ts';
import { sql, SqlFragment } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { createAutomation, createTemplate, executionThatIs, track } from './support/automations.ts';
import { uploadContacts } from './support/csv-files.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

/** All data of the person contains one of these texts, and no other data does. */
const ADDRESS = 'zebulon.marker@mail.test';
const NEW_ADDRESS = 'zebulon.marker@new.test';
const MARKERS = ['zebulon.marker', 'quagmiremark', 'contentmark'];
const DATA = { name: 'Quagmiremark', note: 'contentmark' };

let stack: TestStack;
let receiver: Server;
beforeAll(async () => {
  stack = await startTestStack({ config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] } });
  // It answers with the request itself.
  receiver = createServer((request, response) => void request.pipe(response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
});
afterAll(async () => {
  receiver.close();
  await stack.stop();
});

/** All columns of all tables that contain a marker. */
async function placesOfMarkers(): Promise<string[]> {
  const columns = await query(
    stack.em(),
    sql`
      select c.table_name as table, c.column_name as column, c.data_type = 'bytea' as "isBytes"
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.data_type not in ('uuid', 'boolean', 'integer', 'smallint')`,
  );
  const found: string[] = [];
  for (const { table, column, isBytes } of columns) {
    const name = new SqlFragment(`"${column}"`);
    const text = isBytes ? sql`encode(${name}, 'escape')` : sql`${name}::text`;
    const rows = await query(
      stack.em(),
      sql`select 1 from ${new SqlFragment(`"${table}"`)} where lower(${text}) like any(${MARKERS.map((marker) => `%${marker}%`)}::text[]) limit 1`,
    );
    if (rows.length > 0) found.push(`${table}.${column}`);
  }
  return found.sort();
}

/** All texts in a value, payloads decoded. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (value instanceof Uint8Array) yield Buffer.from(value).toString();
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner);
}

/** The workflows whose history, summary, memo or search attributes hold a marker. */
async function workflowsWithMarkers(): Promise<string[]> {
  const { client } = stack.temporal;
  const found: string[] = [];
  let count = 0;
  for await (const { workflowId, runId } of client.workflow.list()) {
    const handle = client.workflow.getHandle(workflowId, runId);
    count++;
    const [history, description] = [await handle.fetchHistory(), await handle.describe()];
    for (const text of textsIn([history.events, description.raw])) {
      if (MARKERS.some((marker) => text.toLowerCase().includes(marker)))
        found.push(`${workflowId}: ${text.slice(0, 200)}`);
    }
  }
  // The executions, the campaign and the jobs, at least.
  expect(count).toBeGreaterThanOrEqual(6);
  return found;
}

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<any> {
  const reply = await stack.api('POST', path, { body, headers });
  expect([path, reply.status, reply.status < 300]).toEqual([path, reply.status, true]);
  return reply.body;
}

async function importRows(): Promise<void> {
  const refused = [`${ADDRESS},x,neither`, `"Joe <${ADDRESS}>",x,true`, `mailto:${ADDRESS};b@x.test,x,true`];
  const rows = [`${ADDRESS},Quagmiremark,true`, ...refused];
  const jobId = await uploadContacts(stack, `email,name,subscribed\n${rows.join('\n')}\n`);
  await untilCompleted(`/contacts/import/${jobId}`);
}

async function untilCompleted(path: string): Promise<void> {
  await eventually(async () => (await stack.api('GET', path)).body.state === 'completed');
}

async function sendEmails(): Promise<void> {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const mail = {
    subject: 'For {{name}}',
    body: '<p>{{note}} <a href="https://x.test">x</a></p>',
    from: 'a@example.com',
  };
  await post(
    '/v1/send',
    {
      ...mail,
      to: { name: 'Zebulon Quagmiremark', email: ADDRESS },
      data: DATA,
      subscribed: true,
      headers: { 'X-Person': '{{name}}' },
      attachments: [
        {
          filename: 'quagmiremark.txt',
          content: Buffer.from('contentmark').toString('base64'),
          contentType: 'text/plain',
        },
      ],
    },
    { 'idempotency-key': `welcome ${ADDRESS}` },
  );
  const content = { ...mail, name: 'C', type: 'MARKETING', audienceType: 'ALL' };
  const { id: campaignId } = (await post('/campaigns', content)).data;
  await post(`/campaigns/${campaignId}/test`, { email: ADDRESS });
  await post(`/campaigns/${campaignId}/send`, {});
  const templateId = await createTemplate(stack, { subject: mail.subject, body: mail.body });
  const all = await createAutomation(stack, 'all_steps', {
    Mail: { type: 'SEND_EMAIL', templateId, next: 'Other' },
    Other: {
      type: 'SEND_EMAIL',
      templateId,
      config: { recipient: { type: 'CUSTOM', customEmail: '{{email}}' } },
      next: 'Colleague',
    },
    Colleague: {
      type: 'SEND_EMAIL',
      templateId,
      config: { recipient: { type: 'CUSTOM', customEmail: 'colleague@team.test' } },
      next: 'Note',
    },
    Note: { type: 'UPDATE_CONTACT', config: { data: { seen: '{{name}}' } }, next: 'Ask' },
    Ask: {
      type: 'CONDITION',
      config: { field: 'email', operator: 'contains', value: 'mail' },
      branches: { yes: 'Call' },
    },
    Call: { type: 'WEBHOOK', config: { url: `${url}/?who={{email}}` }, next: 'Wait' },
    Wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'never' } },
  });
  const failing = await createAutomation(stack, 'all_steps', {
    Mail: {
      type: 'SEND_EMAIL',
      templateId,
      config: { recipient: { type: 'CUSTOM', customEmail: 'no address of {{name}}' } },
    },
  });
  const called = await createAutomation(stack, 'all_steps', {
    Call: { type: 'WEBHOOK', config: { url: `http://127.0.0.1:1/?who={{email}}` } },
  });
  await track(stack, ADDRESS, 'all_steps', DATA);
  await eventually(async () => (await executionThatIs(stack, all, 'WAITING')).currentStep?.name === 'Wait');
  await executionThatIs(stack, failing, 'FAILED');
  await executionThatIs(stack, called, 'RUNNING');
  await eventually(async () => (await stack.api('GET', `/campaigns/${campaignId}/stats`)).body.sentCount > 0);
  await eventually(async () => stack.sink.messages().length >= 5);
}

async function deliveriesOf(webhookId: string, contactId: string): Promise<number> {
  const rows = await query(
    stack.em(),
    sql`select 1 from webhook_delivery where endpoint_id = ${webhookId} and contact_id = ${contactId}`,
  );
  return rows.length;
}

/** Changes the address of the contact. Emails without a contact, and the words of a suppression, are of the old one. */
async function changeAddress(contactId: string): Promise<void> {
  await query(stack.em(), sql`update suppression set words = ${`asked for by ${ADDRESS}`} where email = ${ADDRESS}`);
  expect((await stack.api('PATCH', `/contacts/${contactId}`, { body: { email: NEW_ADDRESS } })).status).toBe(200);
}

async function answerMails(): Promise<void> {
  const emails = await query(stack.em(), sql`select id from email where status <> 'PENDING' order by id`);
  const [first, second] = emails.map((email) => email.id);
  await recordSoftBounce(
    stack.em(),
    first,
    { kind: 'temporary', rule: 'mailbox-full', diagnostic: `${ADDRESS} is over quota` },
    'report',
  );
  await recordReply(stack.em(), first, { id: 'r', from: ADDRESS, to: 'a@example.com', subject: 'Re: contentmark' });
  await recordEngagements(stack.em(), [
    {
      id: crypto.randomUUID(),
      emailId: second!,
      url: `https://x.test/?who=${ADDRESS}`,
      ageMs: 0,
      repeats: 0,
      machineReason: null,
    },
  ]);
  await recordComplaint(stack.em(), second);
}

it('no data of a deleted contact is left in any column of any table, or in Temporal', async () => {
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const webhook = await post('/webhooks', { url });
  await sendEmails();
  await importRows();
  const [{ id: contactId }] = (await stack.api('GET', `/contacts?search=${ADDRESS}`)).body.data;
  const { jobId } = await post('/contacts/bulk-unsubscribe', { contactIds: [contactId] });
  await untilCompleted(`/contacts/bulk/${jobId}`);
  await answerMails();
  await changeAddress(contactId);
  await eventually(async () => (await deliveriesOf(webhook.id, contactId)) > 0);
  const places = [
    'attachment.content',
    'automation_execution.context',
    'contact.email',
    'email.subject',
    'email.to_address',
    'email_content.html',
    'email_content.to_name',
    'event.data',
    'job.errors',
    'step_execution.output',
  ];
  expect(await placesOfMarkers()).toEqual(expect.arrayContaining(places));

  expect((await stack.api('DELETE', `/contacts/${contactId}`)).status).toBe(204);
  await eventually(
    async () => (await query(stack.em(), sql`select 1 from erased_contact where due_at is not null`)).length === 0,
    40_000,
  );
  expect(await placesOfMarkers()).toEqual([]);
  expect(await query(stack.em(), sql`select from former_address where contact_id = ${contactId}`)).toEqual([]);
  expect(await deliveriesOf(webhook.id, contactId)).toBe(0);
  expect(await workflowsWithMarkers()).toEqual([]);
}, 120_000);
