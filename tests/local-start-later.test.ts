import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { LocalFile } from '../local/local-project.ts';
import { commandLineOf } from '../local/processes/running-process.ts';
import { resolveTemporalCli } from '../local/temporal/temporal-cli.ts';
import { projectRoot } from '../shared/platform/paths.ts';
import { eventually } from './support/eventually.ts';

const PATIENCE_MS = 120_000;

let folder: string;
let release: string;
const stacks: ChildProcess[] = [];
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'everpost-later-'));
  release = path.join(folder, 'release');
  mkdirSync(path.join(folder, 'programs'));
  // Builds as Go does, in a process of its own, and ends when the test says so.
  const go = path.join(folder, 'programs', 'go');
  const cli = await resolveTemporalCli(() => undefined);
  writeFileSync(
    go,
    `#!/bin/sh\nsh -c 'until [ -e "${release}" ]; do sleep 0.2; done'\nln -s '${cli}' "$GOBIN/temporal"\n`,
  );
  chmodSync(go, 0o755);
});
afterAll(async () => {
  for (const stack of stacks) {
    if (stack.exitCode !== null || stack.signalCode !== null) continue;
    stack.kill('SIGKILL');
    await once(stack, 'exit');
  }
  await eventually(() => Promise.resolve(processesOfTest().length === 0), PATIENCE_MS);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}, PATIENCE_MS);

/** The command lines of the processes that name the folder of the test. */
function processesOfTest(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => commandLineOf(Number(pid))).filter((line) => line.includes(folder));
}

/** Starts a stack that has to build Temporal. The download fails, because its proxy refuses. */
function start(): { stack: ChildProcess; output: () => string; home: string } {
  const home = path.join(folder, `home-${stacks.length}`);
  const stack = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'local/start.ts'], {
    cwd: projectRoot,
    env: {
      PATH: `${path.join(folder, 'programs')}:/usr/bin:/bin`,
      HOME: process.env['HOME'],
      EVERPOST_HOME: home,
      XDG_CACHE_HOME: path.join(folder, 'cache'),
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  stacks.push(stack);
  let output = '';
  for (const stream of [stack.stdout, stack.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  return { stack, output: () => output, home };
}

async function untilSaid(output: () => string, words: string): Promise<void> {
  await eventually(() => Promise.resolve(output().includes(words)), PATIENCE_MS).catch(() => {
    throw new Error(`${words} is missing in: ${output()}`);
  });
}

async function readiness(apiUrl: string): Promise<any> {
  const answer = await fetch(`${apiUrl}/ready`);
  return answer.json();
}

it(
  '`npm start` takes requests while Temporal is built, carries them out afterwards, and stops without a trace',
  async () => {
    const { stack, output, home } = start();
    await untilSaid(output, 'Everpost is running.');
    expect(output()).toContain('Temporal is still being fetched');
    await untilSaid(output, 'building the CLI with Go');
    const file = JSON.parse(readFileSync(path.join(home, 'local.json'), 'utf8')) as LocalFile;
    for (const url of [file.docsUrl, `${file.apiUrl}/console`, file.mailboxUrl ?? '']) {
      expect((await fetch(url)).status).toBe(200);
    }
    expect(await readiness(file.apiUrl)).toMatchObject({
      status: 'not ready',
      checks: { database: 'ok', temporal: 'failed' },
    });
    const sent = await fetch(`${file.apiUrl}/v1/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${file.secretKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to: 'early@mail.test', from: `hello@${file.domain}`, subject: 'Hi', body: '<p>Hi</p>' }),
    });
    expect(sent.status).toBe(200);
    writeFileSync(release, '');
    await untilSaid(output, 'Temporal is there');
    await eventually(async () => {
      const mails = await fetch(`${file.mailboxUrl}/api/messages?pageSize=10`);
      return (await mails.text()).includes('early@mail.test');
    }, PATIENCE_MS);
    await eventually(async () => (await readiness(file.apiUrl)).status === 'ready', PATIENCE_MS);
    stack.kill('SIGINT');
    await once(stack, 'exit');
    expect(stack.exitCode).toBe(0);
    expect(processesOfTest()).toEqual([]);
    rmSync(release);
  },
  3 * PATIENCE_MS,
);

it(
  'Ctrl-C during the build leaves no process',
  async () => {
    rmSync(path.join(folder, 'cache'), { recursive: true });
    const { stack, output } = start();
    await untilSaid(output, 'building the CLI with Go');
    await eventually(() => Promise.resolve(processesOfTest().some((line) => line.includes('until ['))), PATIENCE_MS);
    stack.kill('SIGINT');
    await once(stack, 'exit');
    expect(processesOfTest()).toEqual([]);
    expect(existsSync(path.join(folder, 'cache/everpost/bin/temporal'))).toBe(false);
  },
  2 * PATIENCE_MS,
);
