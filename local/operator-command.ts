import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from '../shared/platform/paths.ts';

const run = promisify(execFile);

/** Runs operator commands with one environment. */
export type OperatorCommands = (args: readonly string[]) => Promise<unknown>;

/**
 * Returns a function that runs `everpost <args> --json` and resolves to the JSON value it prints.
 * It rejects with what the command said on failure; a command under way is killed when `signal` is aborted.
 */
export function createOperatorCommands(env: NodeJS.ProcessEnv, signal: AbortSignal): OperatorCommands {
  return (args) => runOperatorCommand(args, env, signal);
}

async function runOperatorCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<unknown> {
  const entry = path.join(projectRoot, 'cli', 'main.ts');
  try {
    const { stdout } = await run(process.execPath, [entry, ...args, '--json'], {
      cwd: projectRoot,
      env,
      maxBuffer: 16 * 1024 * 1024,
      timeout: 180_000,
      signal,
      killSignal: 'SIGKILL',
    });
    return JSON.parse(stdout);
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim();
    throw new Error(`\`everpost ${args.join(' ')}\` failed: ${said || (error as Error).message}`, { cause: error });
  }
}
