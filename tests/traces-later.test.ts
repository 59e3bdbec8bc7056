import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { query, sql } from '../shared/database/sql.ts';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { createAutomation, createTemplate, executionsOf } from './support/automations.ts';
import { campaignContent } from './support/campaigns.ts';
import { untilBlocked } from './support/database.ts';
import { eventually } from './support/eventually.ts';
import { expectChain, newCaller, traceWith } from './support/trace-chains.ts';
import { startTraceCollector, type TraceCollector } from './support/trace-collector.ts';
import { startTracedStack, type TracedStack } from './support/traced-stack.ts';

const DELIVERY = ['workflow emailDelivery', 'activity deliverEmails', 'smtp send'];
const START = ['POST /v1/track', 'outbox execution', 'workflow automationExecution', 'activity runSteps'];
const PAGES = ['outbox campaign', 'workflow campaign', 'activity sendRecipientPage', 'smtp send'];

let collector: TraceCollector;
let stack: TracedStack;
let templateId: string;
beforeAll(async () => {
  collector = await startTraceCollector();
  const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  stack = await startTracedStack({ api: variables, worker: variables });
  // Only callers with the secret key decide what is traced.
  await query(stack.em(), sql`update project set track_accepts_secret_key = true`);
  templateId = await createTemplate(stack);
  await stack.api('POST', '/contacts', { body: { email: 'reader@mail.test' } });
}, 120_000);
afterAll(async () => {
  await stack.stop();
  await collector.close();
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

  const trace = await traceWith(collector, joined.traceId, [...DELIVERY, 'workflow automationExecution']);
  const workflow = expectChain(trace, joined.spanId, START.slice(0, -1)).at(-1)!;
  const turns = trace.get('activity runSteps')!.filter(({ parentSpanId }) => parentSpanId === workflow.spanId);
  expect(turns.map(({ hasFailed }) => hasFailed)).toEqual([false, false, false]);
  expectChain(trace, turns.at(-1)!.spanId, ['outbox automationEmail', ...DELIVERY]);
  const ending = await traceWith(collector, bought.traceId, ['outbox executionEvent']);
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

  const trace = await traceWith(collector, traceId, [...DELIVERY, 'workflow automationExecution']);
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
  expectChain(await traceWith(collector, traceId, PAGES), spanId, ['POST /campaigns/:id/send', ...PAGES]);
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
  const trace = await traceWith(collector, sent.traceId, PAGES);
  expectChain(trace, sent.spanId, ['POST /campaigns/:id/send', ...PAGES]);
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
  expectChain(await traceWith(collector, traceId, PAGES), spanId, ['POST /campaigns/:id/resend', ...PAGES]);
}, 90_000);
