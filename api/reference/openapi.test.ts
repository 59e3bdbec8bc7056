import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testConfig } from '../../tests/support/config.ts';
import { startTestApi, type TestApi, type TestReply } from '../../tests/support/api.ts';
import { keyKindOf, rolesOf } from '../http/endpoint.ts';
import { createEndpoints } from '../routes.ts';

const endpoints = createEndpoints(testConfig());
const pathOf = (path: string) => path.replaceAll(/:(\w+)/g, '{$1}');

let app: TestApi;
let document: TestReply['body'];
beforeAll(async () => {
  app = await startTestApi();
  document = (await app.api('GET', '/openapi.json', { key: null })).body;
});
afterAll(() => app.stop());

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === '$ref' && typeof item === 'string' ? [item] : referencesIn(item),
  );
}

function resolve(reference: string): unknown {
  return reference
    .replace('#/', '')
    .split('/')
    .reduce<unknown>(
      (node, key) => (typeof node === 'object' && node !== null ? Reflect.get(node, key) : undefined),
      document,
    );
}

describe('/openapi.json', () => {
  it('is an OpenAPI 3.1 document about this instance', () => {
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\./),
      info: { title: expect.any(String), version: '1.0.0' },
      servers: [{ url: app.config.publicUrl }],
    });
  });

  it('has every endpoint and no other', () => {
    const documented = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(documented.sort()).toEqual(endpoints.map(({ method, path }) => `${method} ${pathOf(path)}`).sort());
    const ids = endpoints.map((definition) => definition.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(endpoints.map((definition) => [definition.operationId, definition] as const))(
    '%s has its id, summary, key, statuses, parameters and body',
    (_id, definition) => {
      const operation = document.paths[pathOf(definition.path)][definition.method];
      expect(operation.operationId).toBe(definition.operationId);
      expect(operation.summary).toMatch(/\w/);
      expect(operation.security).toEqual([{ [`${keyKindOf(definition)}Key`]: [] }]);
      expect(operation['x-roles']).toEqual(rolesOf(definition));
      expect(operation.description).toContain(`Roles: ${rolesOf(definition).join(', ')}.`);
      const statuses = Object.keys(operation.responses);
      expect(statuses).toEqual(
        expect.arrayContaining([...Object.keys(definition.replies), '401', '403', '429', '500', '503']),
      );
      for (const response of Object.values<{ description: string }>(operation.responses))
        expect(response.description).toMatch(/\w/);
      const parameters: { in: string; name: string; required?: boolean }[] = operation.parameters ?? [];
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
      expect(inPath).toEqual([...definition.path.matchAll(/:(\w+)/g)].map((match) => match[1]));
      expect(parameters.some((parameter) => parameter.name === 'Idempotency-Key')).toBe(
        definition.isIdempotent === true,
      );
      expect(operation.requestBody !== undefined).toBe((definition.body ?? definition.multipart) !== undefined);
      if (definition.method !== 'get') expect(statuses).toEqual(expect.arrayContaining(['400', '413', '415']));
    },
  );

  it('refers to nothing that is missing', () => {
    const references = new Set(referencesIn(document));
    expect(references.size).toBeGreaterThan(0);
    for (const reference of references) expect([reference, resolve(reference)]).toEqual([reference, expect.anything()]);
  });
});

describe('/docs/reference', () => {
  it('shows a page whose parts are there', async () => {
    const page = await app.api('GET', '/docs/reference', { key: null });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const parts = [...String(page.body).matchAll(/(?:src|href)="([^"#]+)[^"]*"/g)].map((match) => match[1] ?? '');
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) expect([part, (await app.api('GET', part, { key: null })).status]).toEqual([part, 200]);
  });
});
