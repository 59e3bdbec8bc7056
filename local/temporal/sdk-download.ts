import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { runToEnd } from '../processes/helper-process.ts';
import { projectRoot } from '../../shared/platform/paths.ts';
import { isExecutable } from './program-search.ts';

export type SdkServer = 'dev-server' | 'time-skipping';

/**
 * Lets the Temporal SDK download one of its test servers and moves the program to `destination`.
 * Resolves to false when nothing usable arrived within `timeoutMs`.
 */
export async function downloadThroughSdk(
  server: SdkServer,
  destination: string,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  mkdirSync(path.dirname(destination), { recursive: true });
  const folder = mkdtempSync(`${destination}.download-`);
  try {
    // The SDK can neither cancel nor bound a download, so it runs in a process that can be ended.
    const child = spawn(
      process.execPath,
      [path.join(projectRoot, 'local', 'temporal', 'sdk-download-main.ts'), server, folder],
      {
        cwd: projectRoot,
        stdio: 'ignore',
        detached: signal !== undefined,
      },
    );
    const { code } = await runToEnd(child, timeoutMs, signal);
    if (code !== 0) return false;
    const program = readdirSync(folder)
      .map((name) => path.join(folder, name))
      .find(isExecutable);
    if (!program) return false;
    chmodSync(program, 0o755);
    renameSync(program, destination);
    return true;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
