import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { FAILURE_CONVERTER_PATH } from '../shared/platform/temporal-codec.ts';
import { encodingBundlePath, workflowsPath } from './create-worker.ts';

const [target] = process.argv.slice(2);
if (target === undefined) {
  process.stderr.write('usage: node worker/bundle-workflows.ts <file>\n');
  process.exit(1);
}
await mkdir(dirname(target), { recursive: true });
// One for each state of the payload codec: what workflows do with failures is part of the bundle.
for (const [file, options] of [
  [target, {}],
  [encodingBundlePath(target), { failureConverterPath: FAILURE_CONVERTER_PATH }],
] as const) {
  const { code } = await bundleWorkflowCode({ workflowsPath: workflowsPath(), ...options });
  await writeFile(file, code);
}
