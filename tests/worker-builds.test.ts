import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import proto from '@temporalio/proto';
import { bundleWorkflowCode } from '@temporalio/worker';
import { sql } from '../shared/database/sql.ts';
import { query, queryOne } from './support/rows.ts';
import { campaignWorkflowId, emailDeliveryWorkflowId, executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { createAutomation, createTemplate, track } from './support/automations.ts';
import { runCommand } from './support/cli.ts';
import { testEnvironment } from './support/environment.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { runNode } from './support/run-node.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

/** Open executions at the time of the roll-out; with 10000 the test takes seven minutes on two quiet cores. */
const EXECUTIONS = Number(process.env['OPEN_EXECUTIONS'] ?? 60);
const OTHER_RECIPIENTS = 800;
const HISTORIES_READ = 200;
const PATIENCE_MS = 60_000 + EXECUTIONS * 200;
const LATE = 'late@slow.test';

const { EVENT_TYPE_WORKFLOW_TASK_FAILED, EVENT_TYPE_TIMER_STARTED } = proto.temporal.api.enums.v1.EventType;

let folder: string;
let stack: TestStack;
let automationId: string;
let campaignId: string;
let lateEmailId: string;
const workers: EverpostProcess[] = [];

/** Bundles the later version of the workflows. */
async function bundleNext(): Promise<string> {
  const workflowsPath = fileURLToPath(new URL('./support/builds/next-workflows.ts', import.meta.url));
  const ignore = (): void => undefined;
  const logger = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore, log: ignore };
  return (await bundleWorkflowCode({ workflowsPath, logger })).code;
}

/** @returns the path of a file with this bundle */
function keep(name: string, code: string): string {
  const file = path.join(folder, `${name}.js`);
  writeFileSync(file, code);
  return file;
}

function startBuild(buildId: string, workflowBundle: string): EverpostProcess {
  const worker = startEverpostProcess('worker', stack.config, stack.temporal, {
    WORKER_DEPLOYMENT: 'everpost',
    WORKER_BUILD_ID: buildId,
    WORKFLOW_BUNDLE: workflowBundle,
    DELIVERY_RETRY_SECONDS: Array(600).fill(1).join(','),
  });
  workers.push(worker);
  return worker;
}

/** The variables of an operator. */
const operator = () => ({
  DATABASE_URL: stack.config.DATABASE_URL,
  APP_SECRET: stack.config.APP_SECRET,
  TEMPORAL_ADDRESS: stack.temporal.connectionOptions.address,
  TEMPORAL_NAMESPACE: stack.temporal.namespace,
  WORKER_DEPLOYMENT: 'everpost',
});

/** @returns what the command answered. @throws with its exit code and what it said when it fails */
async function deploy(...args: string[]): Promise<any> {
  const { exitCode, out, error } = await runCommand(['deploy', ...args, '--json'], operator());
  if (exitCode !== 0) throw new Error(`${exitCode}: ${error}`);
  return JSON.parse(out);
}

const replayOpen = (workflowBundle: string) =>
  runNode(['--disable-warning=ExperimentalWarning', 'worker/replay-open-workflows.ts', String(HISTORIES_READ)], {
    ...operator(),
    WORKFLOW_BUNDLE: workflowBundle,
    WORKER_BUILD_ID: '2.0',
  });

async function untilExecutionsAre(status: string): Promise<void> {
  await eventually(async () => {
    const row = await queryOne(
      stack.em(),
      sql`select count(*) from automation_execution where automation_id = ${automationId} and status = ${status}`,
    );
    return row?.count === EXECUTIONS;
  }, PATIENCE_MS);
}

async function trackForAll(event: string): Promise<void> {
  for (let n = 0; n < EXECUTIONS; n += 20) {
    const batch = Array.from({ length: Math.min(20, EXECUTIONS - n) }, (_, index) => `reader${n + index}@mail.test`);
    await Promise.all(batch.map((email) => track(stack, email, event)));
  }
}

async function buildOf(workflowId: string): Promise<string | null | undefined> {
  const { raw } = await stack.temporal.client.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

async function eventTypesOf(workflowId: string): Promise<unknown[]> {
  const history = await stack.temporal.client.workflow.getHandle(workflowId).fetchHistory();
  return (history.events ?? []).map(({ eventType }) => eventType);
}

async function sendOne(to: string): Promise<string> {
  const body = { to, subject: 'Your order', body: '<p>It is on its way.</p>', from: 'orders@example.com' };
  const reply = await stack.api('POST', '/v1/send', { body });
  expect(reply.status).toBe(200);
  return reply.body.data.emails[0].email;
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'everpost-builds-'));
  stack = await startTestStack({
    hasWorkers: false,
    config: { SMTP_CONNECTIONS: 5, API_RATE_LIMIT_PER_MINUTE: 1_000_000 },
    // So slow that the campaign is being sent while a build is made current.
    sink: { delayMs: 50, keepMessages: false },
  });
}, 60_000);
afterAll(async () => {
  for (const worker of workers) await worker.kill();
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a new version of the workflows, rolled out under open executions and a campaign', () => {
  let old: EverpostProcess;
  let nextCode: string;
  let next: string;

  it(
    'begins with workers of one build, which get work once their build is current',
    async () => {
      old = startBuild('1.0', testEnvironment().workflowBundlePath);
      nextCode = await bundleNext();
      next = keep('next', nextCode);
      expect(await deploy('current', '1.0', '--wait', '60')).toEqual({ deployment: 'everpost', buildId: '1.0' });
      const templateId = await createTemplate(stack);
      automationId = await createAutomation(stack, 'joined', {
        wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'ordered' }, next: 'mail' },
        mail: { type: 'SEND_EMAIL', templateId },
      });
      await trackForAll('joined');
      await untilExecutionsAre('WAITING');
    },
    PATIENCE_MS,
  );

  it('is refused before it gets work when it would decide differently for an open execution', async () => {
    const withoutPatch = nextCode.replaceAll(/\(0, ?[\w$]+\.patched\)\(CHANGE\)/g, 'true');
    const faulty = keep('faulty', withoutPatch);
    const refused = await replayOpen(faulty);
    expect(refused.exitCode).toBe(1);
    expect(refused.output).toMatch(/of them failed\nexecution\/[\w-]+ does not replay: /);
    expect(await replayOpen(next)).toEqual({
      exitCode: 0,
      output: expect.stringMatching(/^\d+ open workflows were replayed with this build, 0 of them failed$/),
    });
  }, 120_000);

  it(
    'takes over the campaign and the executions, and leaves deliveries to the old workers',
    async () => {
      await query(
        stack.em(),
        sql`
        insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
        select everpost_uuid_v7(), ${stack.project.id}, 'other' || n || '@mail.test', true, '{}', now(), now()
        from generate_series(1, ${OTHER_RECIPIENTS}::int) n`,
      );
      stack.sink.replyTo(LATE, { code: 451, text: '4.2.1 Mailbox busy', stage: 'rcpt' });
      lateEmailId = await sendOne(LATE);
      await eventually(async () => (await buildOf(emailDeliveryWorkflowId(lateEmailId))) === '1.0');
      startBuild('2.0', next);
      await eventually(async () => (await deploy('list')).builds.length === 2, 60_000);

      const content = { name: 'News', subject: 'News', body: '<p>News</p>', from: 'news@example.com' };
      const created = await stack.api('POST', '/campaigns', { body: { ...content, audienceType: 'ALL' } });
      campaignId = created.body.data.id;
      await stack.api('POST', `/campaigns/${campaignId}/send`, { body: {} });
      await eventually(() => Promise.resolve(stack.sink.messageCount() > 100));
      await deploy('current', '2.0', '--wait', '60');
      await trackForAll('ordered');
      await untilExecutionsAre('COMPLETED');
      await eventually(async () => {
        const { body } = await stack.api('GET', `/campaigns/${campaignId}`);
        return body.status === 'SENT';
      }, PATIENCE_MS);
      expect(await buildOf(campaignWorkflowId(campaignId))).toBe('2.0');
      expect(await buildOf(emailDeliveryWorkflowId(lateEmailId))).toBe('1.0');
    },
    PATIENCE_MS,
  );

  it(
    'repeats and loses nothing, and no workflow task fails',
    async () => {
      await eventually(
        () => Promise.resolve(stack.sink.messageCount() >= OTHER_RECIPIENTS + 2 * EXECUTIONS),
        PATIENCE_MS,
      );
      const counts = stack.sink.recipientCounts();
      const readers = Array.from({ length: EXECUTIONS }, (_, n) => counts.get(`reader${n}@mail.test`));
      expect(new Set(readers)).toEqual(new Set([2]));
      expect(stack.sink.messageCount()).toBe(OTHER_RECIPIENTS + 2 * EXECUTIONS);
      const executions = await query(
        stack.em(),
        sql`select id from automation_execution where automation_id = ${automationId} limit ${HISTORIES_READ}`,
      );
      const ids = [...executions.map(({ id }) => executionWorkflowId(id)), campaignWorkflowId(campaignId)];
      for (const id of ids) expect(await eventTypesOf(id)).not.toContain(EVENT_TYPE_WORKFLOW_TASK_FAILED);
    },
    PATIENCE_MS,
  );

  it('gets all later work, and the old workers can stop when nothing is pinned to them', async () => {
    const emailId = await sendOne('new@mail.test');
    await eventually(() => Promise.resolve(stack.sink.recipientCounts().has('new@mail.test')));
    expect(await eventTypesOf(emailDeliveryWorkflowId(emailId))).toContain(EVENT_TYPE_TIMER_STARTED);

    await expect(deploy('drained', '1.0')).rejects.toThrow(/^1: 1\.0: 1 open workflow is pinned to it\n$/);
    // Had they stopped too early, the workflow would wait for workers of its build.
    expect(await old.terminate()).toBe(0);
    expect((await deploy('list')).builds).toContainEqual({ buildId: '1.0', isCurrent: false, pinnedWorkflows: 1 });
    stack.sink.clearFor(LATE);
    startBuild('1.0', testEnvironment().workflowBundlePath);
    await eventually(() => Promise.resolve(stack.sink.recipientCounts().get(LATE) === 1), 60_000);
    await eventually(async () => (await deploy('drained', '1.0')).drained, 60_000);
  }, 180_000);
});
