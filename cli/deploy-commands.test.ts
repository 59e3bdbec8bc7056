import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runCommand } from '../tests/support/cli.ts';
import { createTestNamespace, type TestNamespace } from '../tests/support/temporal.ts';

let temporal: TestNamespace;
beforeAll(async () => {
  temporal = await createTestNamespace();
});
afterAll(() => temporal.close());

const deploy = (environment: NodeJS.ProcessEnv, ...args: string[]) =>
  runCommand(['deploy', ...args], {
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    TEMPORAL_ADDRESS: temporal.connectionOptions.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    ...environment,
  });

const named = { WORKER_DEPLOYMENT: 'everpost' };

it('everpost deploy requires the name of the deployment and a build', async () => {
  const refusal = (variable: string) => ({
    exitCode: 1,
    out: '',
    error: `${variable} is required. Set it to the value that the workers have.\n`,
  });
  expect(await deploy({}, 'list')).toEqual(refusal('WORKER_DEPLOYMENT'));
  expect(await deploy(named, 'current')).toEqual(refusal('WORKER_BUILD_ID'));
});

it('everpost deploy current refuses a build that has no workers', async () => {
  const { exitCode, error } = await deploy(named, 'current', '1.4.0');
  expect(exitCode).toBe(1);
  expect(error).toMatch(/^Nothing was changed: no worker of build 1\.4\.0 polls everpost-orchestration, /);
});

it('everpost deploy lists no builds before a worker has polled, and calls an unknown build drained', async () => {
  expect(await deploy(named, 'list')).toMatchObject({ exitCode: 0, out: 'No worker of everpost has ever polled.\n' });
  expect(await deploy(named, 'drained', '1.4.0')).toMatchObject({ exitCode: 0, out: 'Build 1.4.0 is drained.\n' });
});
