import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import openapiTypeScript, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { projectRoot } from '../../shared/platform/paths.ts';
import { testConfig } from '../../tests/support/config.ts';
import { createEndpoints } from '../routes.ts';
import { createOpenApiDocument } from './openapi.ts';

const folder = mkdtempSync(path.join(projectRoot, 'node_modules', '.openapi-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a program would write that uses the types; each `@ts-expect-error` is a mistake that the compiler must see. */
const USER = `
import type { components, operations } from './types.ts';
type Body<Name extends keyof operations> = operations[Name] extends { requestBody: { content: { 'application/json': infer Body } } } ? Body : never;
type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;
export const mail: Body<'sendEmail'> = { to: [{ email: 'a@b.test', name: 'Ada' }], subject: 'Hi', body: '<p>Hi</p>' };
export const list: Query<'listContacts'> = { subscribed: true, limit: 10 };
export const pause: Body<'addWorkflowStep'> = { type: 'DELAY', config: { amount: 2, unit: 'days' }, position: { x: 0, y: 0 }, autoConnect: true };
export const code: components['schemas']['NotFoundError']['code'] = 'CONTACT_NOT_FOUND';
export function moveAudience(campaign: components['schemas']['Campaign']): components['schemas']['FilterCondition'] | null {
  return campaign.audienceCondition;
}
// @ts-expect-error a misspelt key of a config
export const misspelt: Body<'addWorkflowStep'> = { type: 'DELAY', config: { amout: 2, unit: 'days' } };
// @ts-expect-error a code that does not come with this status
export const wrong: components['schemas']['NotFoundError']['code'] = 'VALIDATION_ERROR';
// @ts-expect-error a body is required
export const none: operations['createTemplate']['requestBody'] = undefined;
`;

it('types generated from the document compile strictly and find mistakes', async () => {
  const document = createOpenApiDocument(createEndpoints(testConfig()), 'https://everpost.test');
  const nodes = await openapiTypeScript(document as unknown as OpenAPI3);
  writeFileSync(path.join(folder, 'types.ts'), astToString(nodes));
  writeFileSync(path.join(folder, 'user.ts'), USER);
  const program = ts.createProgram([path.join(folder, 'user.ts')], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    lib: ['lib.es2022.d.ts'],
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: [],
  });
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  expect(faults).toEqual([]);
}, 60_000);
