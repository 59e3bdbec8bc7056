import type { ParseArgsOptionDescriptor } from 'node:util';
import type { Progress } from '../../local/progress.ts';
import type { ProcessMeter } from './process-meter.ts';
import type { NodeProcess, NodeProcessSpec } from './processes.ts';
import type { Sink, SinkKind } from './sink.ts';
import type { BenchStack, BenchStackOptions } from './stack.ts';

/** The result of a bench. With `--json` it is the last line on standard output. */
export interface BenchResult {
  name: string;
  /** What was measured. */
  figure: number;
  /** Unit of `figure` and `limit`, for example `emails/s`. */
  unit: string;
  /** The most that the machine can do, measured in the same run; null when nothing was compared. */
  limit: number | null;
  /** `figure / limit`, where more is better. */
  ratio: number | null;
  /** Further figures, with the unit in their names. */
  [detail: string]: unknown;
}

/** One bench: `bench/<name>.ts` exports it as `bench`, and `bench/main.ts` lists it. */
export interface Bench {
  /** One line for the list of benches. */
  description: string;
  /** Command-line options as `parseArgs` of `node:util` takes them; numbers are of type string. */
  options?: Record<string, ParseArgsOptionDescriptor>;
  run: (context: BenchContext) => Promise<BenchResult>;
}

/** What a bench works with. Everything started through it is stopped and deleted afterwards, however the bench ends. */
export interface BenchContext {
  /** An option of type string as a number. @throws Error when it is none */
  number: (option: string) => number;
  /** An option of type string. @throws Error when it has neither a value nor a default */
  text: (option: string) => string;
  /** An option of type boolean. */
  flag: (option: string) => boolean;
  /** A folder of its own that is deleted afterwards. */
  home: string;
  /** Reports progress on standard error. */
  progress: Progress;
  /** PostgreSQL (durable), Temporal, migrations, a project, and, unless told otherwise, the API and one worker. */
  startStack: (options?: BenchStackOptions) => Promise<BenchStack>;
  /** An SMTP server in a process of its own that throws mail away and counts it. */
  startSink: (kind?: SinkKind) => Promise<Sink>;
  /** One of this project's programs in a process of its own. */
  startNode: (spec: NodeProcessSpec) => Promise<NodeProcess>;
  /** CPU time and memory of processes started here. */
  meter: ProcessMeter;
  /** Runs at the end, last registered first, before the processes are stopped. */
  onEnd: (cleanUp: () => Promise<void>) => void;
}

/** Rounds to `digits` decimal places. */
export function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}

/** The `share` (0 to 1) quantile of numbers, by nearest rank; NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}
