import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * The start of a spare process: it loads the modules of the program that is its argument, which takes most of the time
 * of a start, and runs the program when it is told to over the IPC channel.
 */
const IMPORTED = /^import [^;]*?'([^']+)';$/gm;

const program = process.argv[2] ?? '';
const url = pathToFileURL(program);
for (const [, name = ''] of readFileSync(program, 'utf8').matchAll(IMPORTED)) {
  await import(name.startsWith('.') ? new URL(name, url).href : name);
}
// Another module that listens may let the process end meanwhile.
process.channel?.ref();
await once(process, 'message');
process.channel?.unref();
await import(url.href);
