import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { projectRoot } from '../../shared/platform/paths.ts';
import { findFreePort } from './free-port.ts';

/** The port that another process chooses, which then ends. */
function portOfOther(preferred: number): number {
  const module = path.join(projectRoot, 'local/processes/free-port.ts');
  const program = `import { findFreePort } from '${module}'; console.log(await findFreePort(${preferred}));`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }));
}

it('gives a port that nobody listens on yet to one process only, until that process ends', async () => {
  const preferred = 21_300;
  const first = portOfOther(preferred);
  expect(portOfOther(preferred)).toBe(first);
  expect(await findFreePort(preferred)).toBe(first);
  expect(portOfOther(preferred)).toBeGreaterThan(first);
  expect(await findFreePort(preferred)).toBeGreaterThan(first);
});
