import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { trustDomain } from '../shared/domain/domains/sender-domains.ts';
import { projectRoot } from '../shared/platform/paths.ts';
import { createDnsServer, type DnsServer } from './support/dns-server.ts';
import { readExamples, startPage } from './support/docs-examples.ts';
import { startTestStack, type TestStack } from './support/stack.ts';
import { render } from './support/templates.ts';

const GUIDES = path.join(projectRoot, 'docs', 'guides');
/** Every page with code. */
const ROOTS = ['README.md', path.join('clients', 'typescript', 'README.md')];
const pages = [...ROOTS, ...readdirSync(path.join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })]
  .map((file, index) => (index < ROOTS.length ? file : path.join('docs', file)))
  .filter((file) => file.endsWith('.md') && /^ *```/m.test(readFileSync(path.join(projectRoot, file), 'utf8')));

let stack: TestStack;
let dns: DnsServer;
beforeAll(async () => {
  dns = await createDnsServer();
  stack = await startTestStack({ config: { DNS_SERVERS: [dns.address], INBOUND_DOMAIN: 'mail.example.net' } });
});
afterAll(async () => {
  await stack.stop();
  await dns.close();
});

function countWorkflows(query: string) {
  return stack.temporal.client.workflow.count(query);
}

describe('the code of a page of the docs', () => {
  it.each(pages)('runs and answers what the page shows: %s', async (file) => {
    const project = await stack.createProject();
    // `npm start` trusts this domain as well.
    await trustDomain(stack.em(), project.project.id, 'local.test');
    const examples = await readExamples(file);
    const page = await startPage(stack.url, project, countWorkflows);
    try {
      for (const example of examples) await page.run(example);
    } finally {
      await page.close();
    }
    expect(examples.length).toBeGreaterThan(0);
  });
});

describe('a wrong example on a page', () => {
  const wrong = { language: 'json', words: ['partial'], text: '{ "data": [{ "id": 2 }] }' };
  const answering = (text: string) => ({ language: 'bash', words: [], code: `echo '${text}'` });

  it.each([
    ['another value', { ...answering('{ "data": [{ "id": 1 }] }'), answer: wrong }],
    ['a list without the item', { ...answering('{ "data": [] }'), answer: wrong }],
    [
      'a field that the page does not show',
      { ...answering('{ "a": 1 }'), answer: { ...wrong, words: [], text: '{}' } },
    ],
    ['another text', { ...answering('sent'), answer: { language: 'text', words: [], text: 'sent twice' } }],
    ['an error where no answer is shown', answering('{"success":false}')],
    [
      'a filter that matches somebody',
      { language: 'json', words: ['filter', 'ada'], code: '{ "field": "email", "operator": "exists" }' },
    ],
    ['an event as none is sent', { language: 'json', words: ['event'], code: '{ "type": "order.paid" }' }],
    [
      'a request with an id to replace',
      { language: 'sh', words: [], code: 'echo 019a0c7e-5b10-7c3e-9f0a-2d6b8e3c1a01' },
    ],
    [
      'an operator command that does not exist',
      { language: 'sh', words: [], code: 'npm run --silent everpost -- project shrink <id>' },
    ],
    ['a bench that does not exist', { language: 'sh', words: [], code: 'npm run bench -- nothing' }],
    ['a query of Temporal', { language: 'text', words: ['query'], code: 'Nothing = "1"' }],
    ['a language that nobody runs', { language: 'python', words: [], code: 'print()' }],
  ])('fails: %s', async (_case, example) => {
    const page = await startPage(stack.url, stack, countWorkflows);
    try {
      await expect(page.run(example)).rejects.toThrow(
        /the page shows|nobody runs|answered|matches|is no event|holds an id|not understand|is no bench|count workflows/,
      );
    } finally {
      await page.close();
    }
  });
});

describe('examples/first-campaign.mjs', () => {
  it('sends a campaign to a thousand contacts, within the limit of requests', async () => {
    const project = await stack.createProject();
    await trustDomain(stack.em(), project.project.id, 'local.test');
    const home = mkdtempSync(path.join(tmpdir(), 'everpost-'));
    const own = { apiUrl: stack.url, secretKey: project.keys.secretKey, domain: 'local.test' };
    writeFileSync(path.join(home, 'local.json'), JSON.stringify({ ...own, temporalUiUrl: '', mailboxUrl: '' }));
    try {
      const example = path.join(projectRoot, 'docs', 'examples', 'first-campaign.mjs');
      const env = { ...process.env, EVERPOST_HOME: home };
      const { stdout } = await promisify(execFile)(process.execPath, [example], { env });
      expect(stdout).toContain('SENT: 1000 of 1000');
    } finally {
      rmSync(home, { recursive: true });
    }
    const { headers } = await project.api('GET', '/campaigns');
    expect(Number(headers.get('ratelimit-limit')) - Number(headers.get('ratelimit-remaining'))).toBeLessThan(500);
  });
});

describe('guides/templates.md', () => {
  const page = readFileSync(path.join(GUIDES, 'templates.md'), 'utf8');
  const data = JSON.parse(/^With the data `(.*)`:$/m.exec(page)?.[1] ?? '') as Record<string, unknown>;
  const rows = [...page.matchAll(/^\| `(\{\{.*\}\}.*?)` \| ?(?:`(.*)`)? ?\|$/gm)].map(
    ([, template = '', text = '']) => [template, text],
  );

  it.each(rows)('%s prints %s', (template, text) => {
    expect(render(template, data, 'html')).toBe(text);
  });
});
