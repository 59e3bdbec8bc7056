import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { createAutomation, createTemplate } from './support/automations.ts';
import { eventually } from './support/eventually.ts';
import { startTraceCollector, type TraceCollector } from './support/trace-collector.ts';
import { expectChain, newCaller, traceWith } from './support/trace-chains.ts';
import { startTracedStack, type TracedStack } from './support/traced-stack.ts';

const WAIT_MS = 60_000;
const FROM = 'hello@example.com';

let collector: TraceCollector;
let stack: TracedStack;
beforeAll(async () => {
  collector = await startTraceCollector();
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  stack = await startTracedStack({
    api: { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
    worker: { ...endpoint, OTEL_SERVICE_NAME: 'delivery', OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test' },
  });
}, 120_000);
afterAll(async () => {
  await stack.stop();
  await collector.close();
});

const DELIVERY = ['workflow emailDelivery', 'activity deliverEmails', 'smtp send'];

it("continues the caller's trace from the request over outbox, workflow and activity to the server's answer", async () => {
  const caller = newCaller();
  const { body } = await stack.api('POST', '/v1/send', {
    headers: caller.headers,
    body: { to: 'ada@private.test', subject: 'Secret subject', body: '<p>Secret words</p>', from: FROM },
  });
  const emailId = body.data.emails[0].email;
  const way = ['POST /v1/send', 'outbox email', ...DELIVERY];
  const spans = expectChain(await traceWith(collector, caller.traceId, way), caller.spanId, way);

  const [request, outbox, workflow, activity, smtp] = spans;
  expect(request).toMatchObject({
    service: 'everpost-api',
    attributes: { 'http.route': '/v1/send', 'http.response.status_code': 200 },
  });
  expect(outbox?.attributes).toMatchObject({ 'everpost.outbox.rows': 1, 'everpost.project_id': stack.project.id });
  expect(workflow).toMatchObject({
    service: 'delivery',
    attributes: { 'temporal.workflow_id': `email/${emailId}`, 'everpost.outcome': 'completed' },
  });
  expect(activity?.attributes).toMatchObject({ 'temporal.attempt': 1, 'temporal.workflow_id': `email/${emailId}` });
  expect(smtp?.attributes).toEqual({
    'everpost.email.id': emailId,
    'everpost.relay': `127.0.0.1:${stack.sink.port}`,
    'server.address': '127.0.0.1',
    'smtp.outcome': 'accepted',
    'smtp.reply_code': 250,
  });
  expect(spans.some(({ hasFailed }) => hasFailed)).toBe(false);
}, 90_000);

it('shows the codes of a server that refuses an email, without its words', async () => {
  const caller = newCaller();
  stack.sink.replyTo('refused@private.test', { stage: 'rcpt', code: 550, text: '5.1.1 refused@private.test unknown' });
  await stack.api('POST', '/v1/send', {
    headers: caller.headers,
    body: { to: 'refused@private.test', subject: 'Secret subject', body: '<p>Secret words</p>', from: FROM },
  });
  const trace = await traceWith(collector, caller.traceId, ['smtp send']);
  expect(trace.get('smtp send')?.[0]?.attributes).toMatchObject({
    'smtp.outcome': 'rejected',
    'smtp.stage': 'rcpt',
    'smtp.reply_code': 550,
    'smtp.enhanced_code': '5.1.1',
  });
}, 90_000);

it('begins a trace when the caller has none, and begins none when the caller does not sample', async () => {
  const send = (headers?: Record<string, string>) =>
    stack.api('POST', '/v1/send', {
      ...(headers && { headers }),
      body: { to: 'ada@private.test', subject: 'Secret subject', body: '<p>Secret words</p>', from: FROM },
    });
  const silent = newCaller();
  const unsampled = await send({ traceparent: silent.headers.traceparent.replace(/01$/, '00') });
  const own = await send();
  const emailOf = (reply: typeof own): string => reply.body.data.emails[0].email;
  const smtp = await eventually(
    async () => collector.spans().find(({ attributes }) => attributes['everpost.email.id'] === emailOf(own)),
    WAIT_MS,
  );
  const trace = await traceWith(collector, smtp.traceId, ['POST /v1/send', ...DELIVERY]);
  expectChain(trace, '', ['POST /v1/send', 'outbox email', ...DELIVERY]);

  await eventually(async () => stack.sink.recipientCounts().get('ada@private.test')! >= 3, WAIT_MS);
  expect(collector.traceOf(silent.traceId).size).toBe(0);
  const kept = await query(stack.em(), sql`select from trace_context where subject_id = ${emailOf(unsampled)}`);
  expect(kept).toHaveLength(0);
}, 90_000);

it('follows an event to the execution that it starts, and to the email that the execution sends', async () => {
  const templateId = await createTemplate(stack);
  await createAutomation(stack, 'signed up', { mail: { type: 'SEND_EMAIL', templateId } });
  const caller = newCaller();
  await stack.api('POST', '/v1/track', {
    key: 'public',
    headers: caller.headers,
    body: { email: 'grace@private.test', event: 'signed up', data: { plan: 'Secret plan' } },
  });
  const start = ['POST /v1/track', 'outbox execution', 'workflow automationExecution', 'activity runSteps'];
  const delivery = ['outbox automationEmail', ...DELIVERY];
  // Everybody has the public key, so its callers do not decide what is traced: the trace is a new one.
  const request = await eventually(
    () => Promise.resolve(collector.spans().find(({ name }) => name === 'POST /v1/track')),
    WAIT_MS,
  );
  expect(request.traceId).not.toBe(caller.traceId);
  const trace = await traceWith(collector, request.traceId, [...start, ...delivery]);
  const steps = expectChain(trace, '', start).at(-1)!;
  const smtp = expectChain(trace, steps.spanId, delivery).at(-1);
  expect(smtp?.attributes).toMatchObject({ 'smtp.outcome': 'accepted' });
}, 90_000);

it('follows a campaign to its pages, with spans for a few emails of each', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `reader-${index}@private.test`);
  for (const email of names) await stack.api('POST', '/contacts', { body: { email, data: { reads: true } } });
  const filters = [{ field: 'data.reads', operator: 'equals', value: true }];
  const draft = await stack.api('POST', '/campaigns', {
    body: {
      name: 'Secret name',
      subject: 'Secret subject',
      body: '<p>Secret words</p>',
      from: FROM,
      audienceType: 'FILTERED',
      audienceCondition: { logic: 'AND', groups: [{ filters }] },
    },
  });
  const { id } = draft.body.data;
  const caller = newCaller();
  await stack.api('POST', `/campaigns/${id}/send`, { headers: caller.headers, body: {} });

  const way = ['POST /campaigns/:id/send', 'outbox campaign', 'workflow campaign', 'activity sendRecipientPage'];
  const trace = await traceWith(collector, caller.traceId, [...way, 'smtp send']);
  const page = expectChain(trace, caller.spanId, way).at(-1)!;
  expect(page.attributes).toMatchObject({
    'everpost.campaign.id': id,
    'everpost.page.first': 1,
    'everpost.page.last': 8,
    'everpost.emails.sent': 8,
  });
  const emails = trace.get('smtp send')?.filter(({ parentSpanId }) => parentSpanId === page.spanId);
  expect(emails).toHaveLength(5);
}, 90_000);

it('sends no address, no text of a person and no key to the collector', () => {
  const bytes = collector.bytes().toString('latin1');
  expect(bytes).toContain('smtp send');
  expect(bytes).not.toMatch(/private\.test|example\.com|Secret|signed up/);
  expect(bytes).not.toContain(stack.keys.secretKey);
  expect(bytes).not.toContain(stack.keys.publicKey);
});
