import { execFile } from 'node:child_process';
import { projectRoot } from '../../shared/platform/paths.ts';

export interface Ended {
  exitCode: number;
  /** Standard output, then standard error. */
  output: string;
}

const PATIENCE_MS = 120_000;

/** Runs Node in the project. Its environment has only PATH, the cache of compiled files and the given variables. */
export function runNode(args: string[], environment: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, ...environment };
    const options = { cwd: projectRoot, env, timeout: PATIENCE_MS };
    execFile(process.execPath, args, options, (error, out, err) => {
      resolve({ exitCode: error ? Number(error.code) : 0, output: (out + err).trim() });
    });
  });
}

/** Runs an operator command as a process of its own, so that it reads `TEMPORAL_*` from its environment. */
export function runCommand(args: string[], environment: NodeJS.ProcessEnv): Promise<Ended> {
  return runNode(['--disable-warning=ExperimentalWarning', 'cli/main.ts', ...args], environment);
}
