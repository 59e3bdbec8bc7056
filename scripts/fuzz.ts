import { spawn } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../shared/platform/paths.ts';

/** Runs the fuzz test of the declared endpoints with any number of runs: `npm run fuzz -- --runs 20000 --seed 7`. */
const USAGE = 'Usage: npm run fuzz -- [--runs 20000] [--seed <number>]';

const { values } = readOptions();

const script = path.join(projectRoot, 'scripts', 'test.ts');
const env = { ...process.env, FUZZ_RUNS: values.runs, ...(values.seed !== undefined && { FC_SEED: values.seed }) };
const child = spawn(process.execPath, [script, 'tests/fuzz-endpoints'], { env, stdio: 'inherit' });
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});

function readOptions() {
  try {
    return parseArgs({ options: { runs: { type: 'string', default: '20000' }, seed: { type: 'string' } } });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
    process.exit(1);
  }
}
