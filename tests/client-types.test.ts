import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { keyKindOf } from '../api/http/endpoint.ts';
import { createEndpoints } from '../api/routes.ts';
import { Everpost as Client } from '../clients/typescript/src/index.ts';
import type { Campaign, ErrorCode, Everpost, WorkflowStep } from '../clients/typescript/src/index.ts';
import { isRepeatable, KEYED_PATHS } from '../clients/typescript/src/retry.ts';
import { ROUTES } from '../clients/typescript/src/routes.ts';
import { projectRoot } from '../shared/platform/paths.ts';
import {
  CLIENT_METHODS_FILE,
  CLIENT_TYPES_FILE,
  describeClientMethods,
  describeClientTypes,
} from './support/client-types.ts';
import { testConfig } from './support/config.ts';
import { readExamples, type DocsExample } from './support/docs-examples.ts';

const endpoints = createEndpoints(testConfig()).map((endpoint) => ({
  ...endpoint,
  path: endpoint.path.replaceAll(/:(\w+)/g, '{$1}'),
}));

describe('the TypeScript client', () => {
  it('has the types of the declared endpoints (`npm run client-types` writes them)', async () => {
    expect((await readFile(CLIENT_TYPES_FILE, 'utf8')) === (await describeClientTypes())).toBe(true);
  });

  it('is what the docs take it for (`npm run client-types` writes its methods, too)', async () => {
    expect(await readFile(CLIENT_METHODS_FILE, 'utf8')).toBe(describeClientMethods());
    const everpost = new Client({ url: 'http://127.0.0.1' }) as unknown as Record<string, Record<string, unknown>>;
    for (const [resource, methods] of Object.entries(ROUTES)) {
      expect([resource, Object.keys(everpost[resource] ?? {})]).toEqual([resource, Object.keys(methods)]);
    }
  });

  it('has a method for every operation (`clients/typescript/src/routes.ts` names them)', () => {
    const routes = Object.values(ROUTES).flatMap((resource): string[] => Object.values(resource));
    const methods = ['POST /v1/send', 'POST /v1/track', 'POST /v1/subscribe', 'POST /v1/verify', ...routes].map(
      (route) =>
        route
          .replace(/^(LIST|EXPORT) /, 'GET ')
          .replace('EXPORT_BY', 'POST')
          .split(' ')
          .slice(0, 2)
          .join(' '),
    );
    const operations = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(methods.sort()).toEqual(operations.sort());
  });

  it('makes an Idempotency-Key for the endpoints that take one', () => {
    expect(KEYED_PATHS).toEqual(endpoints.filter(({ isIdempotent }) => isIdempotent).map(({ path }) => path));
  });

  it('makes them for those that the guide about retries names', async () => {
    const page = await readFile(path.join(projectRoot, 'docs/guides/retries.md'), 'utf8');
    const named = /These endpoints take a key[^.]*\./.exec(page)?.[0].match(/`POST [^`]+`/g) ?? [];
    expect(named).toEqual(KEYED_PATHS.map((each) => `\`POST ${each.replaceAll(/\{(\w+)\}/g, ':$1')}\``));
  });

  it('uses the public key for the endpoints that take it', () => {
    expect(endpoints.filter((endpoint) => keyKindOf(endpoint) === 'public').map(({ path }) => path)).toEqual([
      '/v1/track',
      '/v1/subscribe',
    ]);
  });

  it('repeats no other POST than those that change nothing the second time', () => {
    const isPost = ({ method }: { method: string }) => method === 'post';
    const repeated = endpoints.filter((endpoint) => isPost(endpoint) && isRepeatable('POST', endpoint.path, undefined));
    expect(repeated.map(({ operationId }) => operationId).sort()).toEqual([
      'addSegmentMembers',
      'addSuppressions',
      'checkCampaign',
      'exportContactsByBody',
      'lookUpContacts',
      'searchContacts',
      'searchEmails',
      'searchSuppressions',
      'upsertContact',
      'verifyEmail',
    ]);
  });
});

/** Whether a block uses the client, perhaps by the file of an earlier block. */
const usesClient = ({ language, code }: DocsExample) => language === 'ts' && /from '(\.\/)?everpost/.test(code);

/** Writes the blocks of a page that use the client into a folder of its own. @returns their files */
async function writeBlocks(page: string, folder: string): Promise<string[]> {
  const blocks = (await readExamples(page)).filter(usesClient);
  await mkdir(folder);
  await writeFile(path.join(folder, 'package.json'), '{"type": "module"}');
  return Promise.all(
    blocks.map(async ({ code }, index) => {
      const file = path.join(folder, /^\/\/ ([\w-]+\.ts)\n/.exec(code)?.[1] ?? `block-${index}.ts`);
      await writeFile(file, code);
      return file;
    }),
  );
}

describe('the blocks of the docs that use the client', () => {
  it('have no type fault', async () => {
    const docs = readdirSync(path.join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' });
    const guides = docs.filter((file) => file.endsWith('.md')).map((file) => path.join('docs', file));
    const folder = await mkdtemp(path.join(tmpdir(), 'everpost-blocks-'));
    try {
      const files = await Promise.all(
        ['clients/typescript/README.md', ...guides].map((page, index) =>
          writeBlocks(page, path.join(folder, String(index))),
        ),
      );
      expect(files.flat().length).toBeGreaterThan(8);
      const program = ts.createProgram(files.flat(), {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        allowImportingTsExtensions: true,
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        moduleResolution: ts.ModuleResolutionKind.Bundler,
        types: ['node'],
        typeRoots: [path.join(projectRoot, 'node_modules', '@types')],
        paths: { everpost: [path.join(projectRoot, 'clients', 'typescript', 'src', 'index.ts')] },
      });
      const faults = ts.getPreEmitDiagnostics(program);
      expect(faults.map(({ messageText, file }) => [file?.text, messageText])).toEqual([]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** This function is only compiled, never called. Each `@ts-expect-error` is a mistake that the compiler must find. */
export async function usage(everpost: Everpost): Promise<string> {
  const contact = await everpost.request('GET', '/contacts/{id}', { params: { id: '1' } });
  const subscribed: boolean = contact.subscribed;
  await everpost.request('POST', '/contacts/import', { body: new FormData() });
  await everpost.webhooks.create({ url: 'https://example.com', events: ['email.*'] });
  const campaign: Campaign = await everpost.campaigns.send('1', {}, { signal: AbortSignal.timeout(1) });
  const step: WorkflowStep = await everpost.workflows.addStep(campaign.id, { type: 'EXIT', name: 'End' });
  await everpost.workflows.removeStep(step.id, '2', { splice: true });
  await everpost.campaigns.resend('1', { states: ['BOUNCED'] }, { idempotencyKey: 'a' });
  await everpost.contacts.import('email', { map: ['a:email'] });
  // @ts-expect-error the step is missing
  await everpost.workflows.removeStep('1');
  // @ts-expect-error a required key is missing
  await everpost.campaigns.create({ name: 'Launch' });
  // @ts-expect-error this endpoint takes no Idempotency-Key
  await everpost.campaigns.pause('1', { idempotencyKey: 'a' });
  for await (const recipient of everpost.campaigns.recipients('1', { limit: 10 })) String(recipient.contactId);
  const codes: ErrorCode[] = ['CONTACT_NOT_FOUND', 'CONNECTION_FAILED'];
  // @ts-expect-error not a code of the API
  codes.push('CONTACT_LOST');
  // @ts-expect-error not a field of an email
  for await (const email of everpost.emails.list()) String(email.sbject);
  // @ts-expect-error the path has a parameter
  await everpost.request('GET', '/contacts/{id}');
  // @ts-expect-error nothing answers to this method there
  await everpost.request('PUT', '/contacts/{id}', { params: { id: '1' } });
  // @ts-expect-error no such parameter
  await everpost.request('GET', '/contacts', { query: { subscribd: true } });
  // @ts-expect-error a key that the body does not have
  await everpost.send({ to: 'a@b.test', from: 'c@d.test', subject: 'Hi', bdoy: '' });
  // @ts-expect-error not a list
  everpost.list('/contacts/{id}', { params: { id: '1' } });
  // @ts-expect-error this endpoint takes no Idempotency-Key
  await everpost.request('POST', '/contacts', { body: { email: 'a@b.test' }, idempotencyKey: 'a' });
  return `${contact.email} ${subscribed} ${codes.join()}`;
}
