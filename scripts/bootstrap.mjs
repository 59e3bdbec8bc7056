// Runs a TypeScript entry of this project with the right Node and the right dependencies, installing both when needed.
// This file uses nothing but Node's own modules and also runs on Node versions that are too old for the rest.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const projectRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const modules = path.join(projectRoot, 'node_modules');
const lockfile = path.join(projectRoot, 'package-lock.json');
const stampFile = path.join(modules, '.everpost-lock');
const ownNode = path.join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

function say(line) {
  process.stderr.write(`${line}\n`);
}

/** Ends this process with a message for people. */
function fail(message) {
  say(message);
  process.exit(1);
}

function isAtLeast(version, major, minor) {
  const [ownMajor, ownMinor] = version.replace(/^v/, '').split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}

function lockHash() {
  return createHash('sha256').update(readFileSync(lockfile)).digest('hex');
}

/** Whether node_modules holds what package-lock.json asks for, also when it was installed by hand. */
function isInstalled() {
  const hash = lockHash();
  try {
    if (readFileSync(stampFile, 'utf8').trim() === hash) return true;
  } catch {
    // No stamp: npm may have been run by hand.
  }
  let installed;
  try {
    installed = JSON.parse(readFileSync(path.join(modules, '.package-lock.json'), 'utf8')).packages;
  } catch {
    return false;
  }
  const wanted = Object.entries(JSON.parse(readFileSync(lockfile, 'utf8')).packages).filter(([name]) => name !== '');
  const isComplete = wanted.every(([name, { version, optional, peer }]) =>
    installed[name] ? installed[name].version === version : Boolean(optional || peer),
  );
  if (isComplete) writeFileSync(stampFile, `${hash}\n`);
  return isComplete;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Two commands started together must not both rewrite node_modules; the second waits for the first. */
async function withInstallLock(work) {
  // Not in the folder for temporary files, where any other user could hold the lock.
  const file = path.join(projectRoot, '.install-lock');
  let hasWaited = false;
  for (;;) {
    try {
      writeFileSync(file, `${process.pid}\n`, { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST')
        fail(`${file} cannot be written (${error.message}). Run this as the owner of ${projectRoot}.`);
    }
    let owner;
    let ageMs;
    try {
      owner = Number.parseInt(readFileSync(file, 'utf8'), 10);
      ageMs = Date.now() - statSync(file).mtimeMs;
    } catch (error) {
      if (error.code === 'ENOENT') continue;
      throw error;
    }
    // A lock without a process id was left by a crash.
    if (Number.isNaN(owner) ? ageMs > 5_000 : !isAlive(owner)) {
      rmSync(file, { force: true });
      continue;
    }
    if (!hasWaited) say('Another command is installing the dependencies, waiting for it');
    hasWaited = true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const release = () => rmSync(file, { force: true });
  process.on('exit', release);
  try {
    return await work();
  } finally {
    release();
    process.off('exit', release);
  }
}

async function install() {
  say('Installing dependencies with npm (once, usually one or two minutes)');
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  const ticker = setInterval(() => say(`  still installing (${seconds()} s)`), 15_000);
  // npm must not run on the Node below node_modules, which it is about to replace.
  const outside = (process.env.PATH || '')
    .split(path.delimiter)
    .filter((folder) => !path.resolve(folder).startsWith(modules));
  const args = ['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = spawn(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, {
    cwd: projectRoot,
    env: { ...process.env, PATH: outside.join(path.delimiter) },
    // Standard output belongs to the command that follows.
    stdio: ['ignore', 2, 'pipe'],
    shell: process.platform === 'win32',
  });
  let complaints = '';
  npm.stderr.setEncoding('utf8').on('data', (text) => (complaints += text));
  const stopNpm = (signal) => npm.kill(signal);
  for (const signal of signals) process.on(signal, stopNpm);
  const result = await new Promise((resolve) => {
    npm.once('error', (error) => resolve(error.code === 'ENOENT' ? 'npm was not found on the PATH' : error.message));
    npm.once('close', (code, signal) => resolve(code === 0 ? undefined : `npm ended with ${signal || `code ${code}`}`));
  });
  clearInterval(ticker);
  for (const signal of signals) process.off(signal, stopNpm);
  if (result !== undefined) {
    // npm adds pages of usage help to some errors; the reason is in its first lines.
    const reason = complaints
      .trim()
      .split('\n')
      .slice(0, 12)
      .map((line) => `  ${line}`)
      .join('\n');
    fail(
      `The dependencies could not be installed: ${result}.\n${reason}\nCheck these lines and the network, then run the command again.`,
    );
  }
  writeFileSync(stampFile, `${lockHash()}\n`);
  say(`Dependencies installed in ${seconds()} s`);
}

/** The Node to run the entry with: the one that npm installed, or else this one if it is new enough. */
function chooseNode() {
  if (existsSync(ownNode)) return ownNode;
  if (isAtLeast(process.version, 22, 17)) return process.execPath;
  return fail(
    `Everpost runs on Node 24, which npm normally brings as a dependency, but ${path.relative(projectRoot, ownNode)} is missing ` +
      'because npm did not run the install script of the package `node`. Run `npm rebuild node --ignore-scripts=false`, ' +
      'or install Node 24, and try again.',
  );
}

function run(node, entry, args) {
  const env = {
    // Node caches compiled files with their types stripped, which saves a third of the time of a start.
    NODE_COMPILE_CACHE: path.join(modules, '.cache', 'everpost', 'compiled'),
    ...process.env,
    EVERPOST_BOOTSTRAP_PID: String(process.pid),
  };
  if (node === process.execPath && !isAtLeast(process.version, 23, 6)) {
    const flags = '--experimental-strip-types --disable-warning=ExperimentalWarning';
    env.NODE_OPTIONS = env.NODE_OPTIONS ? `${env.NODE_OPTIONS} ${flags}` : flags;
  }
  const child = spawn(node, [path.resolve(projectRoot, entry), ...args], { cwd: projectRoot, env, stdio: 'inherit' });
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  for (const signal of signals) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the child as well; forwarding it would deliver it twice.
      if (signal !== 'SIGINT' || !hasTerminal) child.kill(signal);
    });
  }
  if (process.env.npm_lifecycle_event) {
    const parent = process.ppid;
    // When npm itself is killed nothing forwards a signal any more.
    setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 2_000).unref();
  }
  child.once('error', (error) => fail(`${node} could not be started: ${error.message}`));
  child.once('exit', (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
}

if (!isAtLeast(process.version, 20, 0)) {
  fail(`Everpost needs Node 20 or newer to start (it then brings its own Node 24), and this is ${process.version}.`);
}
const [entry, ...args] = process.argv.slice(2);
if (!entry) fail('Usage: node scripts/bootstrap.mjs <entry.ts> [arguments]');
if (!isInstalled()) {
  await withInstallLock(async () => {
    if (!isInstalled()) await install();
  });
}
run(chooseNode(), entry, args);
