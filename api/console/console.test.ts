import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

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

  it('tell those with the secret key where the Temporal UI is, and nothing else', async () => {
    const settings = await app.api('GET', '/console/config.json');
    expect(settings.body).toEqual({ temporalUiUrl: 'https://temporal.test/namespaces/mail' });
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
