import type { ChildProcess } from 'node:child_process';
import { sendSignal } from './running-process.ts';

export interface HelperResult {
  /** Exit code; null when the program could not be started or was ended by a signal. */
  code: number | null;
  /** Everything it wrote. */
  output: string;
}

/**
 * Waits for a helper program to end, and collects its output. Kills it after `timeoutMs`, if given, and when this
 * process exits first. With a signal, which kills it when it is aborted, it must lead a process group of its own
 * (`detached`): what it has started is killed with it.
 */
export async function runToEnd(child: ChildProcess, timeoutMs?: number, signal?: AbortSignal): Promise<HelperResult> {
  const kill = (): void => {
    if (child.pid === undefined) return;
    if (signal) sendSignal(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  };
  signal?.addEventListener('abort', kill);
  if (signal?.aborted) kill();
  const timer = timeoutMs === undefined ? undefined : setTimeout(kill, timeoutMs);
  process.on('exit', kill);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
    child.once('error', () => resolve(null));
  });
  signal?.removeEventListener('abort', kill);
  process.off('exit', kill);
  clearTimeout(timer);
  return { code, output };
}
