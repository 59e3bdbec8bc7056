import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readLook } from '../../shared/platform/look/look.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

const get = (path: string) => app.api('GET', path, { key: null });

it('the style of all pages needs no key and is kept for a year', async () => {
  const { head } = readLook();
  const addresses = [...head.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
  expect(addresses).toHaveLength(3);
  for (const address of addresses) {
    const reply = await get(address);
    expect([address, reply.status]).toEqual([address, 200]);
    expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  }
  const other = await get(addresses[1]!.replace(/[0-9a-f]{16}/, '0'.repeat(16)));
  expect([other.status, other.headers.get('cache-control')]).toEqual([200, 'no-store']);
});

it('every file that the style sheet names exists', async () => {
  const { version, files } = readLook();
  const names = [
    ...files
      .get('look.css')!
      .body.toString()
      .matchAll(/url\(([^)]+)\)/g),
  ].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(3);
  for (const name of names) {
    const reply = await get(`/look/${version}/${name.replace('./', '')}`);
    expect([name, reply.status, reply.headers.get('content-type')]).toEqual([name, 200, 'font/woff2']);
  }
  expect((await get(`/look/${version}/tokens.ts`)).status).toBe(404);
});
