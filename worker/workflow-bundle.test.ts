import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WORKFLOW_TYPES } from '../shared/pure/workflow-contracts.ts';
import { cachedWorkflowBundle } from './workflow-bundle.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'everpost-bundles-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function bundlePath(isEncoding: boolean, where = folder): Promise<string> {
  const bundle = await cachedWorkflowBundle(isEncoding, where);
  if (!('codePath' in bundle)) throw new Error('The bundle is not in a file.');
  return bundle.codePath;
}

describe('the bundle of the workflows', () => {
  it('is made once for the same sources, with and without the payload codec', async () => {
    const plain = await bundlePath(false);
    // Not `toContain`: a failure would print megabytes.
    expect(readFileSync(plain, 'utf8').includes(WORKFLOW_TYPES.emailDelivery)).toBe(true);
    writeFileSync(plain, 'made before');
    expect(await bundlePath(false)).toBe(plain);
    expect(readFileSync(plain, 'utf8')).toBe('made before');
    const encoding = await bundlePath(true);
    expect(readFileSync(encoding, 'utf8').includes('temporal-failure-converter')).toBe(true);
    expect(readdirSync(folder).sort()).toEqual([plain, encoding].map((file) => path.basename(file)).sort());
  }, 60_000);

  it('stays in memory when its folder cannot be written', async () => {
    const file = path.join(folder, 'a-file');
    writeFileSync(file, '');
    const bundle = await cachedWorkflowBundle(false, file);
    expect('code' in bundle && bundle.code.includes(WORKFLOW_TYPES.emailDelivery)).toBe(true);
  }, 60_000);
});
