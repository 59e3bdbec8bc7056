import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { trustDomain } from '../shared/domain/domains/sender-domains.ts';
import { projectRoot } from '../shared/platform/paths.ts';
import { readExamples } from './support/docs-examples.ts';
import { startListmonk, startPlunk, startResend, startSendGrid, writeExports } from './support/fake-services.ts';
import { startTestStack, type TestStack } from './support/stack.ts';

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

/** Stands for npm: the services answer here, and the project is one of several. */
const NPM = (urls: Record<string, string[]>, projectId: string) => `#!${process.execPath}
    const urls = ${JSON.stringify(urls)};
    const args = process.argv.slice(6).flatMap((word) => urls[word] ?? word);
    const main = ${JSON.stringify(path.join(projectRoot, 'cli/main.ts'))};
    process.argv = [process.execPath, main, ...args, '--project', '${projectId}'];
    import(main);`;

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
        ...{ 'https://next-api.useplunk.com': [plunk], 'https://lists.example.com': [listmonk] },
        ...(api && { '--api': ['--url', api] }),
      };
      const place = await mkdtemp(path.join(folder, `${tool}-`));
      await writeExports(place);
      await writeFile(path.join(place, 'npm'), NPM(urls, owner.project.id), { mode: 0o755 });
      const env = {
        ...{ DATABASE_URL: stack.database.url, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
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
      for (const path of ['/contacts', '/templates'])
        expect((await owner.api('GET', path)).body.total).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});
