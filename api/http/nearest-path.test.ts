import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { testConfig } from '../../tests/support/config.ts';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { createEndpoints } from '../routes.ts';
import { createNearestPaths } from './nearest-path.ts';

const nearestPaths = createNearestPaths(createEndpoints(testConfig()));

describe('the nearest paths', () => {
  it.each([
    ['GET', '/v1/contacts', '/contacts (GET, POST)'],
    ['HEAD', '/v1/contacts', '/contacts (GET, POST)'],
    ['GET', '/v1/campaigns', '/campaigns (GET, POST)'],
    ['GET', '/api/v1/contacts/123', '/contacts/:id (GET, PATCH, DELETE)'],
    ['POST', '/api/v1/send', '/v1/send (POST)'],
    ['POST', '/send', '/v1/send (POST)'],
    ['POST', '/v1/v1/send', '/v1/send (POST)'],
    ['POST', '//v1/send', '/v1/send (POST)'],
    ['POST', '/v1/send/email', '/v1/send (POST)'],
    ['POST', '/v3/mail/send', '/v1/send (POST)'],
    ['POST', '/contacts/bulkSubscribe/', '/contacts/bulk-subscribe (POST)'],
    ['GET', '/Contact', '/contacts (GET, POST)'],
    ['GET', '/executions', '/workflows/:id/executions (POST, GET)'],
    ['POST', '/v1/campaigns/123/send', '/campaigns/:id/send (POST)'],
  ])('of %s %s are %s', (method, path, expected) => expect(nearestPaths(method, path)).toEqual([expected]));

  it('are all that are equally near', () => {
    expect(nearestPaths('POST', '/track')).toEqual(['/v1/track (POST)', '/events/track (POST)']);
  });

  it.each([
    '/',
    '/v1',
    '/api',
    '/nothing',
    '/wp-login.php',
    '/favicon.ico',
    '/v1/0189',
    `/v1/${'contacts/'.repeat(99)}`,
  ])('of %s are none', (path) => expect(nearestPaths('GET', path)).toEqual([]));

  it('of a path that is far too long are none', () => {
    expect(nearestPaths('GET', '/contacts'.repeat(99))).toEqual([]);
  });

  it('are found in little time, whatever was asked for', async () => {
    const cpuMs = await cpuMsOf(() => {
      for (const word of ['c', 'contact', 'segments'.repeat(4)])
        for (let parts = 1; parts < 50; parts += 1) nearestPaths('GET', `/${word}`.repeat(parts));
    });
    expect(cpuMs).toBeLessThan(1_500);
  });
});

describe('a path that does not exist', () => {
  let app: TestApi;
  beforeAll(async () => {
    app = await startTestApi();
  });
  afterAll(() => app.stop());

  it('is answered with the nearest path, if there is one', async () => {
    const near = await app.api('GET', '/v1/contacts');
    expect([near.status, near.body.error.code, near.body.error.message]).toEqual([
      404,
      'RESOURCE_NOT_FOUND',
      'There is no endpoint GET /v1/contacts',
    ]);
    expect(near.body.error.suggestion).toBe(
      'The nearest path is /contacts (GET, POST). See /docs/errors/RESOURCE_NOT_FOUND',
    );
    expect((await app.api('GET', '/nothing')).body.error.suggestion).toBe('See /docs/errors/RESOURCE_NOT_FOUND');
  });
});
