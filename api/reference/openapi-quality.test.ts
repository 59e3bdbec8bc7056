import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import type { JsonSchema } from '../../tests/support/fuzz/json-schema.ts';
import { createEndpoints } from '../routes.ts';
import { createOpenApiDocument } from './openapi.ts';

let app: TestApi;
let document: any;
beforeAll(async () => {
  app = await startTestApi();
  document = createOpenApiDocument(createEndpoints(app.config), app.config.publicUrl);
});
afterAll(() => app.stop());

/** Every schema in the document, with its place. */
function* schemasIn(
  value: unknown,
  place: string,
): Generator<[place: string, schema: JsonSchema & { description?: string }]> {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* schemasIn(item, `${place}/${index}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  yield [place, value];
  for (const [key, inner] of Object.entries(value))
    if (!key.startsWith('example')) yield* schemasIn(inner, `${place}/${key}`);
}

const operations = () => Object.values<Record<string, any>>(document.paths).flatMap((item) => Object.values(item));

describe('the OpenAPI document', () => {
  it('describes every operation, parameter, component and property', () => {
    const silent = [...schemasIn(document.components.schemas, '')].flatMap(([place, { properties = {} }]) =>
      Object.entries<any>(properties)
        .filter(([, property]) => !property.description)
        .map(([name]) => `${place}.${name}`),
    );
    expect(silent).toEqual([]);
    for (const [id, schema] of Object.entries<any>(document.components.schemas))
      expect([id, schema.description]).toEqual([id, expect.any(String)]);
    for (const { operationId, description, parameters = [] } of operations()) {
      expect([operationId, description]).toEqual([operationId, expect.stringMatching(/\w+ \w+/)]);
      for (const { name, description: text } of parameters)
        expect([operationId, name, text]).toEqual([operationId, name, expect.any(String)]);
    }
  });

  it('gives every object a name of its own', () => {
    const inline = [...schemasIn(document.components.schemas, ''), ...schemasIn(document.paths, 'paths')]
      .filter(([place, schema]) => schema.properties && !/^\/\w+$/.test(place))
      .map(([place]) => place);
    expect(inline).toEqual([]);
  });

  it('has neither patterns beside formats nor the range of every integer', () => {
    const text = JSON.stringify(document);
    expect(text).not.toContain(String(Number.MAX_SAFE_INTEGER));
    const repeated = [...schemasIn(document, '')].filter(
      ([, schema]) => schema.pattern !== undefined && ['uuid', 'date-time', 'email'].includes(schema.format ?? ''),
    );
    expect(repeated).toEqual([]);
  });

  it('names the values of a status, and only formats that validators know', () => {
    const statusOf = (path: string) =>
      document.paths[path].get.parameters.find(({ name }: { name: string }) => name === 'status').schema.enum;
    expect(statusOf('/campaigns')).toEqual(expect.arrayContaining(['DRAFT', 'SENT']));
    expect(statusOf('/workflows/{id}/executions')).toEqual(expect.arrayContaining(['RUNNING', 'FAILED']));
    const formats = new Set([...schemasIn(document, '')].map(([, { format }]) => format));
    expect([...formats].filter((format) => typeof format === 'string').sort()).toEqual(
      ['binary', 'date', 'date-time', 'email', 'uri', 'uuid'].filter((format) => formats.has(format)),
    );
  });

  it('says which bodies are required, and gives boolean parameters that type', () => {
    const optional = operations().filter(({ requestBody }) => requestBody && requestBody.required !== true);
    expect(optional.map(({ operationId }) => operationId)).toEqual([
      'exportContactsByBody',
      'sendCampaign',
      'retryFailedWorkflowExecutions',
      'rotateWebhookSecret',
    ]);
    const subscribed = document.paths['/contacts'].get.parameters.find(
      ({ name }: { name: string }) => name === 'subscribed',
    );
    expect(subscribed.schema).toEqual({ type: 'boolean' });
  });

  it('names the codes that come with a status, and no other', () => {
    const codes = (status: string) => {
      const { $ref } = document.paths['/v1/send'].post.responses[status].content['application/json'].schema;
      const { error } = document.components.schemas[$ref.split('/').at(-1)].properties;
      return document.components.schemas[error.$ref.split('/').at(-1)].properties.code.enum;
    };
    expect(codes('403')).toEqual(['PROJECT_DISABLED', 'ROLE_REFUSED', 'INTERNAL_SERVER_ERROR']);
    expect(codes('409')).toEqual(['CONFLICT', 'IDEMPOTENCY_KEY_REUSED']);
    expect(codes('422')).toEqual(['VALIDATION_ERROR']);
  });

  it('links an answer to the endpoint that reads the created record, as the Location header does', async () => {
    const { links, headers } = document.paths['/contacts'].post.responses['201'];
    expect(links.getContact.parameters).toEqual({ id: '$response.body#/id' });
    expect(headers.Location).toEqual({ $ref: '#/components/headers/Location' });
    const created = await app.api('POST', '/contacts', { body: { email: 'ada@mail.test' } });
    expect(created.headers.get('location')).toBe(`/contacts/${created.body.id}`);
    const again = await app.api('POST', '/contacts', { body: { email: 'ada@mail.test' } });
    expect([again.status, again.headers.get('location')]).toEqual([200, null]);
    const template = await app.api('POST', '/templates', {
      body: { name: 'T', subject: 'S', body: 'B', from: 'a@example.com' },
    });
    const copy = await app.api('POST', `${template.headers.get('location')}/duplicate`);
    expect(copy.headers.get('location')).toBe(`/templates/${copy.body.id}`);
    const workflow = await app.api('POST', '/workflows', { body: { name: 'W', eventName: 'e' } });
    const step = await app.api('POST', `/workflows/${workflow.body.id}/steps`, { body: { type: 'EXIT' } });
    expect(step.headers.get('location')).toBe(`/workflows/${workflow.body.id}/steps/${step.body.id}`);
    expect((await app.api('PATCH', step.headers.get('location') ?? '', { body: { name: 'End' } })).status).toBe(200);
  });
});
