import { spawn } from 'node:child_process';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { projectRoot } from '../shared/platform/paths.ts';

interface Check {
  name: string;
  /** The program, as a path from the root of the project. */
  program: string;
  args: string[];
  /** How to repair a complaint of the tool, or what it means; may be empty. */
  hint: string;
  /** It only prints something. */
  isReport?: true;
}

const LAYERS = [
  'api',
  'worker',
  'workflows',
  'activities',
  'shared',
  'cli',
  'clients/typescript/src',
  'local',
  'bench',
  'scripts',
  'tests',
];
const DEPENDENCY_CRUISER = 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs';

/** The longest comes first. */
const CHECKS: Check[] = [
  {
    name: 'lint',
    program: 'node_modules/eslint/bin/eslint.js',
    // A clean clone has no cache, so CI checks every file.
    args: ['--max-warnings', '0', '--cache', '--cache-location', 'node_modules/.cache/eslint/', '.'],
    hint: 'npx eslint --fix . repairs some of it',
  },
  {
    name: 'format',
    program: 'node_modules/prettier/bin/prettier.cjs',
    args: ['--check', '--log-level', 'warn', '.'],
    hint: 'npx prettier --write . repairs it',
  },
  { name: 'types', program: 'node_modules/typescript/bin/tsc', args: ['--noEmit', '--pretty', 'false'], hint: '' },
  {
    name: 'console types',
    program: 'node_modules/typescript/bin/tsc',
    args: ['--pretty', 'false', '--project', 'api/console/web'],
    hint: 'the modules of the console are typed by comments and by the schemas of the API',
  },
  {
    name: 'client types',
    program: 'node_modules/typescript/bin/tsc',
    args: ['--noEmit', '--pretty', 'false', '--project', 'clients/typescript'],
    hint: 'the client may use only Web APIs',
  },
  {
    name: 'layers',
    program: DEPENDENCY_CRUISER,
    args: ['--config', '.dependency-cruiser.cjs', '--output-type', 'err-long', ...LAYERS],
    hint: 'the rules and their reasons are in .dependency-cruiser.cjs',
  },
  {
    name: 'floors',
    program: DEPENDENCY_CRUISER,
    args: ['--config', 'scripts/domain-floors.cjs', '--output-type', 'err-long', 'shared'],
    hint: 'a folder of shared/domain, shared/sending and shared/durable may use lower floors only',
  },
  {
    name: 'workflow reach',
    program: DEPENDENCY_CRUISER,
    args: ['--config', 'scripts/workflow-reach.cjs', '--output-type', 'err-long', 'workflows'],
    hint: 'workflows may load only shared/pure and @temporalio/workflow',
  },
  {
    name: 'openapi',
    program: 'tests/support/lint-openapi-main.ts',
    args: [],
    hint: 'api/reference makes the document from the declarations of the endpoints',
  },
  {
    name: 'dead code',
    program: 'node_modules/knip/bin/knip.js',
    args: ['--no-progress', '--no-config-hints'],
    hint: '',
  },
  { name: 'size', program: 'scripts/size.ts', args: [], hint: '', isReport: true },
];

/** Runs one check. */
async function run({ program, args }: Check): Promise<{ seconds: string; output: string; hasFailed: boolean }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [path.join(projectRoot, program), ...args], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const seconds = `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  return { seconds, output: output.trim() || `ended with code ${String(code)}`, hasFailed: code !== 0 };
}

const wanted = process.argv.slice(2).map((word) => word.replaceAll('-', ' '));
const unknown = wanted.filter((word) => !CHECKS.some(({ name }) => name === word));
if (unknown.length > 0) {
  console.error(`There is no check ${unknown.join(', ')}. They are: ${CHECKS.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}
const chosen = CHECKS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
/** Each check uses little more than one core, so two run at a time. */
const LANES = 2;
async function runChecks(): Promise<void> {
  for (let check = chosen.shift(); check; check = chosen.shift()) {
    const { seconds, output, hasFailed } = await run(check);
    console.log(`${hasFailed ? 'FAILED' : 'ok    '} ${check.name} (${seconds})`);
    if (hasFailed || check.isReport) console.log(output);
    if (!hasFailed) continue;
    process.exitCode = 1;
    if (check.hint) console.log(`-> ${check.hint}`);
  }
}
await Promise.all(Array.from({ length: LANES }, runChecks));
