import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { testConfig } from '../../tests/support/config.ts';
import { ROLES_PAGE } from '../../tests/support/client-types.ts';
import { withRoleTable } from '../reference/role-table.ts';
import { createEndpoints } from '../routes.ts';
import { effectOf, keyKindOf, rolesOf } from './endpoint.ts';

const endpoints = createEndpoints(testConfig());
const table = endpoints.map((definition) => [definition.operationId, definition] as const);

describe.each(table)('the roles of %s', (_id, definition) => {
  it('let a key for reading read, and nothing else', () => {
    const isRead = keyKindOf(definition) === 'secret' && effectOf(definition) === 'reads';
    // Each key ends itself.
    expect(rolesOf(definition).includes('read')).toBe(isRead || definition.operationId === 'endKey');
  });

  it('let a key with everything call it, unless it takes the public key', () => {
    expect(rolesOf(definition)[0]).toBe(keyKindOf(definition) === 'secret' ? 'full' : 'track');
    expect(new Set(rolesOf(definition)).size).toBe(rolesOf(definition).length);
  });
});

it('the table in the docs is that of the declarations (`npm run client-types` writes it)', async () => {
  const page = await readFile(ROLES_PAGE, 'utf8');
  expect(page).toBe(withRoleTable(page, endpoints));
});
