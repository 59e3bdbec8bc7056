import path from 'node:path';
import { formatBanner } from './banner.ts';
import { createLocalStack } from './local-stack.ts';
import { prepareFolder } from './home-files.ts';
import { localFilePath, readLocalApiUrl } from './local-project.ts';
import { everpostHome } from '../shared/platform/paths.ts';
import { startProcessGuard } from './processes/process-guard.ts';
import { claimSingleStart } from './processes/single-start.ts';

const home = everpostHome();
const startedAt = Date.now();

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function step(line: string): void {
  say(`  ${`${((Date.now() - startedAt) / 1000).toFixed(1)} s`.padStart(7)}  ${line}`);
}

const USAGE = `Usage: npm start

Runs PostgreSQL, Temporal, a mailbox, the API and a worker on this machine, and shows their addresses.
DATABASE_URL, TEMPORAL_ADDRESS and SMTP_URL name servers of yours in place of these; docs/configuration.md lists all variables.
Ctrl-C stops everything; the data stays in ${home}.`;

/** Resolves when the stack should stop: on a signal, or because the parent process is gone. */
function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
    const bootstrapPid = Number(process.env['EVERPOST_BOOTSTRAP_PID']);
    if (bootstrapPid !== process.ppid) return;
    setInterval(() => process.ppid !== bootstrapPid && resolve(), 1_000).unref();
  });
}

/** Runs the stack until it is told to stop or fails. Returns the exit code. */
async function main(): Promise<number> {
  const stopping = stopRequested().then(() => undefined);
  prepareFolder(home);
  say('Starting Everpost');
  const guard = startProcessGuard();
  const claim = await claimSingleStart(home, guard.pid, step);
  if ('runningPid' in claim) {
    say(`Everpost is already running in this folder (process ${claim.runningPid}). ${whereItRuns(claim.runningPid)}`);
    return 1;
  }
  const stack = createLocalStack({ home, env: process.env, guard, progress: step, onChildStarted: claim.remember });
  const running = stack.start().then(({ file, isTemporalLater }) => {
    say(formatBanner(file, path.relative(process.cwd(), localFilePath(home)), isTemporalLater));
    return new Promise<never>(() => undefined);
  }, couldNotStart);
  const failure = await Promise.race([stopping, stack.failed, running]);
  if (failure !== undefined) process.stderr.write(`\n${failure}\n`);
  say('Stopping Everpost');
  await stack.stop();
  claim.release();
  if (failure !== undefined) return 1;
  say('Everpost has stopped; its data stays in ' + home);
  return 0;
}

function couldNotStart(error: unknown): string {
  return `Everpost could not start. ${error instanceof Error ? error.message : String(error)}`;
}

function whereItRuns(pid: number): string {
  const apiUrl = readLocalApiUrl(home);
  if (apiUrl === undefined) return 'It is still starting.';
  return `Its API is at ${apiUrl}; stop it with Ctrl-C there, or with \`kill ${pid}\`, before starting another one.`;
}

// A closed terminal makes every further line fail, and the orderly stop must go on all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
const args = process.argv.slice(2);
if (args.length > 0) {
  const isHelp = args.includes('--help') || args.includes('-h');
  say(isHelp ? USAGE : `npm start takes no arguments, and was given ${args.join(' ')}.\n\n${USAGE}`);
  process.exit(isHelp ? 0 : 1);
}
const exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`\n${couldNotStart(error)}\n`);
  return 1;
});
process.exit(exitCode);
