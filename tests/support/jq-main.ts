// Stands in for `jq` in the blocks of the docs, because tests need nothing but Node and npm. It answers what the docs
// use: `jq -r <path> [file]`, with a path such as `.data.emails[0].email`.
import { readFileSync } from 'node:fs';

const [option, filter = '', file = '/dev/stdin'] = process.argv.slice(2);
if (option !== '-r' || !/^(?:\.?\[\d+\]|\.\w+)+$/.test(filter)) {
  throw new Error(`the stand-in for jq knows only "jq -r <path> [file]", not ${process.argv.slice(2).join(' ')}`);
}
let value = JSON.parse(readFileSync(file, 'utf8')) as unknown;
for (const step of filter.match(/\w+/g) ?? []) value = (value as Record<string, unknown> | undefined)?.[step];
if (value === undefined || value === null) throw new Error(`the answer has nothing at ${filter}`);
process.stdout.write(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`);
