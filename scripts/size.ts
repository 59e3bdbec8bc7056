import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../shared/platform/paths.ts';

/**
 * Prints the size of the rooms: files and lines that people write, without tests, benches and clients. It
 * judges nothing.
 */

const ROOMS = [
  'api',
  'worker',
  'workflows',
  'activities',
  ...['pure', 'platform', 'database', 'sending', 'durable', 'domain'].map((room) => `shared/${room}`),
  'cli',
  'local',
];
const SOURCE = /\.(ts|mjs|cjs)$/;
const TEST = /\.test\.ts$/;
/** Written by a command. */
const GENERATED = new Set(['shared/database/tables.ts']);

interface Size {
  files: number;
  lines: number;
}

function sizeOf(room: string): Size {
  const files = readdirSync(path.join(projectRoot, room), { recursive: true, encoding: 'utf8' })
    .map((file) => path.posix.join(room, file.replaceAll(path.sep, '/')))
    .filter((file) => SOURCE.test(file) && !TEST.test(file) && !GENERATED.has(file));
  const lines = files.map((file) => readFileSync(path.join(projectRoot, file), 'utf8').split('\n').length - 1);
  return { files: files.length, lines: lines.reduce((sum, each) => sum + each, 0) };
}

function line(name: string, { files, lines }: Size): string {
  return `${name.padEnd(18)}${String(files).padStart(6)} files${lines.toLocaleString('en').padStart(9)} lines`;
}

const sizes = ROOMS.map((room) => [room, sizeOf(room)] as const);
const total = sizes.reduce((sum, [, { files, lines }]) => ({ files: sum.files + files, lines: sum.lines + lines }), {
  files: 0,
  lines: 0,
});
console.log([...sizes.map(([room, size]) => line(room, size)), line('together', total)].join('\n'));
