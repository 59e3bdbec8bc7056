import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectRoot } from '../../shared/platform/paths.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { testConfig } from '../../tests/support/config.ts';
import { keyKindOf } from '../http/endpoint.ts';
import { createEndpoints } from '../routes.ts';

const WEB = path.join(projectRoot, 'api', 'console', 'web');
const endpoints = createEndpoints(testConfig());

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi({ config: { TEMPORAL_UI_URL: 'https://temporal.test/namespaces/mail' } });
});
afterAll(() => app.stop());

const get = (path: string, method = 'GET') => app.api(method, path, { key: null });

/** Addresses that the page asks for. */
async function addressesOfPage(): Promise<string[]> {
  const { body } = await get('/console');
  return [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
}

it('every action and every page of the console names the operation that it needs', () => {
  const operations = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  const texts = readdirSync(WEB, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.mjs$/.test(name) && !name.endsWith('views/parts.mjs'))
    .map((name) => readFileSync(path.join(WEB, name), 'utf8'));
  const parts = texts.flatMap((text) => text.split(/<\$\{(?=(?:Action|Form)\})/).slice(1));
  expect(parts.length).toBeGreaterThan(25);
  expect(parts.filter((part) => !/^\w+\}\s+(?:key=\S+\s+)?needs=/.test(part))).toEqual([]);
  const pages = texts.flatMap((text) => text.match(/\{\s+title: [^}]*\ball: [^}]*\}/g) ?? []);
  const open = pages.filter((page) => !page.includes('needs:')).map((page) => /title: '(\w+)'/.exec(page)?.[1]);
  expect(open).toEqual(['Today', 'Settings', 'Parts']);
  const named = texts.flatMap((text) => text.match(/\b(?:GET|POST|PATCH|PUT|DELETE) \/(?:[\w/:@-]+)/g) ?? []);
  expect(named.filter((name) => !operations.includes(name))).toEqual([]);
});

describe('the files of the console', () => {
  it('need no key, and the page has a policy without inline script and style', async () => {
    const reply = await get('/console');
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = reply.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toMatch(/unsafe|https:|data:|\*/);
    expect(reply.headers.get('cache-control')).toBe('no-cache');
    expect(reply.body).not.toMatch(/<style|style=|<script>|\son\w+=/);
  });

  it('are kept for a year under an address that changes with them', async () => {
    const addresses = await addressesOfPage();
    expect(addresses.length).toBeGreaterThan(3);
    for (const address of addresses) {
      const reply = await get(address);
      expect([address, reply.status]).toEqual([address, 200]);
      expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(reply.headers.get('content-type')).toMatch(
        /^(text\/(javascript|css); charset=utf-8|image\/svg\+xml|font\/woff2)/,
      );
    }
    const other = await get(addresses[0]!.replace(/[0-9a-f]{16}/, '0'.repeat(16)));
    expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  it('import nothing that is not there, and nothing from elsewhere', async () => {
    const main = (await addressesOfPage()).find((address) => address.endsWith('main.mjs'))!;
    const seen = new Set<string>();
    const wanted = [main];
    for (let address = wanted.pop(); address !== undefined; address = wanted.pop()) {
      if (seen.has(address)) continue;
      seen.add(address);
      const { status, body } = await get(address);
      expect([address, status]).toEqual([address, 200]);
      const imports = [
        ...body.matchAll(/^(?:import|export)[^'"]*from ['"]([^'"]+)['"]|await import\(['"]([^'"]+)['"]\)/gm),
      ]
        .map(([, still, lazy]) => still ?? lazy)
        .filter((name) => !address.includes('/lib/') || name.startsWith('.'));
      expect(imports.filter((name) => !name.startsWith('.'))).toEqual([]);
      wanted.push(...imports.map((name) => path.posix.join(path.posix.dirname(address), name)));
    }
    expect(seen.size).toBeGreaterThan(10);
  });

  it('of packages are the files that the packages ship', async () => {
    const [icon] = await addressesOfPage();
    const { body } = await get(icon!.replace('icon.svg', 'lib/preact.mjs'));
    const file = createRequire(import.meta.url).resolve('preact');
    expect(body).toBe(readFileSync(path.join(path.dirname(file), 'preact.mjs'), 'utf8'));
  });

  it('give no access to other files', async () => {
    for (const name of [
      'index.html',
      'api-types.ts',
      'tsconfig.json',
      '../console.routes.ts',
      '..%2Fconsole.routes.ts',
    ]) {
      const reply = await get(`/console/assets/x/${name}`);
      expect([name, reply.status, reply.body.error.code]).toEqual([name, 404, 'RESOURCE_NOT_FOUND']);
    }
  });

  it('answer HEAD, and other methods with 405', async () => {
    for (const path of ['/console', '/console/config.json', '/console/assets/x/main.mjs']) {
      const head = await get(path, 'HEAD');
      expect([head.status, head.body]).toEqual([path.endsWith('.json') ? 401 : 200, undefined]);
      const refused = await get(path, 'POST');
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      expect((await get(path, 'OPTIONS')).status).toBe(204);
    }
  });

  it('tell those with a secret key where the Temporal UI is and what the key may call, and nothing else', async () => {
    const settings = await app.api('GET', '/console/config.json');
    expect(settings.body).toEqual({
      temporalUiUrl: 'https://temporal.test/namespaces/mail',
      operations: endpoints
        .filter((definition) => keyKindOf(definition) === 'secret')
        .map(({ method, path }) => `${method.toUpperCase()} ${path}`),
    });
    const { body: support } = await app.api('POST', '/keys', { body: { name: 'Support', role: 'support' } });
    const { operations } = (await app.api('GET', '/console/config.json', { key: support.key })).body;
    expect(operations).toEqual(expect.arrayContaining(['GET /contacts', 'PATCH /contacts/:id']));
    for (const refused of ['DELETE /contacts/:id', 'GET /campaigns']) expect(operations).not.toContain(refused);
    expect(settings.headers.get('cache-control')).toBe('no-store');
    for (const key of ['public', null] as const) {
      const refused = await app.api('GET', '/console/config.json', { key });
      expect([refused.status, refused.body.error.code]).toEqual([401, 'INVALID_API_KEY']);
    }
  });

  it('change nothing about other paths', async () => {
    const docs = await get('/docs');
    expect(docs.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect((await get('/contacts')).status).toBe(401);
    expect((await get('/console')).headers.get('access-control-allow-origin')).toBeNull();
  });
});
