import { spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { withFileLock } from '../processes/file-lock.ts';
import { runToEnd } from '../processes/helper-process.ts';
import { cacheDirectory } from '../../shared/platform/paths.ts';
import { answers, findOnPath, isExecutable } from './program-search.ts';
import { keepSayingAlive, type Progress } from '../progress.ts';
import { downloadThroughSdk } from './sdk-download.ts';

const goModule = 'github.com/temporalio/cli/cmd/temporal@v1.5.1';
const downloadTimeoutMs = 120_000;

function cachedCli(): string {
  return path.join(cacheDirectory(), 'bin', process.platform === 'win32' ? 'temporal.exe' : 'temporal');
}

/**
 * Finds the Temporal CLI, whose dev server the local stack and the tests run: at TEMPORAL_CLI_PATH, on the PATH or in
 * the cache. @throws when TEMPORAL_CLI_PATH names no program
 */
export async function findTemporalCli(): Promise<string | undefined> {
  const named = process.env['TEMPORAL_CLI_PATH'];
  if (named) {
    if (!isExecutable(named)) throw new Error(`TEMPORAL_CLI_PATH names ${named}, which is not an executable file.`);
    return path.resolve(named);
  }
  const onPath = findOnPath('temporal');
  if (onPath && (await answers(onPath, ['server', 'start-dev', '--help']))) return onPath;
  const cached = cachedCli();
  return isExecutable(cached) ? cached : undefined;
}

/**
 * Downloads the Temporal CLI or builds it with Go, for the cache. Rejects with the ways to provide it.
 * @param signal ends the work and its processes
 */
export async function fetchTemporalCli(progress: Progress, signal?: AbortSignal): Promise<string> {
  const cached = cachedCli();
  return withFileLock(
    `${cached}.lock`,
    () => progress('Temporal: another process is fetching it, waiting'),
    async () => {
      for (const provide of [download, buildWithGo]) {
        signal?.throwIfAborted();
        if (isExecutable(cached) || (await provide(cached, progress, signal))) return cached;
      }
      signal?.throwIfAborted();
      throw new Error(howToProvide(cached));
    },
  );
}

/** Finds the Temporal CLI, or fetches it. */
export async function resolveTemporalCli(progress: Progress): Promise<string> {
  return (await findTemporalCli()) ?? (await fetchTemporalCli(progress));
}

async function download(destination: string, progress: Progress, signal?: AbortSignal): Promise<boolean> {
  progress('Temporal: downloading the CLI (once, about 100 MB)');
  const isDownloaded = await keepSayingAlive(progress, 'Temporal: download', 15_000, () =>
    downloadThroughSdk('dev-server', destination, downloadTimeoutMs, signal),
  );
  if (!isDownloaded && !signal?.aborted) progress('Temporal: the download host could not be reached');
  return isDownloaded;
}

async function buildWithGo(destination: string, progress: Progress, signal?: AbortSignal): Promise<boolean> {
  const go = findOnPath('go');
  if (!go) return false;
  progress('Temporal: building the CLI with Go instead (once, about 5 minutes on 2 cores)');
  const binDirectory = `${destination}.go-build`;
  mkdirSync(binDirectory, { recursive: true });
  try {
    const { code, output } = await keepSayingAlive(progress, 'Temporal: build', 20_000, () => {
      const env = { ...process.env, GOBIN: binDirectory };
      const detached = signal !== undefined;
      const build = spawn(go, ['install', goModule], {
        cwd: binDirectory,
        env,
        detached,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      return runToEnd(build, undefined, signal);
    });
    const built = path.join(binDirectory, path.basename(destination));
    if (code === 0 && isExecutable(built)) {
      renameSync(built, destination);
      return true;
    }
    if (signal?.aborted) return false;
    progress(`Temporal: the build failed:\n${output.trim().split('\n').slice(-10).join('\n')}`);
    return false;
  } finally {
    rmSync(binDirectory, { recursive: true, force: true });
  }
}

function howToProvide(cached: string): string {
  return [
    'No Temporal server could be found, downloaded or built. One of these helps:',
    '  - install the Temporal CLI (https://docs.temporal.io/cli) so that `temporal` is on the PATH;',
    '  - set TEMPORAL_CLI_PATH to the program, or put it at ' + cached + ';',
    `  - install Go 1.24 or newer; it is then built with \`go install ${goModule}\`;`,
    '  - set TEMPORAL_ADDRESS to a Temporal server that already runs (for `npm start`).',
  ].join('\n');
}
