import { createRequire } from 'node:module';
import path from 'node:path';
import { projectRoot } from '../../shared/platform/paths.ts';
import type * as testSequencer from '@jest/test-sequencer';

const load = createRequire(import.meta.url);
const { default: TestSequencer } = load('@jest/test-sequencer') as (typeof testSequencer)['default'];
type Tests = Parameters<InstanceType<typeof TestSequencer>['sort']>[0];

/** Tests of whole processes. Most of them wait for kills, outages and time-outs. */
const WHOLE = path.join(projectRoot, 'tests') + path.sep;
const isWhole = (file: string): number => Number(file.startsWith(WHOLE));

/**
 * Starts the long files first, so that none of them is alone at the end. Jest knows how long a file took the last time;
 * in a fresh clone it knows nothing and starts with the largest file, which is rarely the longest.
 */
export default class LongFilesFirst extends TestSequencer {
  override sort(tests: Tests): Tests {
    const sorted = super.sort(tests) as Tests;
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    return sorted.toSorted((a, b) => isWhole(b.path) - isWhole(a.path));
  }
}
