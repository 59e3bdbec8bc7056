import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
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

/** A command that runs as a process of its own, and can be killed. */
export interface StartedCommand {
  kill: () => void;
  /** Resolves when the process is gone; the exit code is null after a kill. */
  ended: Promise<{ exitCode: number | null; out: string; error: string }>;
  /** What it has said to people so far. */
  notes: () => string;
}

/** Starts an operator command. @param input what it reads from its standard input */
export function startCommand(
  args: string[],
  environment: NodeJS.ProcessEnv,
  { input = '', nodeArguments = [] }: { input?: string | Buffer; nodeArguments?: string[] } = {},
): StartedCommand {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const node = ['--disable-warning=ExperimentalWarning', ...nodeArguments, 'cli/main.ts', ...args];
  const child = spawn(process.execPath, node, { cwd: projectRoot, env: { PATH, NODE_COMPILE_CACHE, ...environment } });
  let notes = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (notes += piece));
  child.stdin.on('error', () => {}).end(input);
  const ended = Promise.all([once(child, 'close'), text(child.stdout)]);
  return {
    kill: () => void child.kill('SIGKILL'),
    ended: ended.then(([[code], out]) => ({ exitCode: code as number | null, out, error: notes })),
    notes: () => notes,
  };
}
