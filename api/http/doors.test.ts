import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'node:http';
import express, { type Express } from 'express';
import { inspectConfig } from '../../shared/platform/config.ts';
import { startTestApi, type TestApi, type TestApiOptions } from '../../tests/support/api.ts';
import { testConfig } from '../../tests/support/config.ts';
import { mountFeedback } from '../feedback/feedback.routes.ts';
import { createEndpoints } from '../routes.ts';
import { isRecipientPath } from './doors.ts';

const started: TestApi[] = [];
async function start(config: TestApiOptions['config']): Promise<TestApi> {
  const app = await startTestApi({ config, ...(started[0] && { database: started[0].database }) });
  started.push(app);
  return app;
}
let both: TestApi;
let apart: TestApi;
beforeAll(async () => {
  both = await start({ ADMIN_HOSTS: ['mail.test', 'other.test'], publicUrl: 'https://mail.test' });
  apart = await start({
    ADMIN_HOSTS: ['admin.test'],
    publicUrl: 'https://mail.test',
    apiUrl: 'https://admin.test',
  });
});
afterAll(async () => {
  for (const app of started.reverse()) await app.stop();
});

/** The status of a request with a Host header, which `fetch` does not let a caller set, and whether it is a refusal. */
function ask(app: TestApi, host: string, path: string, method = 'GET', key?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { Host: host, ...(key && { Authorization: `Bearer ${key}` }), 'Content-Type': 'application/json' };
    const sent = request(app.url, { method, path, headers }, (res) => {
      let text = '';
      res.on('data', (part: Buffer) => (text += part.toString()));
      res.on('end', () => resolve(text.includes('There is no endpoint') ? 'closed' : String(res.statusCode)));
    });
    sent.on('error', reject);
    sent.end(method === 'POST' ? '{}' : undefined);
  });
}

const ADMIN_PATHS = ['/console', '/console/config.json', '/docs', '/docs/reference', '/openapi.json', '/contacts'];
const LINKS = ['/unsubscribe/x', '/subscribe/x', '/manage/x', '/view/x', '/t/o/x.gif', '/t/c/x', '/archive/x'];

describe('ADMIN_HOSTS', () => {
  it('opens console, docs and calls with secret keys at these names only, whatever port and case', async () => {
    for (const path of [...ADMIN_PATHS, '/', '/nowhere']) {
      for (const host of ['mail.test', 'evil.test', '', 'admin.test.evil.test']) {
        expect([path, host, await ask(apart, host, path)]).toEqual([path, host, 'closed']);
      }
    }
    for (const path of ADMIN_PATHS) {
      expect([path, await ask(apart, 'Admin.test:8443', path)]).not.toEqual([path, 'closed']);
    }
    for (const host of ['admin.test.', 'admin.test:']) {
      expect(await ask(apart, host, '/contacts', 'GET', apart.keys.secretKey)).toBe('200');
    }
    expect(await ask(apart, 'mail.test', '/contacts', 'GET', apart.keys.secretKey)).toBe('closed');
    expect(await ask(apart, 'mail.test', '/v1/send', 'POST', apart.keys.secretKey)).toBe('closed');
  });

  it('follows the host in the target of a request, whatever its header says', async () => {
    const askFor = (target: string, host: string) => ask(apart, host, target, 'GET', apart.keys.secretKey);
    expect(await askFor('http://mail.test/contacts', 'admin.test')).toBe('closed');
    expect(await askFor('HTTP://Admin.test:80/contacts', 'mail.test')).toBe('200');
    expect(await askFor('http://admin.test@mail.test/contacts', 'admin.test')).toBe('closed');
    expect(await askFor('http://mail.test/unsubscribe/x', 'admin.test')).not.toBe('closed');
  });

  it('leaves links of recipients to the host of PUBLIC_URL', async () => {
    for (const path of LINKS) {
      expect([path, await ask(apart, 'admin.test', path)]).toEqual([path, 'closed']);
      expect([path, await ask(apart, 'evil.test', path)]).toEqual([path, 'closed']);
      expect([path, await ask(apart, 'mail.test', path)]).not.toEqual([path, 'closed']);
    }
  });

  it('lets pages of visitors use the public key at both hosts, and health be asked for at any', async () => {
    for (const host of ['admin.test', 'mail.test']) {
      expect(await ask(apart, host, '/v1/track', 'POST', apart.keys.publicKey)).not.toBe('closed');
    }
    expect(await ask(apart, 'evil.test', '/v1/track', 'POST', apart.keys.publicKey)).toBe('closed');
    for (const path of ['/health', '/ready']) expect(await ask(apart, '10.0.0.7:3000', path)).toBe('200');
  });

  it('lets one host answer everything when PUBLIC_URL is one of them', async () => {
    for (const path of [...ADMIN_PATHS, ...LINKS]) {
      expect([path, await ask(both, 'mail.test', path)]).not.toEqual([path, 'closed']);
    }
    expect(await ask(both, 'evil.test', '/contacts')).toBe('closed');
    expect(await ask(both, 'evil.test', '/unsubscribe/x')).not.toBe('closed');
  });

  it('knows an IPv6 address in every spelling', async () => {
    const environment = { DATABASE_URL: 'postgres://x', APP_SECRET: 'x'.repeat(32), ADMIN_HOSTS: '[0:0::0:1],[::FF]' };
    const inspected = inspectConfig(environment);
    expect(inspected).toMatchObject({ config: { ADMIN_HOSTS: ['[::1]', '[::ff]'] } });
    expect(inspectConfig({ ...environment, ADMIN_HOSTS: '[1:::]' })).toMatchObject({
      faults: [{ variable: 'ADMIN_HOSTS' }],
    });
    const app = await start({ ADMIN_HOSTS: ['[::1]'], publicUrl: 'https://mail.test' });
    for (const host of ['[::1]', '[0:0:0:0:0:0:0:1]:3000', '[0::1]']) {
      expect([host, await ask(app, host, '/contacts', 'GET', app.keys.secretKey)]).toEqual([host, '200']);
    }
    expect(await ask(app, '[::2]', '/contacts', 'GET', app.keys.secretKey)).toBe('closed');
  });

  it('is where the OpenAPI document says that the API is', async () => {
    const environment = {
      DATABASE_URL: 'postgres://x',
      APP_SECRET: 'x'.repeat(32),
      PUBLIC_URL: 'https://mail.test',
      ADMIN_HOSTS: 'Admin.test, Büro.test',
    };
    expect(inspectConfig(environment)).toMatchObject({
      config: {
        ADMIN_HOSTS: ['admin.test', 'xn--bro-hoa.test'],
        apiUrl: 'https://admin.test',
        CONSOLE: true,
        DOCS: true,
      },
    });
    const shared = inspectConfig({ ...environment, ADMIN_HOSTS: 'b.test,mail.test' });
    expect(shared).toMatchObject({ config: { apiUrl: 'https://mail.test' } });
    for (const wrong of ['https://admin.test', 'admin.test:8443', '*.test']) {
      expect(inspectConfig({ ...environment, ADMIN_HOSTS: wrong })).toMatchObject({
        faults: [{ variable: 'ADMIN_HOSTS' }],
      });
    }
  });

  it('knows every page for recipients, and takes no endpoint for one', () => {
    const pages = express();
    mountFeedback(pages as Express, { ...apart, config: testConfig() } as never, {} as never);
    const paths = pages.router.stack.flatMap(({ route }) => (route ? [route.path] : []));
    expect(paths.length).toBeGreaterThan(8);
    expect(paths.filter((path) => !isRecipientPath(path))).toEqual([]);
    expect(createEndpoints(testConfig()).filter(({ path }) => isRecipientPath(path))).toEqual([]);
  });
});

describe('CONSOLE=off and DOCS=off', () => {
  it('close pages and their files, and the start page does not name them', async () => {
    const closed = await start({ CONSOLE: false, DOCS: false });
    const get = (path: string) => closed.api('GET', path, { key: null, headers: { accept: 'text/html' } });
    for (const path of [
      ...ADMIN_PATHS.slice(0, 5),
      '/docs/reference/sendEmail',
      '/docs/limits.md',
      '/llms.txt',
      '/docs/search.json',
    ]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
    expect((await get('/')).body).not.toMatch(/docs|openapi|console/i);
    expect((await closed.api('GET', '/contacts')).status).toBe(200);
    const onlyDocs = await start({ CONSOLE: false });
    expect((await onlyDocs.api('GET', '/docs', { key: null })).status).toBe(200);
    expect((await onlyDocs.api('GET', '/console', { key: null })).status).toBe(404);
  });
});
