import { query, sql } from '../../../shared/database/sql.ts';
import { eventually } from '../eventually.ts';
import type { TestStack } from '../stack.ts';
import type { ExampleRecorder } from './recorder.ts';

const MANY_CONTACTS = 5_001;
const FROM = { email: 'hello@example.com', name: 'The Shop' };

/** Waits until a job has ended, and records it. */
async function awaitJob({ project, record }: ExampleRecorder, kind: 'import' | 'bulk', jobId: string): Promise<void> {
  await eventually(async () => (await project.api('GET', `/contacts/${kind}/${jobId}`)).body.state === 'completed');
  await record(kind === 'import' ? 'getImportJob' : 'getBulkJob', { params: { jobId } });
}

async function deleteLargeField(stack: TestStack, { project, record }: ExampleRecorder): Promise<void> {
  await query(
    stack.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select everpost_uuid_v7(), ${project.project.id}, 'many' || n || '@mail.test', true, '{"legacyId": 7}', now(), now()
      from generate_series(1, ${MANY_CONTACTS}::int) n`,
  );
  const { jobId } = await record('deleteContactField', { params: { field: 'legacyId' }, as: 'job' });
  await eventually(async () => (await project.api('GET', `/contacts/bulk/${jobId}`)).body.state === 'completed');
  await query(stack.em(), sql`delete from contact where email like 'many%' and project_id = ${project.project.id}`);
}

/** Topics, and who has them. */
export async function recordTopics(_stack: TestStack, recorder: ExampleRecorder): Promise<void> {
  const { project, record } = recorder;
  const news = {
    key: 'news',
    name: 'News',
    description: 'What is new, once a month',
    texts: { de: { name: 'Neuigkeiten', description: 'Was es Neues gibt, einmal im Monat' } },
    defaultSubscription: 'opt_in',
    visibility: 'public',
    doubleOptIn: true,
  };
  const { id } = await record('createTopic', { body: news });
  const params = { id };
  const offers = await record('createTopic', {
    body: { key: 'offers', name: 'Offers', defaultSubscription: 'opt_out' },
    as: 'offers',
  });
  await record('getTopic', { params });
  await record('updateTopic', { params, body: { ...news, name: 'Monthly news', doubleOptIn: null } });
  const query = { page: '1', pageSize: '10', search: 'news', sort: 'name', dir: 'asc' };
  await record('listTopics', { query });
  const ada = { email: 'ada@mail.test', topics: { news: true, offers: false } };
  const contact = await record('upsertContact', { body: ada, as: 'topics' });
  await record('setContactTopics', { params: { id: contact.id }, body: { topics: { offers: true, news: null } } });
  await record('getContactTopics', { params: { id: contact.id } });
  for (const operation of ['bulkUnsubscribeContacts', 'bulkSubscribeContacts']) {
    const { jobId } = await record(operation, { body: { contactIds: [contact.id], topicId: offers.id }, as: 'topic' });
    await awaitJob(recorder, 'bulk', jobId);
  }
  const isReader = { field: 'topic.news', operator: 'equals', value: true };
  const condition = { logic: 'AND', groups: [{ filters: [isReader] }] };
  await project.api('POST', '/segments', { body: { name: 'Readers', condition } });
  await record('getTopicUsage', { params });
  await record('deleteTopic', { params: { id: offers.id } });
}

/** A file in each of its formats. */
async function recordExports(
  record: ExampleRecorder['record'],
  operation: string,
  query: Record<string, string>,
): Promise<void> {
  await record(operation, { query, as: 'csv' });
  await record(operation, { query: { ...query, format: 'jsonl' }, as: 'jsonl' });
}

/** Contacts, their fields, imports and bulk operations. */
export async function recordContacts(stack: TestStack, recorder: ExampleRecorder): Promise<void> {
  const { record } = recorder;
  const ada = { email: 'ada@mail.test', subscribed: true, data: { firstName: 'Ada', plan: 'pro' } };
  const { id } = await record('upsertContact', { body: ada, as: 'created' });
  await record('upsertContact', { body: { email: ada.email, data: { plan: 'team' } }, as: 'updated' });
  await record('getContact', { params: { id } });
  await record('updateContact', {
    params: { id },
    body: { email: 'ada@mail.test', subscribed: true, data: { plan: 'pro', trial: null } },
  });
  await record('upsertContact', { body: { email: 'bo@mail.test', data: { firstName: 'Bo', age: 31 } }, as: 'another' });
  const many = [
    { email: 'bo@mail.test', data: { age: 32 } },
    { email: 'dot@mail.test', subscribed: false },
    { email: 'eve@mail.test', topics: { nowhere: true } },
  ];
  await record('upsertContacts', { body: { contacts: many } });
  await record('listContacts', { query: { limit: '1', subscribed: 'true', sort: 'email', dir: 'asc', search: 'ada' } });
  await record('searchContacts', { body: { search: 'ada@mail.test', limit: 1 } });
  await record('lookUpContacts', { body: { emails: ['ada@mail.test', 'nobody@mail.test'] } });
  await record('listContactConsents', { params: { id }, query: { limit: '10' } });
  await record('exportContact', { params: { id } });
  await recordExports(record, 'exportContacts', { search: 'ada' });
  await record('listContactFields');
  await record('listContactFieldValues', { params: { field: 'plan' }, query: { limit: '10' } });
  const plan = { logic: 'AND', groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }] };
  await recorder.project.api('POST', '/segments', { body: { name: 'Pro', condition: plan } });
  await record('getContactFieldUsage', { params: { field: 'plan' } });
  await record('deleteContactField', { params: { field: 'age' } });
  const csv = 'email,firstName,plan\nada@mail.test,Ada,pro\ncy@mail.test,Cy,free\nnot an address,Di,free\n';
  const { jobId } = await record('importContacts', { body: csv });
  await awaitJob(recorder, 'import', jobId);
  const body = { contactIds: [id] };
  const unsubscribed = await record('bulkUnsubscribeContacts', { body });
  await awaitJob(recorder, 'bulk', unsubscribed.jobId);
  const byIds = { mode: 'ids', ids: [id] };
  const others = [await record('bulkSubscribeContacts', { body: byIds }), await record('bulkDeleteContacts', { body })];
  for (const other of others) {
    await eventually(async () => {
      const job = await recorder.project.api('GET', `/contacts/bulk/${other.jobId}`);
      return job.body.state === 'completed';
    });
  }
  const [cy] = (await recorder.project.api('GET', '/contacts?search=cy')).body.data;
  await record('deleteContact', { params: { id: cy.id } });
  await deleteLargeField(stack, recorder);
}

/** Segments of both kinds. */
export async function recordSegments(_stack: TestStack, { project, record }: ExampleRecorder): Promise<void> {
  await project.api('POST', '/contacts', { body: { email: 'ada@mail.test', data: { plan: 'pro' } } });
  const isPro = { field: 'data.plan', operator: 'equals', value: 'pro' };
  const isRecent = { field: 'createdAt', operator: 'within', value: 30, unit: 'days' };
  const condition = {
    logic: 'AND',
    groups: [{ filters: [isPro], conditions: { logic: 'OR', groups: [{ filters: [isRecent] }] } }],
  };
  const dynamic = {
    name: 'Pro customers',
    description: 'On a paid plan',
    type: 'DYNAMIC',
    condition,
    trackMembership: true,
  };
  const { id } = await record('createSegment', { body: dynamic, as: 'dynamic' });
  const params = { id };
  await record('computeSegment', { params });
  await record('refreshSegment', { params });
  const file = { segmentId: id, columns: ['email', 'data.plan'] };
  await record('exportContactsByBody', { body: { ...file, condition }, as: 'csv' });
  await record('exportContactsByBody', { body: { ...file, format: 'jsonl' }, as: 'jsonl' });
  await record('getSegment', { params });
  await record('listSegments');
  await record('listSegmentContacts', { params, query: { page: '1', pageSize: '10' } });
  const change = { name: 'Paying customers', description: 'On any paid plan', trackMembership: false };
  await record('updateSegment', {
    params,
    body: { ...change, condition: { logic: 'AND', groups: [{ filters: [isPro] }] } },
  });
  const fixed = await record('createSegment', { body: { name: 'Beta testers', type: 'STATIC' }, as: 'static' });
  const emails = ['ada@mail.test', 'new@mail.test'];
  await record('addSegmentMembers', {
    params: { id: fixed.id },
    body: { emails, createMissing: true, subscribed: true },
  });
  await record('removeSegmentMembers', { params: { id: fixed.id }, body: { emails: ['ada@mail.test'] } });
  await record('deleteSegment', { params });
}

const attachment = {
  filename: 'terms.txt',
  content: Buffer.from('Terms').toString('base64'),
  contentType: 'text/plain',
  contentId: 'terms',
  disposition: 'attachment',
};

/** Emails with copies, tags and a moment, and a batch. */
async function recordPlanned(record: ExampleRecorder['record'], own: object, until: string): Promise<void> {
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const reminder = { ...own, to: 'later@mail.test', cc: ['bo@mail.test'], bcc: 'archive@mail.test', attachments: [] };
  const planned = await record('sendEmail', {
    body: { ...reminder, tags: ['reminder'], scheduledAt: inAnHour },
    as: 'scheduled',
  });
  const [first] = planned.data.emails;
  await record('rescheduleEmail', { params: { id: first.email }, body: { scheduledAt: until } });
  for (const copy of planned.data.emails) await record('cancelEmail', { params: { id: copy.email } });
  await record('listEmails', { query: { tag: 'reminder', limit: '1' }, as: 'tag' });
  const faulty = { ...reminder, from: 'me@elsewhere.test', cc: [], bcc: [] };
  const batch = [{ ...faulty, to: 'delivered+4@sandbox.everpost.test', from: FROM }, faulty];
  await record('sendBatch', { body: { emails: batch } });
}

/** Waits until so many emails have each status. */
async function untilSent({ api }: ExampleRecorder['project'], wanted: Record<string, number>): Promise<void> {
  for (const [status, count] of Object.entries(wanted)) {
    await eventually(async () => (await api('GET', `/emails?status=${status}`)).body.emails.length === count);
  }
}

const types = 'email.sent,event.triggered';

/** Emails of `/v1/send`, tracked events, and the activity of both. */
export async function recordSending(_stack: TestStack, { project, record }: ExampleRecorder): Promise<void> {
  const { api } = project;
  const welcome = { name: 'Welcome', subject: 'Welcome', body: '<p>Hello {{name}}</p>', from: FROM.email };
  const template = await api('POST', '/templates', { body: welcome });
  const own = {
    to: { email: 'delivered@sandbox.everpost.test', name: 'Ada' },
    from: FROM,
    name: 'The Shop',
    reply: 'help@example.com',
    subscribed: true,
    subject: 'Order {{order}}',
    preheader: 'Two books are on their way',
    body: '<p>Order {{order}} has left.</p>',
    text: 'Order {{order}} has left.',
    data: { order: '1042', password: { value: 'not kept', persistent: false } },
    headers: { 'X-Order': '1042' },
    attachments: [attachment],
  };
  const { data } = await record('sendEmail', { body: own, as: 'content' });
  const { contact, email } = data.emails[0];
  const list = ['delivered+2@sandbox.everpost.test', { email: 'delivered+3@sandbox.everpost.test', name: 'Bo' }];
  await record('sendEmail', { body: { to: list, template: template.body.id, data: { name: 'you' } }, as: 'template' });
  await eventually(async () => (await api('GET', `/emails/${email}`)).body.status === 'DELIVERED');
  await record('getEmail', { params: { id: email } });
  await record('getEmailContent', { params: { id: email } });
  await recordExports(record, 'exportEmails', { status: 'DELIVERED', address: own.to.email });
  await record('findRecords', { body: { text: 'delivered+2' } });
  await eventually(async () => (await api('GET', '/emails?status=DELIVERED')).body.emails.length === 3);
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const until = new Date(Date.now() + 86_400_000).toISOString();
  await record('listEmails', {
    query: {
      limit: '1',
      address: own.to.email,
      contactId: contact.id,
      status: 'DELIVERED',
      type: 'TRANSACTIONAL',
      since,
      until,
    },
  });
  await recordPlanned(record, own, until);
  await record('searchEmails', { body: { address: 'ada@mail.test', limit: 1 } });
  await record('listEmails', { query: { templateId: template.body.id, limit: '1' }, as: 'template' });

  await record('track', {
    body: { email: 'ada@mail.test', event: 'order.paid', subscribed: true, data: { total: 49.9 } },
  });
  await record('subscribe', {
    body: { email: 'grace@mail.test', data: { firstName: 'Grace' }, language: 'de' },
  });
  const ada = (await api('GET', '/contacts?search=ada@mail.test')).body.data[0];
  await record('recordEvent', {
    body: { email: 'ada@mail.test', event: 'order.paid', subscribed: true, data: { total: 5 } },
    as: 'email',
  });
  await record('recordEvent', {
    body: { name: 'order.sent', contactId: ada.id, data: { parcel: 'P-7' } },
    as: 'contact',
  });
  await record('listEvents', { query: { eventName: 'order.paid', limit: '1' } });
  await recordExports(record, 'exportEvents', { eventName: 'order.paid' });
  await record('listContactEvents', { params: { contactId: ada.id }, query: { limit: '1' } });
  const paid = { field: 'order.paid', operator: 'triggered' };
  await api('POST', '/segments', {
    body: { name: 'Buyers', condition: { logic: 'AND', groups: [{ filters: [paid] }] } },
  });
  await api('POST', '/workflows', { body: { name: 'Thanks', eventName: 'order.paid' } });
  await record('getEventUsage', { params: { eventName: 'order.paid' } });
  await untilSent(project, { DELIVERED: 4, SENT: 1 });
  await record('listEventNames');
  await record('getEventStats', { query: { startDate: since, endDate: until } });
  await record('listActivity', { query: { contactId: ada.id, types, limit: '1', startDate: since, endDate: until } });
  // The others are that of the batch and the confirmation.
  await eventually(async () => (await api('GET', '/activity/stats')).body.totals.sent === 5);
  // Workers count what was sent once a second.
  await eventually(async () => (await api('GET', '/deliverability')).body.results.length === 1);
  await record('getActivityStats', { query: { startDate: new Date().toISOString(), endDate: until } });
  await eventually(async () => (await api('GET', '/activity/queue')).body.waiting.length === 0);
  await record('getQueue');
  await record('getDeliverability');
  await record('deleteEvents', { params: { eventName: 'order.sent' } });
}
