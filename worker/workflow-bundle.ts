import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import { projectRoot } from '../shared/platform/paths.ts';
import { FAILURE_CONVERTER_PATH, PLAIN_FAILURE_CONVERTER_PATH } from '../shared/platform/temporal-codec.ts';

/** Bundles that are kept: two per version, with and without the payload codec. */
const KEPT_BUNDLES = 4;
const FOLDER = path.join(projectRoot, 'node_modules', '.cache', 'everpost');

/** The path of the bundle for the payload codec, beside the bundle at `bundlePath`. */
export function encodingBundlePath(bundlePath: string): string {
  return bundlePath.replace(/(?:\.js)?$/, '.codec.js');
}

/** Bundles all workflows. With `isEncoding` they encode failures, as the payload codec requires. */
export async function bundleWorkflows(isEncoding: boolean): Promise<string> {
  const ignore = (): void => undefined;
  const { code } = await bundleWorkflowCode({
    workflowsPath: path.join(projectRoot, 'workflows', 'index.ts'),
    workflowInterceptorModules: [path.join(projectRoot, 'workflows', 'tracing.ts')],
    logger: { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore, log: ignore },
    failureConverterPath: isEncoding ? FAILURE_CONVERTER_PATH : PLAIN_FAILURE_CONVERTER_PATH,
  });
  return code;
}

/**
 * Returns the bundle of the workflows. It is made when `folder` has none of the same sources and libraries, because
 * bundling takes longer than everything else at the start of a worker. If the folder cannot be written, the bundle
 * stays in memory.
 */
export async function cachedWorkflowBundle(isEncoding: boolean, folder = FOLDER): Promise<WorkflowBundleOption> {
  const file = path.join(folder, `workflows-${sourceHash()}.js`);
  const codePath = isEncoding ? encodingBundlePath(file) : file;
  if (existsSync(codePath)) return { codePath };
  const code = await bundleWorkflows(isEncoding);
  const unfinished = `${codePath}.${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(unfinished, code);
    renameSync(unfinished, codePath);
    removeOldBundles(folder);
    return { codePath };
  } catch {
    return { code };
  }
}

/**
 * A hash of everything that a bundle is made from. Workflows import nothing but these folders and the packages of the
 * lock file.
 */
function sourceHash(): string {
  const hash = createHash('sha256');
  const add = (file: string) => hash.update(`${file}\0`).update(readFileSync(path.join(projectRoot, file)));
  // The production image has no lock file, and a prebuilt bundle.
  for (const file of ['package.json', 'package-lock.json']) {
    if (existsSync(path.join(projectRoot, file))) add(file);
  }
  for (const file of [FAILURE_CONVERTER_PATH, PLAIN_FAILURE_CONVERTER_PATH]) add(path.relative(projectRoot, file));
  for (const folder of ['workflows', 'shared/pure']) {
    const files = readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')).sort()) {
      add(path.join(folder, file));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function removeOldBundles(folder: string): void {
  const bundles = readdirSync(folder)
    .filter((name) => name.startsWith('workflows-'))
    .map((name) => path.join(folder, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const bundle of bundles.slice(KEPT_BUNDLES)) rmSync(bundle, { force: true });
}
