import { createRequire } from 'node:module';
import path from 'node:path';
import { projectRoot } from '../../shared/platform/paths.ts';
import type * as testSequencer from '@jest/test-sequencer';

const load = createRequire(import.meta.url);
const { default: TestSequencer } = load('@jest/test-sequencer') as (typeof testSequencer)['default'];
type Tests = Parameters<InstanceType<typeof TestSequencer>['sort']>[0];

/** The test files that take longest: they wait for kills and outages, whatever their size. */
const LONGEST =
  /[/\\]tests[/\\](?:(?:shaping-)?kills|deliverability|held-mail|outages|project-move|warm-up|webhook-failures|worker-builds)\.test\.ts$/;
/**
 * The folders whose test files start next. Tests of workflows create many contexts of V8, which takes several times as
 * long in a process that has run many other files. End-to-end tests wait for time-outs.
 */
const FIRST_FOLDERS = ['workflows', 'tests'];
const rankOf = (file: string): number => {
  if (LONGEST.test(file)) return -1;
  const rank = FIRST_FOLDERS.indexOf(path.relative(projectRoot, file).split(path.sep)[0] ?? '');
  return rank === -1 ? FIRST_FOLDERS.length : rank;
};

/**
 * Starts the long files first, so that none of them runs alone at the end. Jest knows how long each file took the last
 * time. In a new clone it does not, and would start with the largest file, which rarely takes longest.
 */
export default class LongFilesFirst extends TestSequencer {
  override sort(tests: Tests): Tests {
    const sorted = super.sort(tests) as Tests;
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    return sorted.toSorted((a, b) => rankOf(a.path) - rankOf(b.path));
  }
}
