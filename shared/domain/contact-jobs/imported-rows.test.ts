import { expect, it } from '@jest/globals';
import { readWhole } from '../../../tests/support/import-rows.ts';
import { checkImportFile } from './import-file.ts';

it('a file is read from any of its rows on, so many at a time, and the last row counts for all', async () => {
  const addresses = ['a', 'b', 'nobody', 'c', 'd', 'e'].map((name) => (name === 'nobody' ? name : `${name}@x.test`));
  const file = await checkImportFile(
    Buffer.from(`email,status,n\n${addresses.map((each) => `${each},,\n`).join('')}b@x.test,unsubscribed,5\n`),
  );
  expect([file.total, file.firstValues]).toMatchObject([7, { n: 5 }]);
  const groups: unknown[] = [];
  for await (const rows of file.rowsFrom(1, 3)) groups.push(rows.map((row) => row && [row.row, row.email]));
  expect(groups).toEqual([
    [
      [3, 'b@x.test'],
      [4, 'nobody'],
      [5, 'c@x.test'],
    ],
    [
      [6, 'd@x.test'],
      [7, 'e@x.test'],
      [8, 'b@x.test'],
    ],
  ]);
  const { value: first } = await file.rowsFrom(1, 1).next();
  expect(first).toMatchObject([{ email: 'b@x.test', subscribed: false, hasLeft: true }]);
});

it('the first 100 refused rows are described, and the others counted', async () => {
  const { rows } = await readWhole(Buffer.from(`email\n${'nonsense\n'.repeat(150)}`));
  expect(rows).toHaveLength(150);
  expect(rows.filter((row) => row !== null)).toHaveLength(100);
});
