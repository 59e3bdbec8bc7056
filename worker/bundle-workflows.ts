import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { workflowsPath } from './create-worker.ts';

const [target] = process.argv.slice(2);
if (target === undefined) {
  process.stderr.write('usage: node worker/bundle-workflows.ts <file>\n');
  process.exit(1);
}
const { code } = await bundleWorkflowCode({ workflowsPath: workflowsPath() });
await mkdir(dirname(target), { recursive: true });
await writeFile(target, code);
