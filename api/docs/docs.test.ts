import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../../shared/platform/paths.ts';
import { ERROR_CATALOGUE } from '../../shared/pure/error-catalogue.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { accessibilityFaults, startBrowser, type TestBrowser } from '../../tests/support/browser.ts';
import { createEndpoints } from '../routes.ts';
import { addressOf, renderMarkdown, servedTarget } from './pages/markdown.ts';
import { listFiles } from './pages/catalogue.ts';

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

const inDocs = (place: string) => `/docs/${place}`;
const get = (address: string, headers = {}) => app.api('GET', address, { key: null, headers });
const operationIds = () => createEndpoints(app.config).map(({ operationId }) => operationId);

function textOf(file: string): string {
  return readFileSync(path.join(projectRoot, 'docs', file), 'utf8');
}

function targetsIn(html: string): string[] {
  return [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target = '']) => target.replaceAll('&amp;', '&'));
}

describe('/docs', () => {
  it('serves every page, and all that its pages link to is there', async () => {
    const pages = new Map<string, string>();
    const read = async (address: string): Promise<string> => {
      const known = pages.get(address);
      if (known !== undefined) return known;
      const page = await get(address, { 'accept-encoding': 'identity' });
      const body = page.status === 200 ? String(page.body) : `status ${page.status}`;
      pages.set(address, body);
      return body;
    };
    const faults: string[] = [];
    const all = [...files.map(addressOf), '/docs/reference', ...operationIds().map((id) => `/docs/reference/${id}`)];
    for (const each of all) {
      const page = await read(each);
      if (!page.startsWith('<!doctype html>')) faults.push(`${each}: ${page}`);
      for (const target of targetsIn(page).filter((it) => !/^(https?|mailto):/.test(it))) {
        const [address = '', fragment] = target.split('#');
        const other = address === '' ? page : await read(address);
        if (other.startsWith('status ')) faults.push(`${each} links to ${target}: ${other}`);
        else if (fragment && !other.includes(`id="${fragment}"`)) faults.push(`${each} links to ${target}`);
      }
    }
    expect(faults).toEqual([]);
    expect(all.length).toBeGreaterThan(170);
  });

  it.each(files)('every link of %s leads to a file of the repository', (file) => {
    for (const [, href = ''] of textOf(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?:|mailto:|#)/.test(href)) continue;
      const target = path.join(projectRoot, 'docs', path.dirname(file), href.split('#')[0] ?? '');
      expect([href, readFileSync(target).length > 0]).toEqual([href, true]);
    }
  });

  it('links every page from the first one, and those of errors and endpoints from their lists', async () => {
    const lists = await Promise.all(['/docs', '/docs/errors', '/docs/reference'].map((each) => get(each)));
    const reached = lists.flatMap(({ body }) => targetsIn(body));
    const all = [...files.map(addressOf), ...operationIds().map((id) => `/docs/reference/${id}`)];
    expect(all.filter((address) => !reached.includes(address))).toEqual([]);
  });

  it('answers an unknown page with 404 and the list of pages', async () => {
    const { status, body } = await get('/docs/guides/nothing');
    expect([status, String(body).includes('href="/docs/limits"')]).toEqual([404, true]);
    for (const address of ['/docs/../package.json', '/docs/images/..%2f..%2fpackage.json', '/docs/reference/nothing']) {
      expect([address, (await get(address)).status]).toEqual([address, 404]);
    }
    expect((await get('/docs/%E0%A4%A')).status).toBe(400);
    expect((await get('/docs/assets/1/..%2fdocs.routes.ts')).status).toBe(404);
  });

  it('lets pages use nothing but their own style sheet, scripts, font and index', async () => {
    for (const address of ['/docs', '/docs/reference/sendEmail', '/docs/nothing']) {
      const policy = (await get(address)).headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("connect-src 'self'");
      expect(policy).not.toContain('unsafe');
    }
  });

  it('has every page as Markdown, whose links lead to pages as Markdown', async () => {
    const guide = await get('/docs/guides/first-email.md');
    expect([guide.status, guide.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(guide.body).toContain('[over DNS](/docs/guides/domains.md)');
    const accepted = await get('/docs/guides/first-email', { accept: 'text/markdown, */*;q=0.1' });
    expect([accepted.body, accepted.headers.get('vary')]).toEqual([guide.body, 'Accept, Accept-Encoding']);
    expect((await get('/docs/guides/first-email', { accept: '*/*' })).body).toContain('<!doctype html>');
    const operation = await get('/docs/reference/sendEmail.md');
    expect(operation.body).toContain('# Send a transactional email');
    expect((await get('/docs/nothing.md')).status).toBe(404);

    const list = await get('/llms.txt');
    expect([list.status, list.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const addresses = [...String(list.body).matchAll(/\]\((http[^)]+\.md)\)/g)].map(([, url = '']) => new URL(url));
    expect(addresses.length).toBeGreaterThan(170);
    for (const { pathname } of addresses) expect([pathname, (await get(pathname)).status]).toEqual([pathname, 200]);
  });

  it('leads old addresses to where their text is now', async () => {
    const { status, headers } = await get('/docs/guides/keys');
    expect([status, headers.get('location')]).toEqual([301, '/docs/keys']);
    expect((await get('/docs/guides/keys.md')).headers.get('location')).toBe('/docs/keys.md');
  });

  it('links a call in a guide to its page, and that page back', async () => {
    expect((await get('/docs/guides/campaigns')).body).toContain(
      '<a href="/docs/reference/checkCampaign"><code>POST /campaigns/&lt;id&gt;/check</code></a>',
    );
    expect((await get('/docs/reference/checkCampaign')).body).toContain(
      '<a href="/docs/guides/campaigns">Campaigns</a>',
    );
    expect((await get('/docs/limits')).body).toContain('<a href="/docs/errors/');
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
  const evaluate = (code: string) => browser.page.evaluate(code);
  /** The block of code whose language can be chosen, as the reader sees it. */
  const shownCode = () =>
    evaluate(`[...document.querySelectorAll('.code pre')].find((each) => each.checkVisibility()).innerText`);

  async function violations(scheme: 'light' | 'dark', width: number, address: string): Promise<string[]> {
    const { page } = browser;
    await page.setViewport({ width, height: 800 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.goto(app.url + address);
    if (address.startsWith('/docs/reference/')) await evaluate(`document.querySelector('.try').open = true`);
    const isTooWide = await evaluate('document.documentElement.scrollWidth > innerWidth');
    return [...(await accessibilityFaults(page)), ...(isTooWide ? ['too wide'] : [])];
  }

  const REFERENCE = ['/docs/reference', '/docs/reference/sendEmail', '/docs/reference/addWorkflowStep'];
  const GUIDES = [
    '/docs',
    ...['guides/segments', 'errors/VALIDATION_ERROR', 'configuration', 'operations'].map(inDocs),
  ];
  it.each([
    ['light', 1440, [...GUIDES, ...REFERENCE]],
    ['dark', 1440, [...GUIDES, ...REFERENCE]],
    ['light', 390, REFERENCE],
    ['dark', 390, REFERENCE],
  ] as const)(
    'have no accessibility faults and no sideways scroll, %s and %d pixels wide',
    async (...[scheme, width, all]) => {
      for (const address of all) expect([address, await violations(scheme, width, address)]).toEqual([address, []]);
    },
  );

  it('all fit a phone, and every guide is without accessibility faults there', async () => {
    const addresses = [...files.map(addressOf), ...operationIds().map((id) => inDocs(`reference/${id}`))];
    const isGuide = (address: string) => /^.docs.(?!errors|reference)/.test(address);
    const faults: string[] = [];
    for (const address of addresses.filter(isGuide))
      faults.push(...(await violations('light', 390, address)).map((fault) => `${address}: ${fault}`));
    expect(faults).toEqual([]);
    // The others differ from the page that is open only in their main part.
    const others = JSON.stringify(addresses.filter((address) => !isGuide(address)));
    expect(
      await evaluate(`(async () => {
        const tooWide = [];
        for (const address of ${others}) {
          const page = new DOMParser().parseFromString(await (await fetch(address)).text(), 'text/html');
          document.querySelector('main').replaceWith(page.querySelector('main'));
          if (document.documentElement.scrollWidth > innerWidth) tooWide.push(address);
        }
        return tooWide;
      })()`),
    ).toEqual([]);
  }, 300_000);

  it('have three columns on a wide screen, and one on a phone', async () => {
    const { page } = browser;
    const places = `['#pages', 'main', '.contents'].map((each) => {
      const element = document.querySelector(each);
      return element.checkVisibility() ? Math.round(element.getBoundingClientRect().left) : -1;
    })`;
    await page.setViewport({ width: 1280, height: 800 });
    await page.goto(`${app.url}/docs/guides/segments`);
    const [menu = -1, text = -1, contents = -1] = (await evaluate(places)) as number[];
    expect([menu >= 0, menu < text, text < contents]).toEqual([true, true, true]);
    await page.setViewport({ width: 390, height: 800 });
    expect(await evaluate(places)).toEqual([-1, 0, -1]);
    await page.click('.menu');
    expect(await evaluate(`document.querySelector('#pages').checkVisibility()`)).toBe(true);
    await page.keyboard.press('Escape');
    expect(await evaluate(`document.querySelector('#pages').checkVisibility()`)).toBe(false);
  });

  it('find a page by its words with the keyboard alone', async () => {
    const { page } = browser;
    await page.setViewport({ width: 1280, height: 800 });
    await page.goto(`${app.url}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('idempotancy-key reused');
    await page.waitForSelector('#results li');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
    expect(new URL(page.url()).pathname).toBe('/docs/errors/IDEMPOTENCY_KEY_REUSED');
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.keyboard.type('qqqqzzzz');
    await page.waitForFunction(`document.querySelector('#search p').textContent === 'Nothing found'`);
    await page.keyboard.press('Escape');
    expect(await evaluate(`document.querySelector('#search').open`)).toBe(false);
    expect(browser.complaints.filter((text) => !text.includes('404'))).toEqual([]);
  });

  it('show code in the language that was chosen, also on the next page', async () => {
    const { page } = browser;
    await page.goto(`${app.url}/docs/guides/first-email`);
    expect(await shownCode()).toMatch(/^curl /);
    await page.click('[data-set-code="python"]');
    expect(await shownCode()).toMatch(/^import os\nimport requests/);
    await page.goto(`${app.url}/docs/reference/upsertContact`);
    expect(await shownCode()).toContain('requests.post(f"{url}/contacts"');
    expect(await evaluate(`document.querySelector('[data-set-code="python"]').getAttribute('aria-pressed')`)).toBe(
      'true',
    );
    await evaluate(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`);
    await page.click('.copy');
    await page.waitForFunction('window.copied');
    expect(await evaluate('window.copied')).toBe(String(await shownCode()).trimEnd());
    await page.click('[data-set-code="curl"]');
  });

  it('try an endpoint with a key that stays in the session', async () => {
    const { page } = browser;
    const answer = `document.querySelector('.answer p').textContent`;
    const send = async (wanted: string) => {
      await page.click('.try [type=submit]');
      await page.waitForFunction(`${answer}.startsWith(${JSON.stringify(wanted)})`);
    };
    await page.goto(`${app.url}/docs/reference/upsertContact`);
    await page.click('.try summary');
    await page.type('.try [name=key]', app.keys.secretKey);
    await evaluate(`document.querySelector('.try [name=body]').value = '{"email": "<b>@x'`);
    await send('The body is not JSON');
    await evaluate(`document.querySelector('.try [name=body]').value = '{"email": "tried@example.com"}'`);
    await send('201');
    const id = await evaluate(`JSON.parse(document.querySelector('.answer pre').textContent).id`);
    await page.goto(`${app.url}/docs/reference/getContact`);
    await page.click('.try summary');
    await page.type('[data-name=id]', String(id));
    await send('200');
    expect(await evaluate(`document.querySelector('.answer pre').textContent`)).toContain('tried@example.com');
    expect(await evaluate(`JSON.stringify(localStorage).includes('sk_')`)).toBe(false);
    await page.click('[data-forget]');
    await page.goto(`${app.url}/docs/reference/getContact`);
    expect(await evaluate(`document.querySelector('.try [name=key]').value`)).toBe('');
  });

  it('lead from an address of the former reference to the page of the endpoint', async () => {
    const { page } = browser;
    await page.goto('about:blank');
    await page.goto(`${app.url}/docs/reference#/Contacts/getContact`);
    await page.waitForFunction(`location.pathname === '/docs/reference/getContact'`);
  });

  it('show every page and all languages, and no search, where scripts are off', async () => {
    const { page } = browser;
    await page.setJavaScriptEnabled(false);
    await page.setViewport({ width: 1280, height: 800 });
    await page.goto(`${app.url}/docs/guides/first-email`);
    expect(await page.$eval('#open-search', (each) => each.checkVisibility())).toBe(false);
    expect(await page.$eval('#pages a', (each) => each.checkVisibility())).toBe(true);
    expect(await page.$$eval('.code [data-code]', (all) => all.every((each) => each.checkVisibility()))).toBe(true);
    await page.setJavaScriptEnabled(true);
  });
});
