import type { ChildProcess } from 'node:child_process';

export interface HelperResult {
  /** Exit code; null when the program could not be started or was ended by a signal. */
  code: number | null;
  /** Everything it wrote. */
  output: string;
}

/**
 * Waits for a helper program to end, and collects its output. Kills it after `timeoutMs`, if given, and when this
 * process exits first.
 */
export async function runToEnd(child: ChildProcess, timeoutMs?: number): Promise<HelperResult> {
  const kill = (): void => void child.kill('SIGKILL');
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
  process.off('exit', kill);
  clearTimeout(timer);
  return { code, output };
}
