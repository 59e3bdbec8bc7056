import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { trustDomain } from '../shared/domain/domains/sender-domains.ts';
import { runCommand } from './support/cli.ts';
import { readExamples } from './support/docs-examples.ts';
import { startListmonk, startPlunk, startResend, startSendGrid } from './support/fake-services.ts';
import { startTestStack, type TestStack } from './support/stack.ts';
import { writeExports } from './support/tool-exports.ts';

const PATIENCE_MS = 240_000;
let stack: TestStack;
let folder: string;
beforeAll(async () => {
  stack = await startTestStack();
  folder = await mkdtemp(path.join(tmpdir(), 'moving-pages-'));
}, PATIENCE_MS);
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true });
});

/** Stands for npm: it hands the key and the arguments of the command to this process, each on a line. */
const NPM = `#!/bin/sh
shift 4
printf '%s\\n' "$EVERPOST_IMPORT_KEY" "$@" | curl -sS --fail-with-body --data-binary @- "$COMMANDS"
`;

/** Runs the commands of a page. The services answer here, the project is one of several, and files are in `place`. */
async function startCommands(urls: Record<string, string[]>, projectId: string, place: string): Promise<Server> {
  const here = (word: string) => (existsSync(path.join(place, word)) ? path.join(place, word) : word);
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [key = '', command = '', tool = '', ...words] = (await text(request)).trimEnd().split('\n');
    const args = [command, tool, ...words.flatMap((word) => urls[word] ?? here(word)), '--project', projectId];
    const environment = { DATABASE_URL: stack.database.url, ...(key && { EVERPOST_IMPORT_KEY: key }) };
    const { exitCode, out, error } = await runCommand(args, environment);
    response.writeHead(exitCode === 0 ? 200 : 500).end(exitCode === 0 ? out.replaceAll(`${place}/`, '') : error);
  }
  const server = createServer((request, response) => void answer(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

describe('the page "moving from"', () => {
  it.each(['plunk', 'listmonk', 'mailchimp', 'resend', 'sendgrid'])(
    '%s is right line by line',
    async (tool) => {
      const owner = await stack.createProject();
      await trustDomain(stack.em(), owner.project.id, 'local.test');
      const examples = (await readExamples(`docs/guides/moving-from-${tool}.md`)).filter(
        ({ language }) => language === 'bash',
      );
      const exported = examples.filter(({ code }) => code.startsWith('export ')).map(({ code }) => code);
      const key = /EVERPOST_IMPORT_KEY=(\S+)/.exec(exported.join())?.[1] ?? '';
      const services = await Promise.all(
        [startPlunk, startListmonk, startResend, startSendGrid].map((begin) => begin(key)),
      );
      const [plunk = '', listmonk = '', resend = '', sendgrid = ''] = services.map(({ url }) => url);
      const api = { resend, sendgrid }[tool];
      const urls = {
        'https://next-api.useplunk.com': [plunk],
        'https://lists.example.com': [listmonk],
        ...(api && { '--api': ['--url', api] }),
      };
      const place = await mkdtemp(path.join(folder, `${tool}-`));
      await writeExports(place);
      await writeFile(path.join(place, 'npm'), NPM, { mode: 0o755 });
      const server = await startCommands(urls, owner.project.id, place);
      const env = {
        COMMANDS: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        PATH: `${place}${path.delimiter}${process.env['PATH'] ?? ''}`,
      };
      const commands = examples.filter(({ code }) => !code.startsWith('export '));
      expect(commands.length).toBeGreaterThan(1);
      for (const { code, answer } of commands) {
        const script = ['set -euo pipefail', ...exported, code].join('\n');
        const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: place, env });
        const lines = stdout.split('\n').map((line) => line.trim());
        for (const line of answer?.text.split('\n') ?? []) expect(lines).toContain(line.trim());
      }
      for (const service of services) await service.stop();
      server.close();
      for (const path of ['/contacts', '/templates'])
        expect((await owner.api('GET', path)).body.total).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});
