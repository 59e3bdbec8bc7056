import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { temporal } from '@temporalio/proto';
import { query, sql } from '../shared/database/sql.ts';
import { campaignWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { createCampaign } from './harness/bench-mail.ts';
import { createContacts, readCampaign } from './harness/campaign-audience.ts';
import { round, type Bench, type BenchContext } from './harness/contract.ts';
import { measureFarRelay } from './far-relay.ts';
import { measureTopicCost } from './topic-cost.ts';
import type { Sink, SinkKind } from './harness/sink.ts';
import type { BenchStack } from './harness/stack.ts';

type History = temporal.api.history.v1.IHistory;

const POLL_MS = 50;
const STALLED_MS_MAX = 120_000;
const LIMIT_MESSAGES_MAX = 20_000;

interface LimitResult {
  perSecond: number;
  cpuMsPerMail: number;
  bytesPerMail: number;
}

interface Run {
  totalMs: number;
  /** From the request until the whole audience was stored. Sending begins before that. */
  freezeMs: number;
  /** Emails a second after the first quarter, when the code of the worker is warm. */
  steadyPerSecond: number;
  /** From the crash until the next result was recorded; undefined without a crash. */
  resumedAfterMs: number | undefined;
}

/**
 * Sends ready-made messages of the same size from one process that does nothing else, with nodemailer's client or with
 * our own.
 */
async function measureLimit(
  context: BenchContext,
  sink: Sink,
  messages: number,
  client: 'nodemailer' | 'own' = 'nodemailer',
): Promise<LimitResult> {
  await sink.reset();
  const running = await context.startNode({
    name: 'smtp-limit',
    entry: 'bench/harness/smtp-limit-main.ts',
    args: [String(sink.port), String(messages), client],
  });
  const line = await running.line((text) => text.startsWith('{'), 120_000);
  await running.exited;
  return JSON.parse(line) as LimitResult;
}

/** RSA-2048 signatures a second on all cores: no signed mail can be faster. */
async function measureRsaLimit(context: BenchContext): Promise<number> {
  const running = await context.startNode({ name: 'rsa-limit', entry: 'bench/harness/rsa-limit-main.ts' });
  const line = await running.line((text) => text.startsWith('{'), 30_000);
  await running.exited;
  return (JSON.parse(line) as { perSecond: number }).perSecond;
}

/** Measures the speed after the first quarter of the recipients. */
function steadySpeed(recipients: number) {
  let first: { decided: number; at: number } | undefined;
  return {
    note(decided: number, at: number): void {
      if (decided >= recipients / 4) first ??= { decided, at };
    },
    perSecond: (endedAt: number): number =>
      first ? ((recipients - first.decided) / (endedAt - first.at)) * 1000 : Number.NaN,
  };
}

/**
 * Locks the table of emails for `--lock-seconds`. With `--terminate` the worker is told to stop meanwhile, and another
 * one starts.
 */
async function lockEmails(context: BenchContext, stack: BenchStack): Promise<void> {
  const seconds = context.number('lock-seconds');
  const em = stack.em();
  await em.begin();
  await query(em, sql`lock table email in access exclusive mode`);
  const lockedAt = performance.now();
  context.progress(`PostgreSQL is locked for ${seconds} seconds`);
  if (context.flag('terminate')) {
    await stack.worker()?.stop();
    await stack.startWorker();
  }
  await delay(Math.max(0, seconds * 1_000 - (performance.now() - lockedAt)));
  await em.rollback();
}

/** With `--lock`, creates the function that locks the table once, half-way. @returns whether it did */
function createLocker(context: BenchContext, stack: BenchStack, recipients: number) {
  let isLeft = context.flag('lock');
  return async (decided: number): Promise<boolean> => {
    if (!isLeft || decided < recipients / 2) return false;
    isLeft = false;
    await lockEmails(context, stack);
    return true;
  };
}

/**
 * Sends the campaign and waits until it is SENT. With `--kill` the worker is killed half-way and another one starts;
 * with `--lock` PostgreSQL is locked half-way.
 */
async function sendCampaign(context: BenchContext, stack: BenchStack, id: string, recipients: number): Promise<Run> {
  const run: Run = { totalMs: 0, freezeMs: 0, steadyPerSecond: Number.NaN, resumedAfterMs: undefined };
  let killedAt: number | undefined;
  const lockHalfWay = createLocker(context, stack, recipients);
  let decidedAtKill = 0;
  let decided = 0;
  const steady = steadySpeed(recipients);
  let restarting: Promise<unknown> | undefined;
  const startedAt = performance.now();
  let progressedAt = startedAt;
  await stack.call('POST', `/campaigns/${id}/send`, {});
  for (;;) {
    const row = await readCampaign(stack, id);
    const now = performance.now();
    if (row?.isFrozen && run.freezeMs === 0) run.freezeMs = now - startedAt;
    if (row?.status === 'SENT') {
      await restarting;
      return { ...run, totalMs: now - startedAt, steadyPerSecond: steady.perSecond(now) };
    }
    if (row && row.decided !== decided) {
      decided = row.decided;
      progressedAt = now;
      steady.note(decided, now);
    }
    if (killedAt !== undefined && run.resumedAfterMs === undefined && decided > decidedAtKill) {
      run.resumedAfterMs = now - killedAt;
    }
    if (now - progressedAt > STALLED_MS_MAX) throw new Error(`The campaign stands still: ${JSON.stringify(row)}`);
    if (context.flag('kill') && killedAt === undefined && decided >= recipients / 2) {
      context.progress(`Killing the worker after ${decided} emails`);
      await stack.worker()?.kill();
      killedAt = performance.now();
      decidedAtKill = (await readCampaign(stack, id))?.decided ?? 0;
      restarting = stack.startWorker();
    }
    if (await lockHalfWay(decided)) progressedAt = performance.now();
    await delay(POLL_MS);
  }
}

interface CampaignHistory {
  events: number;
  /** How many pages each worker took, the most first. */
  pagesPerWorker: number[];
}

async function readHistory(stack: BenchStack, campaignId: string): Promise<CampaignHistory> {
  const workflowId = campaignWorkflowId(campaignId);
  let events = 0;
  const pages = new Map<string, number>();
  let runId: string | undefined = undefined;
  // From the last run back to the first: each run knows the one it continues.
  do {
    const history: History = await stack.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    events += history.events?.length ?? 0;
    const pageEvents = new Set<string>();
    for (const event of history.events ?? []) {
      const { activityTaskScheduledEventAttributes: scheduled, activityTaskStartedEventAttributes: started } = event;
      if (scheduled?.activityType?.name === 'sendRecipientPage') pageEvents.add(String(event.eventId));
      if (!started || !pageEvents.has(String(started.scheduledEventId))) continue;
      const worker = started.identity ?? '';
      pages.set(worker, (pages.get(worker) ?? 0) + 1);
    }
    runId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId || undefined;
  } while (runId !== undefined);
  return { events, pagesPerWorker: [...pages.values()].sort((left, right) => right - left) };
}

function cpuReader(context: BenchContext, stack: BenchStack, sink: Sink, workers: number[]) {
  const { postgres, temporal, api = 0 } = stack.pids;
  const pids = { worker: workers, postgres: [postgres], temporal: [temporal], api: [api], sink: [sink.pid] };
  const sumOf = (all: number[]) => all.reduce((sum, pid) => sum + context.meter.cpuMs(pid), 0);
  return () => Object.fromEntries(Object.entries(pids).map(([name, all]) => [name, sumOf(all)]));
}

/** Starts the workers beyond the first. @returns the process ids of all */
async function startWorkers(stack: BenchStack, count: number): Promise<number[]> {
  const pids = [stack.worker()?.pid ?? 0];
  while (pids.length < count) pids.push((await stack.startWorker()).pid);
  return pids;
}

export const bench: Bench = {
  description:
    'Personal emails of one campaign a second, against bare SMTP connections; with --dkim, against RSA; with --domains, spread; with --latency, to a relay far away by 1, 2 and 4 workers; with --topic, what a topic costs.',
  options: {
    recipients: { type: 'string', default: '20000' },
    domains: { type: 'string', default: '1' },
    sink: { type: 'string', default: 'own' },
    workers: { type: 'string', default: '1' },
    latency: { type: 'string', default: '0' },
    topic: { type: 'boolean' },
    turns: { type: 'string', default: '5' },
    dkim: { type: 'boolean' },
    kill: { type: 'boolean' },
    lock: { type: 'boolean' },
    'lock-seconds': { type: 'string', default: '600' },
    terminate: { type: 'boolean' },
  },
  async run(context) {
    if (context.number('latency') > 0) return measureFarRelay(context);
    if (context.flag('topic')) return measureTopicCost(context);
    const recipients = context.number('recipients');
    const sink = await context.startSink(context.text('sink') as SinkKind);
    const stack = await context.startStack({ smtpUrl: sink.url });

    const isSigned = context.flag('dkim');
    // Listing the domains makes the DKIM key of a trusted domain, because the list shows its records.
    await stack.call('GET', `/domains/project/${stack.project.id}`);
    // Email is signed once DNS has the key. This domain has no DNS, so the row is changed.
    await query(
      stack.em(),
      sql`update sender_domain set dns_verified = ${isSigned} where project_id = ${stack.project.id}`,
    );

    context.progress(`Writing ${recipients} contacts`);
    await createContacts(stack, recipients, context.number('domains'));
    const campaignId = await createCampaign(stack);

    const limitMessages = Math.min(recipients, LIMIT_MESSAGES_MAX);
    context.progress('Measuring the limit');
    const rsaBefore = isSigned ? await measureRsaLimit(context) : undefined;
    const limitBefore = await measureLimit(context, sink, limitMessages);

    await sink.reset();
    const workerPids = await startWorkers(stack, context.number('workers'));
    const readCpu = cpuReader(context, stack, sink, workerPids);
    const cpuBefore = readCpu();
    for (const pid of workerPids) context.meter.resetPeak(pid);
    context.progress(`Sending (limit ${round(limitBefore.perSecond)} a second)`);
    const run = await sendCampaign(context, stack, campaignId, recipients);
    const peakWorkerMemoryMb = context.meter.peakMemoryMb(stack.worker()?.pid ?? 0);
    const cpuAfter = readCpu();
    const summary = await sink.summary();
    context.progress('Measuring the limit again');
    const limitAfter = await measureLimit(context, sink, limitMessages);
    const ownClient = await measureLimit(context, sink, limitMessages, 'own');
    const rsaAfter = isSigned ? await measureRsaLimit(context) : undefined;

    const smtpLimit = (limitBefore.perSecond + limitAfter.perSecond) / 2;
    const limit = rsaBefore !== undefined && rsaAfter !== undefined ? (rsaBefore + rsaAfter) / 2 : smtpLimit;
    const figure = (recipients / run.totalMs) * 1000;
    const wasKilled = context.flag('kill') || context.flag('terminate');
    const history = await readHistory(stack, campaignId);
    return {
      name: 'campaign',
      figure: round(figure),
      unit: 'emails/s',
      limit: round(limit),
      ratio: round(figure / limit, 3),
      steadyPerSecond: round(run.steadyPerSecond),
      steadyRatio: round(run.steadyPerSecond / limit, 3),
      recipients,
      domains: context.number('domains'),
      workers: workerPids.length,
      cores: availableParallelism(),
      pagesPerWorker: history.pagesPerWorker,
      isSigned,
      sink: context.text('sink'),
      seconds: round(run.totalMs / 1000, 2),
      freezeSeconds: round(run.freezeMs / 1000, 2),
      lost: summary ? recipients - summary.recipients : null,
      duplicates: summary ? summary.duplicates : null,
      peakWorkerMemoryMb: round(peakWorkerMemoryMb),
      bytesPerMail: summary ? round(summary.bytes / summary.messages) : null,
      // A killed worker takes its CPU time with it.
      cpuMsPerMail: wasKilled
        ? null
        : Object.fromEntries(
            Object.entries(cpuAfter).map(([name, ms]) => [name, round((ms - (cpuBefore[name] ?? 0)) / recipients, 3)]),
          ),
      historyEventsPerMail: round(history.events / recipients, 4),
      ...(rsaBefore !== undefined &&
        rsaAfter !== undefined && { rsaBefore: round(rsaBefore), rsaAfter: round(rsaAfter) }),
      smtpLimit: round(smtpLimit),
      smtpLimitBefore: round(limitBefore.perSecond),
      smtpLimitAfter: round(limitAfter.perSecond),
      smtpLimitCpuMsPerMail: round(limitBefore.cpuMsPerMail, 3),
      ownClientPerSecond: round(ownClient.perSecond),
      ownClientCpuMsPerMail: round(ownClient.cpuMsPerMail, 3),
      ...(context.flag('kill') && { resumedAfterSeconds: round((run.resumedAfterMs ?? Number.NaN) / 1000, 1) }),
    };
  },
};
