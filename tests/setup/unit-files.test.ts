import path from 'node:path';
import { expect, it } from '@jest/globals';
import { projectRoot } from '../../shared/platform/paths.ts';
import { unitTestFiles } from './unit-files.ts';

const files = unitTestFiles().map((file) => path.relative(projectRoot, file));

it.each(['shared/pure/', 'shared/sending/', 'tests/setup/unit-files.test.ts'])(
  'the tests of %s are among those that need no server',
  (folder) => {
    expect(files.some((file) => file.startsWith(folder))).toBe(true);
  },
);

it.each([
  ['a database', 'shared/domain/schema/orm.test.ts'],
  ['an API with workers', 'tests/campaigns.test.ts'],
  ['another process', 'local/processes/supervisor.test.ts'],
  ['a browser', 'tests/console.test.ts'],
])('a test that starts %s is not', (_what, file) => {
  expect(files).not.toContain(file);
});
