import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../shared/database/sql.ts';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { query } from './support/rows.ts';
import { createAutomation, createTemplate, executionsOf } from './support/automations.ts';
import { campaignContent } from './support/campaigns.ts';
import { untilBlocked } from './support/database.ts';
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
const START = ['POST /v1/track', 'outbox execution', 'workflow automationExecution', 'activity runSteps'];
const PAGES = ['outbox campaign', 'workflow campaign', 'activity sendRecipientPage', 'smtp send'];

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
  const trace = await traceWith(collector, smtp.traceId, ['POST /v1/send', 'outbox email', ...DELIVERY]);
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

describe('a trace of work that takes its time', () => {
  let templateId: string;
  beforeAll(async () => {
    // Only callers with the secret key decide what is traced.
    await query(stack.em(), sql`update project set track_accepts_secret_key = true`);
    templateId = await createTemplate(stack);
    await stack.api('POST', '/contacts', { body: { email: 'reader@mail.test' } });
  });

  /** Sends a request with a trace of its own. */
  async function call(path: string, body: object) {
    const caller = newCaller();
    const reply = await stack.api('POST', path, { headers: caller.headers, body });
    expect(reply.status).toBeLessThan(300);
    return { ...caller, body: reply.body };
  }
  const track = (email: string, event: string) => call('/v1/track', { email, event });

  async function createCampaign(): Promise<string> {
    const { body } = await stack.api('POST', '/campaigns', { body: campaignContent({ from: 'hello@example.com' }) });
    return body.data.id;
  }

  it('a trace continues after a delay, and the trace of an event shows the wait that it ended', async () => {
    const id = await createAutomation(stack, 'joined', {
      Later: { type: 'DELAY', config: { amount: 0.02, unit: 'minutes' }, next: 'Buys' },
      Buys: { type: 'WAIT_FOR_EVENT', config: { eventName: 'bought', timeout: 600 }, branches: { event: 'Thanks' } },
      Thanks: { type: 'SEND_EMAIL', templateId },
    });
    const joined = await track('ada@mail.test', 'joined');
    await eventually(async () => (await executionsOf(stack, id))[0]?.currentStep?.name === 'Buys', 60_000);
    const bought = await track('ada@mail.test', 'bought');

    const trace = await traceWith(collector, joined.traceId, [...START, 'outbox automationEmail', ...DELIVERY]);
    const workflow = expectChain(trace, joined.spanId, START.slice(0, -1)).at(-1)!;
    const turns = trace.get('activity runSteps')!.filter(({ parentSpanId }) => parentSpanId === workflow.spanId);
    expect(turns.map(({ hasFailed }) => hasFailed)).toEqual([false, false, false]);
    expectChain(trace, turns.at(-1)!.spanId, ['outbox automationEmail', ...DELIVERY]);
    const ending = await traceWith(collector, bought.traceId, ['POST /v1/track', 'outbox executionEvent']);
    expectChain(ending, bought.spanId, ['POST /v1/track', 'outbox executionEvent']);
  }, 90_000);

  it('a trace shows steps that were too slow for their task, and the attempt after that', async () => {
    await createAutomation(stack, 'slowed', { Mail: { type: 'SEND_EMAIL', templateId } });
    const holder = stack.em();
    await holder.begin();
    await query(holder, sql`lock table step_execution in share row exclusive mode`);
    const { traceId, spanId } = await track('grace@mail.test', 'slowed');
    // The attempt within the task is still waiting when the next attempt begins.
    await untilBlocked(stack.em, 2, 30_000);
    await holder.rollback();

    const trace = await traceWith(collector, traceId, [...START, 'outbox automationEmail', ...DELIVERY]);
    const attempts = trace.get('activity runSteps')!;
    const [inTask, repeated] = [true, false].map((isLocal) =>
      attempts.find(({ attributes }) => attributes['temporal.is_local'] === isLocal),
    );
    expect(inTask?.parentSpanId).toBe(repeated?.parentSpanId);
    expectChain(trace, spanId, START.slice(0, -1));
    const mail = trace.get('outbox automationEmail')![0]!;
    expect([inTask?.spanId, repeated?.spanId]).toContain(mail.parentSpanId);
    expectChain(trace, mail.spanId, DELIVERY);
  }, 90_000);

  it('a trace continues when a campaign is due', async () => {
    const id = await createCampaign();
    const scheduledFor = new Date(Date.now() + 2_000).toISOString();
    const { traceId, spanId } = await call(`/campaigns/${id}/send`, { scheduledFor });
    const way = ['POST /campaigns/:id/send', ...PAGES];
    expectChain(await traceWith(collector, traceId, way), spanId, way);
  }, 90_000);

  it('traces of a pause and a resumption end at the outbox, and the pages stay in the trace of the send', async () => {
    const id = await createCampaign();
    stack.processes.worker.freeze();
    stack.startWorker('webhooks');
    const sent = await call(`/campaigns/${id}/send`, {});
    await traceWith(collector, sent.traceId, ['outbox campaign']);
    for (const name of ['pause', 'resume']) {
      const { traceId, spanId } = await call(`/campaigns/${id}/${name}`, {});
      const way = [`POST /campaigns/:id/${name}`, 'outbox campaign'];
      expectChain(await traceWith(collector, traceId, way), spanId, way);
    }
    stack.processes.worker.thaw();
    const sending = ['POST /campaigns/:id/send', ...PAGES];
    const trace = await traceWith(collector, sent.traceId, sending);
    expectChain(trace, sent.spanId, sending);
    expect(trace.get('outbox campaign')).toHaveLength(1);
  }, 90_000);

  it('the pages of a resend belong to the trace of its request', async () => {
    const id = await createCampaign();
    const first = await call(`/campaigns/${id}/send`, {});
    await traceWith(collector, first.traceId, PAGES);
    // A run that is still closing when the resend arrives sends it too, in the trace of the first request.
    await stack.temporal.client.workflow.getHandle(campaignWorkflowId(id)).result();
    await query(stack.em(), sql`update email set status = 'FAILED' where campaign_id = ${id}`);
    const { traceId, spanId } = await call(`/campaigns/${id}/resend`, { states: ['FAILED'] });
    const way = ['POST /campaigns/:id/resend', ...PAGES];
    expectChain(await traceWith(collector, traceId, way), spanId, way);
  }, 90_000);
});

it('sends no address, no text of a person and no key to the collector', () => {
  const bytes = collector.bytes().toString('latin1');
  expect(bytes).toContain('smtp send');
  expect(bytes).not.toMatch(/private\.test|example\.com|Secret|signed up/);
  expect(bytes).not.toContain(stack.keys.secretKey);
  expect(bytes).not.toContain(stack.keys.publicKey);
});
