import { describe, expect, it } from '@jest/globals';
import { testConfig } from '../../tests/support/config.ts';
import { standalone } from '../../tests/support/fuzz/judge.ts';
import type { JsonSchema, OpenApiDocument } from '../../tests/support/fuzz/json-schema.ts';
import { createEndpoints } from '../routes.ts';
import { readApiExamples } from './examples.ts';
import { createOpenApiDocument } from './openapi.ts';

const recorded = readApiExamples();
const document: any = createOpenApiDocument(createEndpoints(testConfig()), 'https://everpost.test', recorded);
const operations = [document.paths, document.webhooks]
  .flatMap((items) => Object.values<object>(items))
  .flatMap((item) => Object.values<any>(item))
  .map((operation) => [operation.operationId as string, operation] as const);

/** Each content of an operation: what is asked, and what is answered when it works. */
function contentsOf({ requestBody, responses }: any): [place: string, type: string, content: any][] {
  const parts = [['request', requestBody] as const, ...Object.entries<any>(responses)];
  return parts.flatMap(([place, part]) =>
    Object.entries<any>(part?.content ?? {}).map(([type, content]): [string, string, any] => [place, type, content]),
  );
}

describe('the examples of', () => {
  it.each(operations)('%s are there for what is asked and answered, and are as its schemas say', (_id, operation) => {
    for (const [place, type, { schema, examples = {} }] of contentsOf(operation)) {
      if (Number(place) < 400 || place === 'request') {
        expect([place, type, Object.keys(examples).length]).not.toEqual([place, type, 0]);
      }
      for (const { value } of Object.values<{ value: unknown }>(examples)) {
        const judged = standalone(document as OpenApiDocument, schema as JsonSchema).safeParse(value);
        expect([place, judged.error?.issues ?? []]).toEqual([place, []]);
      }
    }
    for (const { in: place, name, example } of operation.parameters ?? []) {
      if (place === 'path') expect([name, example]).toEqual([name, expect.anything()]);
    }
  });
});

describe('the properties', () => {
  it('with one possible value have no other example', () => {
    const wrong = Object.entries<any>(document.components.schemas).flatMap(([id, { properties = {} }]) =>
      Object.entries<any>(properties)
        .filter(([, { const: only, examples = [] }]) => only !== undefined && examples.some((one: any) => one !== only))
        .map(([name]) => `${id}.${name}`),
    );
    expect(wrong).toEqual([]);
  });

  const isNamed = (schema: any): boolean =>
    schema.$ref !== undefined ||
    [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])].some(isNamed);
  const isClosed = ({ const: constant, enum: values }: any) => constant !== undefined || values !== undefined;

  it('have each an example, a list of values, or a schema whose properties have', () => {
    const silent = Object.entries<any>(document.components.schemas).flatMap(([id, { properties = {} }]) =>
      Object.entries<any>(properties)
        .filter(([, property]) => !property.examples && !isNamed(property) && !isClosed(property))
        .map(([name]) => `${id}.${name}`),
    );
    expect(silent).toEqual([]);
  });
});

describe('the recorded file', () => {
  const text = JSON.stringify(recorded);

  it('names no operation that is gone', () => {
    const ids = operations.map(([id]) => id);
    expect(Object.keys(recorded).filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('holds no key, no address of the machine and no id of a run', () => {
    expect(text.match(/\b[sp]k_(?!0123456789abcdef|wrong)\w+/g)).toBeNull();
    expect(text).not.toContain('127.0.0.1');
    const ids = text.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g) ?? [];
    expect(ids.filter((id) => !id.startsWith('0198c0de-'))).toEqual([]);
  });
});
