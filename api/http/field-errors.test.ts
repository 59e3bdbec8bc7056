import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { readConfig } from '../../shared/platform/config.ts';
import { STEP_CONFIGS } from '../../shared/pure/automations/automation-config.ts';
import { filterConditionSchema } from '../../shared/pure/filters/filter-condition.ts';
import { CHECKS } from '../../shared/pure/schema-messages.ts';
import { createEndpoints } from '../routes.ts';
import { sendBodySchema } from '../send/send.schemas.ts';
import { templateListQuery } from '../templates/templates.schemas.ts';
import { fieldErrorsOf } from './field-errors.ts';

function faultsOf(schema: z.ZodType, input: unknown) {
  const { error } = schema.safeParse(input, CHECKS);
  return error ? fieldErrorsOf(error).map(({ field, message, received }) => [field, message, received]) : [];
}

const environment = { DATABASE_URL: 'postgres://a@b/c', APP_SECRET: 'a secret of at least 32 characters' };
const WRONG = [undefined, null, '', 'x', 'x'.repeat(100_001), -1, 1.5, 1e300, true, [], [1], {}, { x: 1 }];

/** Inputs that are wrong as a whole, and in each field. */
function* wrongInputs(schema: z.ZodType): Generator {
  yield* WRONG;
  const keys = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  for (const key of keys) for (const value of WRONG) yield { [key]: value };
}

describe('the faults of a request', () => {
  const send = sendBodySchema({ attachmentsBytesMax: 1_000, headersAllowed: [] });
  const right = { to: 'ada@mail.test', from: 'hello@shop.example', subject: 'S', body: 'B' };

  it('name an address with a display name once, and say where the name belongs', () => {
    const faults = faultsOf(send, { ...right, from: 'Shop <hello@shop.example>' });
    expect(faults).toEqual([['from', expect.stringContaining('{ "name": "Shop", "email":'), expect.any(String)]]);
    expect(faultsOf(send, { ...right, from: 'nobody' })).toEqual([['from', 'Invalid email address', 'nobody']]);
  });

  it('show no long text, which may be a whole body', () => {
    const [fault] = faultsOf(send, { ...right, from: 'x'.repeat(201) });
    expect(fault).toEqual(['from', expect.any(String), undefined]);
  });

  it('say that a template is named by its id', () => {
    expect(faultsOf(send, { ...right, template: 'welcome' })).toEqual([
      ['template', 'Must be the id of a template (a UUID)', 'welcome'],
    ]);
  });

  it('show the form of a condition to somebody who has written a single filter', () => {
    const faults = faultsOf(filterConditionSchema, { field: 'email', operator: 'exists' });
    expect(faults[0]).toEqual([
      'logic',
      expect.stringContaining('{ "logic": "AND", "groups": [{ "filters":'),
      undefined,
    ]);
    expect(faults[1]).toEqual(['groups', 'Required', undefined]);
  });

  it('mention neither undefined nor NaN', () => {
    expect(faultsOf(templateListQuery, { page: 'abc' })).toEqual([['page', 'Must be a number', undefined]]);
    expect(faultsOf(send, {})).toEqual([['to', 'Required', undefined]]);
    expect(() => readConfig({ ...environment, PUBLIC_URL: 'http://a.test', PORT: 'abc' })).toThrow(
      'PORT: Must be a number',
    );
  });

  it('are in plain words at every endpoint and every type of step', () => {
    const endpoints = createEndpoints(readConfig(environment));
    const schemas = endpoints.flatMap(({ body, query, params }) =>
      [body, query, params].filter((it) => it !== undefined),
    );
    const messages = [...schemas, ...Object.values(STEP_CONFIGS)].flatMap((schema) =>
      [...wrongInputs(schema)].flatMap((input) => faultsOf(schema, input).map(([, message]) => message)),
    );
    expect(new Set(messages).size).toBeGreaterThan(50);
    const ofMachines = /, received|expected|Invalid input|Too (?:small|big)|undefined|NaN|[<>]=|one of the documented/;
    expect([...new Set(messages)].filter((message) => ofMachines.test(String(message)))).toEqual([]);
  });
});
