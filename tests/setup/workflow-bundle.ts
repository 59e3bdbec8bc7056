import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../shared/platform/paths.ts';

const keptBundles = 3;

/**
 * Bundles workflows/index.ts as a worker would and returns the path of the bundle.
 * One made from the same sources is used again.
 */
export async function bundleWorkflows(): Promise<string> {
  const workflowsPath = path.join(projectRoot, 'workflows', 'index.ts');
  if (!existsSync(workflowsPath)) throw new Error('workflows/index.ts does not exist.');
  const folder = path.join(projectRoot, 'node_modules', '.cache', 'everpost');
  const bundle = path.join(folder, `workflows-${sourceHash()}.js`);
  if (existsSync(bundle)) return bundle;

  const { bundleWorkflowCode } = await import('@temporalio/worker');
  const ignore = (): void => undefined;
  const logger = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore, log: ignore };
  const { code } = await bundleWorkflowCode({ workflowsPath, logger });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${bundle}.${process.pid}`, code);
  renameSync(`${bundle}.${process.pid}`, bundle);
  removeOldBundles(folder);
  return bundle;
}

function sourceHash(): string {
  const hash = createHash('sha256').update(readFileSync(path.join(projectRoot, 'package-lock.json')));
  for (const room of ['workflows', 'shared/pure']) {
    const files = readdirSync(path.join(projectRoot, room), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort()) {
      hash.update(`${room}/${file}\0`).update(readFileSync(path.join(projectRoot, room, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function removeOldBundles(folder: string): void {
  const bundles = readdirSync(folder)
    .filter((name) => name.startsWith('workflows-'))
    .map((name) => path.join(folder, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const bundle of bundles.slice(keptBundles)) rmSync(bundle, { force: true });
}
