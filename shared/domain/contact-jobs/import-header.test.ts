import { expect, it } from '@jest/globals';
import { readWhole } from '../../../tests/support/import-rows.ts';
import { readColumnMapping } from './import-header.ts';

it('a column may say who agrees to tracking', async () => {
  const cells = 'a@x.test,yes\nb@x.test,0\nc@x.test\nd@x.test,perhaps';
  for (const [header, ...map] of [['TrackingAllowed'], ['Opens', 'Opens:trackingallowed']]) {
    const mappings = map.map((each) => readColumnMapping(each)!);
    const { rows } = await readWhole(Buffer.from(`email,${header}\n${cells}`), mappings);
    const said = rows.map((row) => (row && 'error' in row ? row.error : row?.trackingAllowed));
    expect(said).toEqual([true, false, undefined, expect.stringContaining('"trackingAllowed" that is neither true')]);
  }
});
