import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { InvalidArgumentError, type Command } from 'commander';
import { GRPC, hasStatus } from '../shared/durable/temporal/client.ts';
import { listBuilds, makeBuildCurrent, queuesWithoutBuild, type WorkerBuild } from './temporal/worker-builds.ts';
import { ConfigError } from '../shared/platform/config.ts';
import { addCommand, type CliContext } from './context.ts';

const POLL_MS = 1_000;

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds < 0) throw new InvalidArgumentError('It must be a number of seconds.');
  return seconds;
}

function requireVariable(context: CliContext, variable: 'WORKER_DEPLOYMENT' | 'WORKER_BUILD_ID'): string {
  const value = context.environment()[variable];
  if (value) return value;
  throw new ConfigError(`${variable} is required. Set it to the value that the workers have.`);
}

/** Makes a build current. @returns the reason why that is not possible yet; undefined when it is done */
async function tryMakeCurrent(client: Client, version: WorkerDeploymentVersion): Promise<Error | undefined> {
  const missing = await queuesWithoutBuild(client, version);
  if (missing.length > 0) {
    return new Error(`Nothing was changed: no worker of build ${version.buildId} polls ${missing.join(', ')}.`);
  }
  try {
    await makeBuildCurrent(client, version);
    return undefined;
  } catch (error) {
    // Temporal refuses until it has recorded the queues of the build, some seconds after the first poll of its workers.
    if (error instanceof Error && hasStatus(error, GRPC.failedPrecondition)) return error;
    throw error;
  }
}

/** Makes a build current as soon as its workers poll every queue. @throws Error with the reason when time is up */
async function makeCurrent(client: Client, version: WorkerDeploymentVersion, seconds: number): Promise<void> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    const reason = await tryMakeCurrent(client, version);
    if (reason === undefined) return;
    if (Date.now() >= deadline) throw reason;
    await sleep(POLL_MS);
  }
}

function describeBuild({ buildId, isCurrent, pinnedWorkflows }: WorkerBuild): string {
  const open = pinnedWorkflows === 1 ? '1 open workflow is' : `${pinnedWorkflows} open workflows are`;
  if (isCurrent) return `${buildId}: current`;
  return `${buildId}: ${pinnedWorkflows === 0 ? 'drained, its workers may go' : `${open} pinned to it`}`;
}

/** `deploy list | current | drained`: the builds of workers, and the one that gets new work. */
export function addDeployCommands(program: Command, context: CliContext): void {
  const deploy = program.command('deploy').description('Versions of workers, where WORKER_DEPLOYMENT names them');

  addCommand(
    deploy,
    'list',
    'List the builds of workers, and the open workflows that are pinned to each',
    'reads',
  ).action(async (_options: object, command: Command) => {
    const deployment = requireVariable(context, 'WORKER_DEPLOYMENT');
    const builds = await context.withTemporal((client) => listBuilds(client, deployment));
    const text = builds.map(describeBuild).join('\n') || `No worker of ${deployment} has ever polled.`;
    context.answer(command, { deployment, builds }, text);
  });

  addCommand(
    deploy,
    'current [buildId]',
    'Make a build current, so that new workflows begin on it; WORKER_BUILD_ID when left out',
  )
    .option('--wait <seconds>', 'how long to wait until its workers poll every task queue', parseSeconds, 0)
    .action(async (named: string | undefined, { wait }: { wait: number }, command: Command) => {
      const deploymentName = requireVariable(context, 'WORKER_DEPLOYMENT');
      const buildId = named ?? requireVariable(context, 'WORKER_BUILD_ID');
      await context.withTemporal((client) => makeCurrent(client, { deploymentName, buildId }, wait));
      context.answer(command, { deployment: deploymentName, buildId }, `Build ${buildId} is current.`);
    });

  addCommand(
    deploy,
    'drained <buildId>',
    'Exit with 0 when the workers of a build can be stopped, otherwise with 1',
  ).action(async (buildId: string, _options: object, command: Command) => {
    const deployment = requireVariable(context, 'WORKER_DEPLOYMENT');
    const builds = await context.withTemporal((client) => listBuilds(client, deployment));
    const build = builds.find((each) => each.buildId === buildId);
    if (build?.isCurrent) throw new Error(`Build ${buildId} is current.`);
    if (build && build.pinnedWorkflows > 0) throw new Error(describeBuild(build));
    context.answer(command, { deployment, buildId, drained: true }, `Build ${buildId} is drained.`);
  });
}
