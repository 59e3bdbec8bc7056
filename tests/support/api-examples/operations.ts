import type { TestProject } from '../api.ts';
import type { DnsServer } from '../dns-server.ts';
import { eventually } from '../eventually.ts';
import type { HookReceiver } from '../hook-receiver.ts';
import type { TestStack } from '../stack.ts';
import type { ExampleRecorder } from './recorder.ts';

interface DnsRecord {
  type: 'TXT' | 'MX';
  name: string;
  value: string;
}

/** Publishes the records that the API has asked for, as the owner of the domain does. */
function publish(dns: DnsServer, records: DnsRecord[]): void {
  for (const name of new Set(records.map((record) => record.name))) {
    const valuesOf = (type: string) =>
      records.filter((record) => record.name === name && record.type === type).map(({ value }) => value);
    const exchanges = valuesOf('MX').map((value) => [Number(value.split(' ')[0]), value.split(' ')[1] ?? ''] as const);
    dns.set(name, { TXT: valuesOf('TXT'), MX: exchanges });
  }
}

/** Sender domains, and the verification of addresses. */
export async function recordDomains(dns: DnsServer, { project, record }: ExampleRecorder): Promise<void> {
  const projectId = project.project.id;
  const { id, records } = await record('createDomain', { body: { domain: 'mail.example.org', projectId } });
  publish(dns, records);
  await record('verifyDomain', { params: { id } });
  await project.api('DELETE', `/domains/${(await project.api('GET', '/domains/project/current')).body[0].id}`);
  await record('listDomains', { params: { projectId } });
  await record('deleteDomain', { params: { id } });
  dns.set('company.example', { NS: ['ns1.company.example'], MX: [[10, 'mx.company.example']], A: ['192.0.2.1'] });
  dns.set('gmial.com', { NS: ['ns1.gmial.com'], MX: [[10, 'mx.gmial.com']], A: ['192.0.2.1'] });
  await record('verifyEmail', { body: { email: 'ada@company.example' }, as: 'valid' });
  await record('verifyEmail', { body: { email: 'ada@gmial.com' }, as: 'typo' });
}

/** Suppressed addresses. */
export async function recordSuppressions(_stack: TestStack, { project, record }: ExampleRecorder): Promise<void> {
  const { api } = project;
  const since = new Date(Date.now() - 86_400_000).toISOString();
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const email = {
    to: 'bounced@sandbox.everpost.test',
    from: 'hello@example.com',
    subject: 'Hello',
    body: '<p>Hello</p>',
  };
  await api('POST', '/v1/send', { body: email });
  await eventually(async () => (await api('GET', '/emails?status=BOUNCED')).body.emails.length === 1);
  const words = 'Asked by telephone';
  await record('addSuppressions', { body: { emails: ['ada@mail.test', 'bo@mail.test'], words } });
  await record('importSuppressions', { body: 'email\ncy@mail.test\nnot an address\n' });
  await record('listSuppressions', { query: { reason: 'MANUAL', limit: '1', address: 'ada@mail.test' } });
  await record('listSuppressions', {
    query: { reason: 'MANUAL', address: 'ada@mail.test', format: 'csv' },
    as: 'table',
  });
  await record('searchSuppressions', { body: { address: 'ada@mail.test' } });
  await record('removeSuppression', { params: { address: 'ada@mail.test' } });
  await api('POST', '/suppressions', { body: { emails: ['ada@mail.test'] } });
  await record('removeSuppressionByBody', { body: { address: 'ada@mail.test' } });
  await record('undoBounces', {
    body: { since, until, provider: 'sandbox.everpost.test', words: '5.1.1', dryRun: true },
  });
}

/** A webhook endpoint, and a WEBHOOK step. */
export async function recordWebhooks(receiver: HookReceiver, recorder: ExampleRecorder): Promise<void> {
  const { project, record, receive } = recorder;
  const body = { url: receiver.url, events: ['order.*'], description: 'The shop', enabled: true, batchSize: 10 };
  const { id } = await record('createWebhook', { body });
  const params = { id };
  const track = (event: string) =>
    project.api('POST', '/v1/track', { key: 'public', body: { email: 'ada@mail.test', event, data: { total: 49.9 } } });
  const received = (isWanted: (body: any) => boolean) =>
    eventually(async () => receiver.calls.find((call) => isWanted(call.body))?.body);
  await track('order.paid');
  receive('webhookEvent', await received(({ type }) => type === 'batch'), 'batch');
  const deliveries = async () =>
    (await project.api('GET', `/webhooks/${id}/deliveries?status=DELIVERED`)).body.deliveries;
  await eventually(async () => (await deliveries()).length === 1);
  await record('listWebhookDeliveries', { params, query: { status: 'DELIVERED', limit: '10' } });
  const [{ id: deliveryId, eventId }] = await deliveries();
  await record('getWebhookDelivery', { params: { id, deliveryId } });
  await record('getWebhook', { params });
  await record('listWebhooks');
  await record('updateWebhook', { params, body: { ...body, events: ['order.*', 'email.bounce'], batchSize: 1 } });
  await track('order.sent');
  receive('webhookEvent', await received(({ type }) => type === 'order.sent'));
  await record('testWebhook', { params });
  await record('replayWebhook', { params, body: { eventId }, as: 'event' });
  const since = new Date(Date.now() - 3_600_000).toISOString();
  await record('replayWebhook', { params, body: { since }, as: 'moment' });
  await record('rotateWebhookSecret', { params, body: { overlapHours: 24 } });
  await record('deleteWebhook', { params });
  await callFromStep(project, receiver);
  receive('stepWebhook', await received(({ workflow }) => workflow !== undefined));
}

/** Creates an automation with a WEBHOOK step, and makes a contact enter it. */
async function callFromStep({ api }: TestProject, receiver: HookReceiver): Promise<void> {
  const { body } = await api('POST', '/workflows', { body: { name: 'Tell the shop', eventName: 'order.returned' } });
  const step = { type: 'WEBHOOK', config: { url: receiver.url }, autoConnect: true };
  await api('POST', `/workflows/${body.id}/steps`, { body: step });
  await api('PATCH', `/workflows/${body.id}`, { body: { enabled: true } });
  const event = { email: 'ada@mail.test', event: 'order.returned', data: { parcel: 'P-7' } };
  await api('POST', '/v1/track', { key: 'public', body: event });
}

/** The project itself. */
export async function recordProject(_stack: TestStack, { project, record }: ExampleRecorder): Promise<void> {
  const brand = {
    displayName: 'The Shop',
    postalAddress: '1 High Street\nLondon',
    logoUrl: 'https://example.com/logo.png',
    brandColor: '#0f766e',
    language: 'en',
  };
  const params = { id: project.project.id };
  const publicKeyRules = { fields: ['plan'], subscribed: true, resubscribe: false, dataTargets: false };
  await record('updateProject', { params, body: { ...brand, publicKeyRules } });
  await record('listProjects');
  const send = { name: 'Shop server', role: 'send', senderDomains: ['example.com'] };
  const key = await record('createKey', { body: { ...send, expiresAt: '2099-01-01T00:00:00Z' } });
  await record('listKeys');
  await record('getKey', { params: { id: key.id } });
  await record('updateKey', { params: { id: key.id }, body: { name: 'Till', senderDomains: null } });
  await record('endKey', { params: { id: key.id } });
  await record('listAudit', { query: { outcome: 'done', limit: '2' } });
  await record('regenerateProjectKeys', { params });
}

/** Errors of each kind that a caller can cause. */
export async function recordErrors(_stack: TestStack, { project, refuse }: ExampleRecorder): Promise<void> {
  const email = { to: 'ada@mail.test', from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' };
  await refuse('sendEmail', { body: { ...email, to: 'nobody' } });
  await refuse('sendEmail', { body: { ...email, from: 'hello@another.example' } });
  await refuse('sendEmail', { body: email, key: 'sk_wrong' });
  const headers = { 'idempotency-key': 'order-1042-confirmation' };
  await project.api('POST', '/v1/send', { headers, body: email });
  await refuse('sendEmail', { body: email, headers });
  await refuse('sendEmail', { body: email, headers: { 'content-type': 'text/plain' } });
  await refuse('getContact', { params: { id: '01890000-0000-7000-8000-000000000000' } });
  await refuse('createTemplate', { body: {} });
  const draft = await project.api('POST', '/campaigns', {
    body: { ...email, name: 'News', audienceType: 'ALL' },
  });
  await refuse('cancelCampaign', { params: { id: draft.body.data.id } });
}
