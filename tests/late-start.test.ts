import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePort } from '../local/processes/free-port.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import { callsTo } from './support/api.ts';
import { testEnvironment } from './support/environment.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';

const NAMES = ['api', 'worker'] as const;
const PATIENCE_MS = 60_000;

let stack: TestStack;
let database: TcpProxy;
let temporal: TcpProxy;
let port: number;
const running: EverpostProcess[] = [];
beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false });
  database = await startTcpProxy(stack.database.url);
  temporal = await startTcpProxy(`tcp://${testEnvironment().temporalAddress}`);
  port = await findFreePort(0);
});
afterAll(async () => {
  await Promise.all(running.map((process) => process.kill()));
  await database.close();
  await temporal.close();
  await stack.stop();
});

function start(name: (typeof NAMES)[number], databaseUrl = database.url): EverpostProcess {
  const process = startEverpostProcess(
    name,
    { ...stack.config, DATABASE_URL: databaseUrl },
    { namespace: stack.temporal.namespace, connectionOptions: { address: new URL(temporal.url).host } },
    {
      HOST: '127.0.0.1',
      PORT: String(port),
      HEALTH_PORT: String(port),
      LOG_LEVEL: 'warn',
      WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath,
    },
  );
  running.push(process);
  return process;
}

async function look(path: string): Promise<{ status: number; body: any }> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: answer.status, body: await answer.json() };
}

function passwordOf(url: string): string {
  return new URL(url).password;
}

describe('an API that starts while PostgreSQL is out of reach', () => {
  it.each(['cut', 'freeze'] as const)(
    'is alive but not ready, and serves requests when PostgreSQL is back: %s',
    async (fault) => {
      await database[fault]();
      const api = start('api');
      const health = await eventually(() => look('/health'), PATIENCE_MS);
      expect(health).toEqual({ status: 200, body: { status: 'ok' } });
      expect(await look('/ready')).toMatchObject({ status: 503, body: { reason: 'waiting for PostgreSQL' } });
      const calls = callsTo(`http://127.0.0.1:${port}`, stack.keys);
      const send = () =>
        calls('POST', '/v1/send', {
          body: { to: 'ada@mail.test', from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' },
        });
      const refused = await send();
      expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([
        503,
        'SERVICE_UNAVAILABLE',
        expect.stringMatching(/^\d+$/),
      ]);
      const { host } = new URL(database.url);
      await eventually(async () => api.output().includes(`PostgreSQL at ${host}/`), PATIENCE_MS);

      if (fault === 'cut') await database.restore();
      else database.thaw();
      await eventually(async () => (await look('/ready')).status === 200, PATIENCE_MS);
      expect((await send()).status).toBe(200);
      expect(api.output()).not.toContain(passwordOf(database.url));
      expect(await api.terminate()).toBe(0);
    },
  );
});

describe('a worker that starts while PostgreSQL and Temporal are out of reach', () => {
  it('says what it waits for, and sends the waiting email when both are back', async () => {
    await database.cut();
    await temporal.cut();
    const sent = await stack.api('POST', '/v1/send', {
      body: { to: 'early@mail.test', from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' },
    });
    expect(sent.status).toBe(200);
    const worker = start('worker');
    await eventually(async () => (await look('/health')).body.reason === 'waiting for PostgreSQL', PATIENCE_MS);
    await database.restore();
    await eventually(async () => (await look('/health')).body.reason === 'waiting for Temporal', PATIENCE_MS);
    await eventually(async () => worker.output().includes(`Temporal at ${new URL(temporal.url).host}`), PATIENCE_MS);
    await temporal.restore();
    await eventually(async () => (await look('/health')).status === 200, PATIENCE_MS);
    await eventually(async () => {
      const rows = await query(stack.em(), sql`select status from email`);
      return rows.length > 0 && rows.every(({ status }) => status === 'SENT');
    }, PATIENCE_MS);
    expect(await worker.terminate()).toBe(0);
  });
});

describe.each(NAMES)('the %s', (name) => {
  it('ends at once when it is told to while it waits', async () => {
    await database.cut();
    const process = start(name);
    await eventually(async () => process.output().includes('PostgreSQL at'), PATIENCE_MS);
    const toldAt = performance.now();
    expect(await process.terminate()).toBe(0);
    expect(performance.now() - toldAt).toBeLessThan(10_000);
    await database.restore();
  });

  it('ends with one sentence when the password is wrong', async () => {
    const url = new URL(stack.database.url);
    url.password = 'wrong';
    const process = start(name, url.href);
    expect(await process.exited).toBe(1);
    const output = process.output().trim();
    expect(output).toMatch(/the user postgres is not let in/);
    expect(output).not.toMatch(/^\s+at /m);
    expect(output).not.toContain(passwordOf(stack.database.url));
    expect(output.split('\n')).toHaveLength(1);
  });
});
