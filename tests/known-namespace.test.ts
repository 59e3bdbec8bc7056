import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findKnownNamespace } from '../shared/domain/lifecycle/known-namespace.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { findNamespaceId } from '../shared/durable/temporal/client.ts';
import { campaignWorkflowId, executionWorkflowId } from '../shared/pure/workflow-contracts.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { createAutomation, track } from './support/automations.ts';
import { campaignContent } from './support/campaigns.ts';
import { runCommand } from './support/cli.ts';
import { testEnvironment } from './support/environment.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { eventually } from './support/eventually.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { untilHandedOver } from './support/reconcile.ts';
import { startTcpProxy } from './support/tcp-proxy.ts';
import { createTestNamespace, type TestNamespace } from './support/temporal.ts';

const PATIENCE_MS = 60_000;

let sink: SmtpSink;
let app: TestApi;
let blue: TestNamespace;
let green: TestNamespace;
const running: EverpostProcess[] = [];
beforeAll(async () => {
  sink = await createSmtpSink();
  [app, blue, green] = await Promise.all([
    startTestApi({ config: { SMTP_URL: [sink.url] } }),
    createTestNamespace(),
    createTestNamespace(),
  ]);
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.kill()));
  await Promise.all([blue.close(), green.close(), sink.close()]);
  await app.stop();
});

type Place = Pick<TestNamespace, 'connectionOptions' | 'namespace'>;

function start(name: 'api' | 'worker', place: Place): EverpostProcess {
  const process = startEverpostProcess(name, app.config, place, {
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'warn',
    WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath,
  });
  running.push(process);
  return process;
}

const run = (place: Place, ...args: string[]) =>
  runCommand([...args, '--json'], {
    DATABASE_URL: app.database.url,
    TEMPORAL_ADDRESS: place.connectionOptions.address,
    TEMPORAL_NAMESPACE: place.namespace,
  });

const statusIn = async ({ client }: TestNamespace, workflowId: string) =>
  client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      ({ status }) => status.name,
      () => undefined,
    );

const SENTENCE = /^This database works with the Temporal namespace "test-.*run `everpost temporal adopt`/;

function expectRefusal(output: string): void {
  expect(output).toMatch(SENTENCE);
  expect(output).not.toMatch(/^\s+at /m);
  expect(output.split('\n')).toHaveLength(1);
}

describe('a database and two Temporal namespaces', () => {
  it(
    'lets one of two that start together work, and refuses the other, in all processes and in `temporal setup`',
    async () => {
      const first = [start('worker', blue), start('worker', green)] as const;
      const refused = await Promise.race(
        first.map(async (process) => ((await process.exited) === 1 ? process : first[0])),
      );
      expectRefusal(refused.output().trim());
      const known = await findKnownNamespace(app.em());
      const [own, other] = known?.name === blue.namespace ? [blue, green] : [green, blue];
      expect(known?.id).toBe(await findNamespaceId(own.client));
      const api = start('api', other);
      expect(await api.exited).toBe(1);
      expectRefusal(api.output().trim());
      for (const place of [other, { ...other, namespace: 'not-there' }]) {
        const { exitCode, error } = await run(place, 'temporal', 'setup');
        expect(exitCode).toBe(1);
        expectRefusal(error.trim());
        expect((await run(place, 'reconcile', '--now')).exitCode).toBe(1);
      }
      const describing = own.client.workflowService.describeNamespace({ namespace: 'not-there' });
      await expect(describing).rejects.toThrow(/not found/);
      expect((await run(own, 'temporal', 'setup')).exitCode).toBe(0);
      await Promise.all(first.map((process) => process.terminate()));
    },
    2 * PATIENCE_MS,
  );

  it(
    'ends an API that finds the other one when Temporal is there at last, and hands nothing over',
    async () => {
      const known = await findKnownNamespace(app.em());
      const other = known?.name === blue.namespace ? green : blue;
      const proxy = await startTcpProxy(`tcp://${testEnvironment().temporalAddress}`);
      await proxy.cut();
      const api = start('api', { ...other, connectionOptions: { address: new URL(proxy.url).host } });
      await eventually(async () => api.isRunning() && (await connectionsOf('everpost-api')) > 0, PATIENCE_MS);
      const body = { to: 'waits@mail.test', from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' };
      expect((await app.api('POST', '/v1/send', { body })).status).toBe(200);
      await proxy.restore();
      expect(await api.exited).toBe(1);
      expect(api.output()).toContain('run `everpost temporal adopt`');
      expect(await query(app.em(), sql`select from outbox`)).toHaveLength(1);
      await proxy.close();
    },
    2 * PATIENCE_MS,
  );
});

const connectionsOf = async (name: string) =>
  (await query(app.em(), sql`select from pg_stat_activity where application_name like ${name + '%'}`)).length;

it(
  '`temporal adopt` ends the processes of the namespace before, and starts all waiting work in the new one',
  async () => {
    const known = await findKnownNamespace(app.em());
    const [own, other] = known?.name === blue.namespace ? [blue, green] : [green, blue];
    const old = start('worker', own);
    await createAutomation(app, 'signed_up', { Rest: { type: 'DELAY', config: { amount: 1, unit: 'hours' } } });
    await track(app, 'ada@mail.test', 'signed_up');
    const { body } = await app.api('POST', '/campaigns', { body: campaignContent() });
    const scheduledFor = new Date(Date.now() + 3_600_000).toISOString();
    await app.api('POST', `/campaigns/${body.data.id}/send`, { body: { scheduledFor } });
    const execution = await eventually(async () => {
      const rows = await query(app.em(), sql`select id from automation_execution where status = 'WAITING'`);
      return rows[0];
    }, PATIENCE_MS);
    const ids = [campaignWorkflowId(body.data.id), executionWorkflowId(execution.id)];
    for (const id of ids) await eventually(async () => (await statusIn(own, id)) === 'RUNNING', PATIENCE_MS);
    await untilHandedOver(app.em, PATIENCE_MS);

    const { out } = await run(other, 'temporal', 'adopt');
    expect(JSON.parse(out).restarted).toMatchObject({ campaign: 1, execution: 1 });
    expect(await old.exited).toBe(1);
    expect(old.output()).toContain('run `everpost temporal adopt`');

    start('worker', other);
    for (const id of ids) await eventually(async () => (await statusIn(other, id)) === 'RUNNING', PATIENCE_MS);
    await eventually(async () => sink.recipientCounts().get('waits@mail.test') === 1, PATIENCE_MS);

    await untilHandedOver(app.em, PATIENCE_MS);
    for (const id of ids) await other.client.workflow.getHandle(id).terminate('lost');
    const report = JSON.parse((await run(other, 'reconcile', '--now')).out);
    // A worker looks for campaigns by itself, every half minute, and may have found this one first.
    expect(report.restarted).toContain(executionWorkflowId(execution.id));
    expect(ids).toEqual(expect.arrayContaining(report.restarted));
    for (const id of ids) await eventually(async () => (await statusIn(other, id)) === 'RUNNING', PATIENCE_MS);
    expect(JSON.parse((await run(other, 'reconcile', '--now')).out).restartedCount).toBe(0);
  },
  4 * PATIENCE_MS,
);
