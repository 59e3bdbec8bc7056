import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LocalFile } from '../local/local-project.ts';
import { createCliContext } from '../cli/context.ts';
import { commandLineOf, isRunning } from '../local/processes/running-process.ts';
import { projectRoot } from '../shared/platform/paths.ts';
import { eventually } from './support/eventually.ts';

const START_MS_MAX = 180_000;
const PATIENCE_MS = 120_000;
const NAMESPACE = 'local-test';
/** A text in the arguments of each part that no other part has. */
const PARTS = {
  PostgreSQL: ' -p ',
  Temporal: 'server start-dev',
  mailbox: 'local/mailbox/mailbox-main.ts',
  api: 'api/main.ts',
  worker: 'worker/main.ts',
};

let home: string;
let stack: ChildProcess;
let output = '';
let file: LocalFile;
const seen = new Set<number>();

/** The current process of a part, from the file `running.json` of the stack. */
function pidOf(part: keyof typeof PARTS): number | undefined {
  const { children } = JSON.parse(readFileSync(path.join(home, 'running.json'), 'utf8')) as {
    children: Record<string, string>;
  };
  const pids = Object.entries(children).filter(([, args]) => args.includes(PARTS[part]));
  for (const pid of Object.keys(children)) seen.add(Number(pid));
  return pids.map(([pid]) => Number(pid)).find(isRunning);
}

async function send(to: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(`${file.apiUrl}/v1/send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${file.secretKey}`,
        'content-type': 'application/json',
        'idempotency-key': to,
      },
      body: JSON.stringify({ to, from: `hello@${file.domain}`, subject: 'Hello', body: '<p>Hello</p>' }),
    });
    // The first answer may have been lost with the process.
    return answer.ok || answer.status === 409;
  }, PATIENCE_MS);
}

async function received(): Promise<string> {
  return (await fetch(`${file.mailboxUrl}/api/messages?pageSize=100`)).text();
}

beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'everpost-home-'));
  stack = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path.join(projectRoot, 'local/start.ts')], {
    cwd: projectRoot,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      EVERPOST_HOME: home,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      XDG_CACHE_HOME: process.env['XDG_CACHE_HOME'],
      TEMPORAL_CLI_PATH: process.env['TEMPORAL_CLI_PATH'],
      METRICS_PORT: '19464',
      TEMPORAL_NAMESPACE: NAMESPACE,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [stack.stdout, stack.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  await eventually(async () => {
    if (stack.exitCode !== null) throw new Error(output);
    return output.includes('Everpost is running.');
  }, START_MS_MAX);
  file = JSON.parse(readFileSync(path.join(home, 'local.json'), 'utf8')) as LocalFile;
}, START_MS_MAX + 10_000);
afterAll(async () => {
  if (stack.exitCode === null && stack.signalCode === null) {
    stack.kill('SIGKILL');
    await once(stack, 'exit');
  }
  await eventually(async () => ![...seen].some(isRunning), PATIENCE_MS);
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, PATIENCE_MS);

describe('npm start', () => {
  it('prints a first request that can be pasted, and what the docs need', async () => {
    const pasted = /\n( {2}export [\s\S]*?)\n\nCtrl-C/.exec(output)?.[1] ?? '';
    const shell = `${pasted}\necho "$EVERPOST_URL $SECRET_KEY $PUBLIC_KEY"`;
    const { stdout } = await promisify(execFile)('bash', ['-euc', shell]);
    expect(stdout).toContain('"success":true');
    expect(stdout).toContain(`${file.apiUrl} ${file.secretKey} ${file.publicKey}\n`);
  });

  it('tells operator commands its Temporal namespace', () => {
    const print = (): void => undefined;
    const { temporalOptions } = createCliContext({
      environment: { EVERPOST_HOME: home },
      writeOut: print,
      writeError: print,
    });
    expect(temporalOptions().namespace).toBe(NAMESPACE);
  });

  it('has the metrics of the API and of the worker', async () => {
    const [, api, worker] = /Metrics: of the API at (\S+), of the worker at (\S+)/.exec(output) ?? [];
    expect(await (await fetch(`http://${api}/metrics`)).text()).toContain('everpost_http_');
    await eventually(
      async () => (await (await fetch(`http://${worker}/metrics`)).text()).includes('temporal_'),
      PATIENCE_MS,
    );
  });

  it(
    'restarts each part that is killed, and email that was accepted meanwhile arrives',
    async () => {
      const names = Object.keys(PARTS) as (keyof typeof PARTS)[];
      for (const name of names) {
        const pid = pidOf(name)!;
        await send(`before-${name}@mail.test`);
        process.kill(pid, 'SIGKILL');
        await send(`after-${name}@mail.test`);
        await eventually(async () => ![undefined, pid].includes(pidOf(name)), PATIENCE_MS);
        expect(output).toMatch(
          new RegExp(`${name} was ended by SIGKILL unexpectedly\\. Starting ${name} again; its log is .*\\.log\\n`),
        );
      }
      await eventually(async () => {
        const mails = (await received()).toLowerCase();
        const missing = names.filter((name) =>
          ['before', 'after'].some((when) => !mails.includes(`${when}-${name}@`.toLowerCase())),
        );
        if (missing.length > 0) throw new Error(`no mail for ${missing.join(', ')}`);
        return true;
      }, PATIENCE_MS);
      expect((await fetch(`${file.apiUrl}/ready`)).status).toBe(200);
    },
    5 * PATIENCE_MS,
  );

  it(
    'leaves no process behind when it is stopped in the middle of a restart',
    async () => {
      for (const name of ['PostgreSQL', 'Temporal', 'worker'] as const) process.kill(pidOf(name)!, 'SIGKILL');
      await eventually(async () => pidOf('PostgreSQL') !== undefined, PATIENCE_MS);
      stack.kill('SIGINT');
      await once(stack, 'exit');
      expect(stack.exitCode).toBe(0);
      expect([...seen].filter(isRunning)).toEqual([]);
      const programs = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
      expect(programs.filter((pid) => commandLineOf(Number(pid)).includes(home))).toEqual([]);
    },
    PATIENCE_MS,
  );
});
