import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommand } from './support/cli.ts';
import { testEnvironment } from './support/environment.ts';
import { startEverpostProcess } from './support/everpost-process.ts';
import { runNode, type Ended } from './support/run-node.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';

const NOBODY = '127.0.0.1:9';
const PATIENCE_MS = 60_000;

let stack: TestStack;
let taken: Server;
let port: string;
let folder: string;
beforeAll(async () => {
  stack = await startTestStack({ hasWorkers: false });
  taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  port = String((taken.address() as AddressInfo).port);
  folder = await mkdtemp(path.join(tmpdir(), 'everpost-start-'));
});
afterAll(async () => {
  taken.close();
  await stack.stop();
  await rm(folder, { recursive: true });
});

/** Expects one sentence and exit code 1, without a stack or a second line. */
function expectSentence({ exitCode, output }: Ended, sentence: RegExp): void {
  expect(output).toMatch(sentence);
  expect(output).not.toMatch(/^\s+at /m);
  expect(output.split('\n')).toHaveLength(1);
  expect(exitCode).toBe(1);
}

async function startedWith(name: 'api' | 'worker', environment: NodeJS.ProcessEnv): Promise<Ended> {
  const started = startEverpostProcess(name, stack.config, stack.temporal, {
    ...{ HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'warn', WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath },
    ...environment,
  });
  return { exitCode: (await started.exited) ?? -1, output: started.output().trim() };
}

describe('a command on a Node that is too old', () => {
  it('says which version it needs', async () => {
    const pretend = path.join(folder, 'old.cjs');
    await writeFile(pretend, "Object.defineProperty(process, 'version', { value: 'v18.19.0' });");
    const ended = await runNode(['--require', pretend, 'scripts/bootstrap.mjs', 'cli/main.ts', '--version']);
    expectSentence(ended, /^Everpost needs Node 20 or newer to start .* and this is v18\.19\.0\.$/);
  });
});

describe('a process that cannot listen', () => {
  it.each([
    ['api', 'PORT'],
    ['worker', 'HEALTH_PORT'],
  ] as const)('says that its port is in use: %s, %s', async (name, variable) => {
    const sentence = new RegExp(
      `^${variable}: port ${port} of 127.0.0.1 cannot be used: another process listens there.$`,
    );
    expectSentence(await startedWith(name, { [variable]: port }), sentence);
  });

  it('says that this machine does not have its address', async () => {
    expectSentence(
      await startedWith('api', { HOST: '203.0.113.7', PORT: '3999' }),
      /^PORT: port 3999 of 203\.0\.113\.7 cannot be used: this machine does not have the address\.$/,
    );
  });
});

describe('a worker whose SMTP_URL is wrong', () => {
  it.each([
    ['smtp://mail.example.com?requireTls=true', /^requireTls in an SMTP URL is unknown; it takes name, /],
    ['mx://?helo=a.test,mx://?helo=a.test', /^SMTP_URL names the source a\.test twice$/],
    [
      'mx://?helo=a.test&warmup=slow',
      /^SMTP_URL names the warm-up plan slow, which SHAPING_FILE does not have for a\.test$/,
    ],
  ])('says what is wrong: %s', async (url, sentence) => {
    expectSentence(await startedWith('worker', { SMTP_URL: url }), sentence);
  });
});

describe('a worker whose namespace is missing', () => {
  it('names the command that creates it, and waits', async () => {
    const temporal = { ...stack.temporal, namespace: 'not-set-up' };
    const worker = startEverpostProcess('worker', stack.config, temporal, {
      ...{ LOG_LEVEL: 'warn', WORKFLOW_BUNDLE: testEnvironment().workflowBundlePath },
    });
    await eventually(async () => worker.output().includes('everpost temporal setup'), PATIENCE_MS);
    expect(worker.output()).toMatch(/namespace not-set-up\) cannot be used: .*not found.*Trying again/);
    expect(await worker.terminate()).toBe(0);
  });
});

describe('an operator command', () => {
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(stack.database.url);
    change(url);
    return url.href;
  };
  const unknown = '00000000-0000-7000-8000-000000000000';

  it.each<[string, string[], () => NodeJS.ProcessEnv, RegExp]>([
    [
      'PostgreSQL is out of reach',
      ['project', 'list'],
      () => ({ DATABASE_URL: `postgres://nobody@${NOBODY}/none` }),
      /^PostgreSQL cannot be reached\./,
    ],
    [
      'the password is wrong',
      ['project', 'list'],
      () => ({ DATABASE_URL: changed((url) => (url.password = 'wrong')) }),
      /the user postgres is not let in\. Check user and password/,
    ],
    [
      'Temporal is out of reach',
      ['temporal', 'setup'],
      () => ({ DATABASE_URL: stack.database.url, TEMPORAL_ADDRESS: NOBODY }),
      /^Temporal cannot be reached at 127\.0\.0\.1:9$/,
    ],
    [
      'the namespace is missing',
      ['execution', 'history', unknown, '--out', '/dev/null'],
      () => ({
        ...{ DATABASE_URL: stack.database.url, TEMPORAL_NAMESPACE: 'not-set-up' },
        TEMPORAL_ADDRESS: testEnvironment().temporalAddress,
      }),
      /not-set-up is not found\. Run `everpost temporal setup` first\.$/,
    ],
  ])('ends with a sentence when %s', async (_what, args, environment, sentence) => {
    const { exitCode, out, error } = await runCommand(args, environment());
    expectSentence({ exitCode, output: `${out}${error}`.trim() }, sentence);
  });

  it('ends with a sentence as a process, too', async () => {
    const args = ['--disable-warning=ExperimentalWarning', 'cli/main.ts', 'project', 'list'];
    const ended = await runNode(args, { DATABASE_URL: changed((url) => (url.password = 'wrong')) });
    expectSentence(ended, /the user postgres is not let in\. Check user and password/);
  });
});
