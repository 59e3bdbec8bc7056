import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startProcessGuard } from '../local/processes/process-guard.ts';
import type { Bench, BenchContext, BenchResult } from './harness/contract.ts';
import { createProcessMeter } from './harness/process-meter.ts';
import { createProcesses } from './harness/processes.ts';
import { startSink } from './harness/sink.ts';
import { startStack } from './harness/stack.ts';

/** Modules are loaded on demand, because one run of this program runs one bench. */
const BENCHES: Record<string, () => Promise<{ bench: Bench }>> = {
  activity: () => import('./activity.ts'),
  automations: () => import('./automations.ts'),
  campaign: () => import('./campaign.ts'),
  costs: () => import('./costs.ts'),
  emails: () => import('./emails.ts'),
  export: () => import('./export.ts'),
  history: () => import('./history.ts'),
  import: () => import('./import.ts'),
  isolation: () => import('./isolation.ts'),
  model: () => import('./model.ts'),
  mx: () => import('./mx.ts'),
  refusals: () => import('./refusals.ts'),
  shaping: () => import('./shaping.ts'),
  segments: () => import('./segments.ts'),
  send: () => import('./send.ts'),
  start: () => import('./start.ts'),
  submission: () => import('./submission.ts'),
  traces: () => import('./traces.ts'),
  track: () => import('./track.ts'),
  tracking: () => import('./tracking.ts'),
  webhooks: () => import('./webhooks.ts'),
};

const COMMON_OPTIONS = {
  json: { type: 'boolean' },
  help: { type: 'boolean' },
  /** Keep CPU profiles of the API, the worker and the sink in this folder. */
  profile: { type: 'string' },
} as const;

/** The longest run. `history` takes most of this to fill a database with years of data. */
const DURATION_MS_MAX = 120 * 60_000;
const startedAt = Date.now();

function progress(line: string): void {
  process.stderr.write(`${`${((Date.now() - startedAt) / 1000).toFixed(1)} s`.padStart(8)}  ${line}\n`);
}

async function usage(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(BENCHES).map(async ([name, load]) => {
      const { bench } = await load();
      const options = Object.entries(bench.options ?? {}).map(([option, { type, default: value }]) =>
        type === 'boolean'
          ? `[--${option}]`
          : `[--${option} ${value === undefined || value === '' ? '…' : String(value)}]`,
      );
      return [
        `  ${name.padEnd(12)} ${bench.description}`,
        ...(options.length > 0 ? [`${' '.repeat(15)}${options.join(' ')}`] : []),
      ];
    }),
  );
  return ['Usage: npm run bench -- <name> [--json] [--profile <folder>] [options]', '', ...lines.flat(), ''].join('\n');
}

function describe(result: BenchResult): string {
  const { name, figure, unit, limit, ratio, ...details } = result;
  const compared = limit === null ? '' : `, limit ${limit.toLocaleString('en')} ${unit}, ratio ${ratio ?? '-'}`;
  const lines = Object.entries(details).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`);
  return [`${name}: ${figure.toLocaleString('en')} ${unit}${compared}`, ...lines, ''].join('\n');
}

async function runBench(name: string, bench: Bench, args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { ...COMMON_OPTIONS, ...bench.options }, strict: true });
  const home = mkdtempSync(path.join(os.tmpdir(), `everpost-bench-${name}-`));
  const guard = startProcessGuard();
  guard.removeAfterwards(home);
  const logs = path.join(home, 'logs');
  mkdirSync(logs);
  const profiles = values.profile === undefined ? undefined : path.resolve(values.profile);
  const processes = createProcesses({ logs, guard, profiles });
  const cleanUps: (() => Promise<void>)[] = [];
  const onEnd = (cleanUp: () => Promise<void>): void => void cleanUps.unshift(cleanUp);

  const text = (option: string): string => {
    const value = (values as Record<string, unknown>)[option];
    if (typeof value !== 'string') throw new Error(`--${option} needs a value.`);
    return value;
  };
  const context: BenchContext = {
    text,
    number(option) {
      const value = Number(text(option));
      if (!Number.isFinite(value)) throw new Error(`--${option} must be a number.`);
      return value;
    },
    flag: (option) => (values as Record<string, unknown>)[option] === true,
    home,
    progress,
    startStack(options = {}) {
      const folder = path.join(home, options.folder ?? '');
      mkdirSync(folder, { recursive: true });
      return startStack(options, { home: folder, guard, processes, progress, onEnd });
    },
    startSink: (kind = 'own') => startSink(kind, processes),
    startNode: (spec) => processes.startNode(spec),
    meter: createProcessMeter(),
    onEnd,
  };

  const stopped = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
    }
    setTimeout(() => reject(new Error('it took too long')), DURATION_MS_MAX).unref();
  });
  let exitCode = 0;
  try {
    const result = await Promise.race([bench.run(context), stopped]);
    process.stdout.write(values.json ? `${JSON.stringify(result)}\n` : describe(result));
  } catch (error) {
    progress(`The bench failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    exitCode = 1;
  }
  progress('Cleaning up');
  for (const cleanUp of cleanUps) await cleanUp().catch((error: unknown) => progress(String(error)));
  await processes.stopAll();
  rmSync(home, { recursive: true, force: true });
  return exitCode;
}

async function main(): Promise<number> {
  const [name, ...args] = process.argv.slice(2);
  const load = name === undefined ? undefined : BENCHES[name];
  if (name === undefined || !load || args.includes('--help')) {
    process.stderr.write(await usage());
    return name === undefined || load ? 0 : 2;
  }
  return runBench(name, (await load()).bench, args);
}

process.exit(await main());
