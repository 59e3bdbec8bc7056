import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectRoot } from '../shared/platform/paths.ts';
import { LIMITS } from '../shared/pure/limits.ts';

const ROW = /^\| (\w+) \| ([\d,]+) \| /gm;

describe('docs/limits.md', () => {
  it('names every limit with its value, once', async () => {
    const page = await readFile(path.join(projectRoot, 'docs', 'limits.md'), 'utf8');
    const rows = [...page.matchAll(ROW)].map(([, name, value]) => [name, Number(value?.replaceAll(',', ''))]);
    const byName = (left: unknown[], right: unknown[]): number => (String(left[0]) < String(right[0]) ? -1 : 1);
    expect(rows.sort(byName)).toEqual(Object.entries(LIMITS).sort(byName));
  });
});
