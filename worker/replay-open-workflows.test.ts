import { expect, it } from '@jest/globals';
import { runNode } from '../tests/support/run-node.ts';

it('says in a sentence what its environment lacks', async () => {
  const { exitCode, output } = await runNode(['worker/replay-open-workflows.ts']);
  expect(exitCode).toBe(1);
  expect(output).toMatch(/^The configuration is not usable:\n/);
  expect(output).not.toMatch(/^ +at /m);
});
