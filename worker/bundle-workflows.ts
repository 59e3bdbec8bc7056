import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bundleWorkflows, encodingBundlePath } from './workflow-bundle.ts';

const [target] = process.argv.slice(2);
if (target === undefined) {
  process.stderr.write('usage: node worker/bundle-workflows.ts <file>\n');
  process.exit(1);
}
await mkdir(dirname(target), { recursive: true });
// One bundle without the payload codec, and one with it.
await writeFile(target, await bundleWorkflows(false));
await writeFile(encodingBundlePath(target), await bundleWorkflows(true));
