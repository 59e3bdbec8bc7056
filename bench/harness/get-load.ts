import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchContext } from './contract.ts';
import type { GetLoadResult } from './get-load-main.ts';

export interface GetLoad {
  /** Unique in a bench; also the name of the log file. */
  name: string;
  url: string;
  /** Used up in order, one request each; the load ends with them. */
  paths: readonly string[];
  /** The first path to use. */
  first: number;
  connections: number;
  durationMs: number;
  /** Sent as a bearer token. */
  key?: string;
}

/** Gets paths from a process of its own. @throws Error when any reply was neither 200 nor 302 */
export async function sendGetLoad(context: BenchContext, { name, paths, ...load }: GetLoad): Promise<GetLoadResult> {
  const pathsFile = path.join(context.home, `${name}.txt`);
  writeFileSync(pathsFile, paths.join('\n'));
  const running = await context.startNode({
    name: `load-${name}`,
    entry: 'bench/harness/get-load-main.ts',
    args: [JSON.stringify({ ...load, pathsFile })],
  });
  const line = await running.line((text) => text.startsWith('{'), load.durationMs + 60_000);
  await running.exited;
  const result = JSON.parse(line) as GetLoadResult;
  if (Object.keys(result.statuses).some((status) => status !== '200' && status !== '302')) {
    throw new Error(`${name} answered ${JSON.stringify(result.statuses)}`);
  }
  return result;
}
