import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import { projectRoot } from '../../shared/platform/paths.ts';
import { ERROR_CATALOGUE } from '../../shared/pure/error-catalogue.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { startBrowser, type TestBrowser } from '../../tests/support/browser.ts';
import { addressOf, renderMarkdown, servedTarget } from './markdown.ts';
import { listFiles } from './site.ts';

const files = listFiles();

let app: TestApi;
let browser: TestBrowser;
beforeAll(async () => {
  [app, browser] = await Promise.all([startTestApi(), startBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await app.stop();
});

const get = (address: string) => app.api('GET', address, { key: null });

function textOf(file: string): string {
  return readFileSync(path.join(projectRoot, 'docs', file), 'utf8');
}

function targetsIn(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target = '']) => target.replaceAll('&amp;', '&'));
}

describe('/docs', () => {
  it.each(files)('%s is served, and all it links to is there', async (file) => {
    const page = await get(addressOf(file));
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const target of targetsIn(page.body).filter((it) => !/^(https?|mailto):/.test(it))) {
      const [address = '', fragment] = target.split('#');
      const other = address === '' ? page : await get(address);
      expect([target, other.status]).toEqual([target, 200]);
      if (fragment) expect([target, String(other.body).includes(`id="${fragment}"`)]).toEqual([target, true]);
    }
  });

  it.each(files)('every link of %s leads to a file of the repository', (file) => {
    for (const [, href = ''] of textOf(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?:|mailto:|#)/.test(href)) continue;
      const target = path.join(projectRoot, 'docs', path.dirname(file), href.split('#')[0] ?? '');
      expect([href, readFileSync(target).length > 0]).toEqual([href, true]);
    }
  });

  it('links every page from the first one, and those of errors from their list', async () => {
    const reached = [...targetsIn((await get('/docs')).body), ...targetsIn((await get('/docs/errors')).body)];
    expect(files.map(addressOf).filter((address) => !reached.includes(address))).toEqual([]);
  });

  it('answers an unknown page with 404 and the list of pages', async () => {
    const { status, body } = await get('/docs/guides/nothing');
    expect([status, String(body).includes('href="/docs/limits"')]).toEqual([404, true]);
    expect((await get('/docs/../package.json')).status).toBe(404);
    expect((await get('/docs/images/..%2f..%2fpackage.json')).status).toBe(404);
  });

  it('lets pages use nothing but their own style sheet, script and index', async () => {
    const policy = (await get('/docs')).headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
  });
});

describe('Markdown', () => {
  it('shows HTML instead of using it', () => {
    const { html } = renderMarkdown(
      'a.md',
      '<script>alert(1)</script>\n\na <b onclick="x">word</b>\n\n| <i>a |\n|---|\n| <i> |\n',
    );
    expect(html).not.toMatch(/<(script|b|i)\b/);
    expect(html).toContain('&lt;script&gt;');
  });

  it('resolves the links of files, and leaves out what is not served', () => {
    expect(servedTarget('guides/a.md', '../limits.md#sending')).toBe('/docs/limits#sending');
    expect(servedTarget('guides/a.md', 'b.md')).toBe('/docs/guides/b');
    expect(servedTarget('README.md', 'errors/README.md')).toBe('/docs/errors');
    expect(servedTarget('limits.md', '../README.md')).toBeUndefined();
    expect(servedTarget('limits.md', 'javascript:alert(1)')).toBeUndefined();
  });
});

describe('the pages of errors', () => {
  it.each(Object.entries(ERROR_CATALOGUE))('%s has a page with its status', async (code, { status }) => {
    const page = await get(`/docs/errors/${code}`);
    expect([page.status, String(page.body).includes(`HTTP status ${status}.`)]).toEqual([200, true]);
  });

  it('are named by the suggestions of errors', async () => {
    const unknown = await app.api('GET', '/contacts/00000000-0000-7000-8000-000000000000');
    expect(unknown.body.error.suggestion).toBe('See /docs/errors/CONTACT_NOT_FOUND');
    const wrongKey = await app.api('GET', '/contacts', { key: 'public' });
    expect(wrongKey.body.error.suggestion).toMatch(/^\w.+\. See \/docs\/errors\/INVALID_API_KEY$/);
    const foreign = { to: 'a@example.com', from: 'a@foreign.test', subject: 'a', body: 'a' };
    const refused = await app.api('POST', '/v1/send', { body: foreign });
    expect(refused.body.error).toMatchObject({
      code: 'INTERNAL_SERVER_ERROR',
      suggestion: expect.stringContaining('/docs/errors/SENDER_DOMAIN_REFUSED'),
    });
  });
});

describe('the docs in a browser', () => {
  async function violations(scheme: 'light' | 'dark', width: number, address: string): Promise<string[]> {
    const { page } = browser;
    await page.setViewport({ width, height: 800 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.goto(app.url + address);
    // Not a script of the page: its policy would refuse it.
    await page.evaluate(axe.source);
    return (await page.evaluate(`axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target }) => id + ' ' + target)))`)) as string[];
  }

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const)('have no accessibility faults, %s and %d pixels wide', async (scheme, width) => {
    for (const address of [
      '/docs',
      '/docs/guides/segments',
      '/docs/errors/VALIDATION_ERROR',
      '/docs/looking-at-executions',
    ]) {
      expect([address, await violations(scheme, width, address)]).toEqual([address, []]);
      expect(await browser.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
  });

  it('find a page by its words with the keyboard alone', async () => {
    const { page } = browser;
    await page.goto(`${app.url}/docs`);
    await page.focus('#search');
    await page.keyboard.type('idempotency-key reused');
    await page.waitForSelector('#results li');
    await page.keyboard.press('Enter');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(new URL(page.url()).pathname).toBe('/docs/errors/IDEMPOTENCY_KEY_REUSED');
    expect(browser.complaints).toEqual([]);
  });

  it('show every page and no search where scripts are off', async () => {
    const { page } = browser;
    await page.setJavaScriptEnabled(false);
    await page.goto(`${app.url}/docs`);
    await page.setJavaScriptEnabled(true);
    expect(await page.$eval('form', (form) => form.hidden)).toBe(true);
    expect(await page.$eval('.pages details', (details) => (details as unknown as { open: boolean }).open)).toBe(true);
  });
});
