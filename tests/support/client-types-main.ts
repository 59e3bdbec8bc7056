import { readFileSync, writeFileSync } from 'node:fs';
import { withRoleTable } from '../../api/reference/role-table.ts';
import { createEndpoints } from '../../api/routes.ts';
import {
  CLIENT_METHODS_FILE,
  CLIENT_TYPES_FILE,
  describeClientMethods,
  describeClientTypes,
  ROLES_PAGE,
} from './client-types.ts';
import { testConfig } from './config.ts';

writeFileSync(CLIENT_TYPES_FILE, await describeClientTypes());
writeFileSync(CLIENT_METHODS_FILE, describeClientMethods());
writeFileSync(ROLES_PAGE, withRoleTable(readFileSync(ROLES_PAGE, 'utf8'), createEndpoints(testConfig())));
