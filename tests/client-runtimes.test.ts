import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import ts from 'typescript';
import { projectRoot } from '../shared/platform/paths.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { startFaultyProxy, type FaultyProxy } from './support/faulty-proxy.ts';

const SUPPORT = path.join(projectRoot, 'tests', 'support', 'client-runtimes');
const CLIENT = path.join(projectRoot, 'clients', 'typescript', 'src');
const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const BODY = JSON.stringify({ type: 'order.paid', timestamp: '2026-11-22T09:00:00.000Z', data: { name: 'Émile' } });
const PATIENCE_MS = 60_000;

let app: TestApi;
let proxy: FaultyProxy;
let folder: string;
beforeAll(async () => {
  app = await startTestApi();
  // Every fourth request fails, so that each runtime has to try again.
  proxy = await startFaultyProxy(app.url, 0.25);
  folder = mkdtempSync(path.join(tmpdir(), 'everpost-client-'));
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}');
  for (const name of readdirSync(CLIENT)) {
    const { outputText } = ts.transpileModule(readFileSync(path.join(CLIENT, name), 'utf8'), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true,
      },
    });
    writeFileSync(path.join(folder, name.replace('.ts', '.js')), outputText);
  }
  for (const name of readdirSync(SUPPORT)) cpSync(path.join(SUPPORT, name), path.join(folder, name));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await proxy.close();
  await app.stop();
});

/** Writes the program with the keys of a new project. */
async function writeProgram(): Promise<void> {
  const { keys } = await app.createProject();
  const at = new Date();
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('msg_1', at, BODY),
  };
  const settings = { url: proxy.url, ...keys, webhook: { body: BODY, headers, secret: SECRET } };
  const program = `import * as client from './index.js';
import { useClient } from './use-client.mjs';
console.log(JSON.stringify(await useClient(client, ${JSON.stringify(settings)})));`;
  writeFileSync(path.join(folder, 'main.mjs'), program);
}

const findProgram = (name: string) =>
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((place) => path.join(place, name))
    .find((file) => existsSync(file));

/** The runtimes of this machine, and how each runs a file. */
const RUNTIMES: [name: string, program: string | undefined, args: string[]][] = [
  ['Node', process.execPath, ['main.mjs']],
  [
    'what edge runtimes have in common',
    process.execPath,
    ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'edge-main.mjs'],
  ],
  ['Bun, where it is installed', findProgram('bun'), ['main.mjs']],
  ['Deno, where it is installed', findProgram('deno'), ['run', '--allow-net', 'main.mjs']],
];

describe('the client sends, tracks, lists, retries and verifies in', () => {
  for (const [name, program, args] of RUNTIMES) {
    (program === undefined ? it.skip : it)(
      name,
      async () => {
        await writeProgram();
        const faults = () => Object.values(proxy.counts).reduce((sum, count) => sum + count);
        const before = faults();
        const env = { PATH: process.env['PATH'], HOME: folder, NODE_OPTIONS: '' };
        const { stdout } = await promisify(execFile)(program ?? '', args, { cwd: folder, env, timeout: PATIENCE_MS });
        expect(JSON.parse(stdout)).toEqual({
          isSent: true,
          contacts: ['ada@mail.test', 'bo@mail.test'],
          refusal: [true, 'VALIDATION_ERROR', 'to'],
          event: 'order.paid',
          forged: 'WebhookVerificationError',
        });
        expect(faults()).toBeGreaterThan(before);
      },
      PATIENCE_MS,
    );
  }
});
