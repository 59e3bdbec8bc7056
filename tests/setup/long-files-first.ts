import { createRequire } from 'node:module';
import path from 'node:path';
import { projectRoot } from '../../shared/platform/paths.ts';
import type * as testSequencer from '@jest/test-sequencer';

const load = createRequire(import.meta.url);
const { default: TestSequencer } = load('@jest/test-sequencer') as (typeof testSequencer)['default'];
type Tests = Parameters<InstanceType<typeof TestSequencer>['sort']>[0];

/**
 * The rooms whose files go first. Tests of workflows make many contexts of V8, which takes a process that has run much
 * else several times as long. Those of whole processes wait for kills, outages and time-outs.
 */
const FIRST = ['workflows', 'tests'];
const placeOf = (file: string): number => {
  const place = FIRST.indexOf(path.relative(projectRoot, file).split(path.sep)[0] ?? '');
  return place === -1 ? FIRST.length : place;
};

/**
 * Starts the long files first, so that none of them is alone at the end. Jest knows how long a file took the last time;
 * in a fresh clone it knows nothing and starts with the largest file, which is rarely the longest.
 */
export default class LongFilesFirst extends TestSequencer {
  override sort(tests: Tests): Tests {
    const sorted = super.sort(tests) as Tests;
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    return sorted.toSorted((a, b) => placeOf(a.path) - placeOf(b.path));
  }
}
