import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { projectRoot } from '../shared/platform/paths.ts';

const jest = path.join(path.dirname(createRequire(import.meta.url).resolve('jest/package.json')), 'bin', 'jest.js');
const env: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_OPTIONS: [process.env['NODE_OPTIONS'], '--disable-warning=ExperimentalWarning'].filter(Boolean).join(' '),
};
// With this variable, workflows run in one thread and without a limit on the time of a task.
delete env['TEMPORAL_DEBUG'];

const [, , ...args] = process.argv;
const config = args.includes('--config') ? [] : ['--config', path.join(projectRoot, 'jest.config.js')];

// With its usual space for new objects, V8 copies much that tests need only for a moment.
const run = ['--min-semi-space-size=32', '--max-semi-space-size=32', jest, ...config, ...args];
const child = spawn(process.execPath, run, { cwd: projectRoot, env, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // The terminal sends Ctrl-C to the whole group, so Jest has it already.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
child.once('exit', (code, signal) => {
  process.exitCode = signal ? 1 : (code ?? 1);
});
