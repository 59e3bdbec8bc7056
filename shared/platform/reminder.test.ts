import { expect, it } from '@jest/globals';
import { eventually } from '../../tests/support/eventually.ts';
import { createReminder } from './reminder.ts';

it('an occurrence is logged once within the time, and other occurrences do not count', () => {
  const isDue = createReminder();
  expect(['a', 'a', 'b', 'a', 'b'].map(isDue)).toEqual([true, false, true, false, false]);
});

it('an occurrence that goes on is logged again after the time', async () => {
  const isDue = createReminder(20);
  expect([isDue('a'), isDue('a')]).toEqual([true, false]);
  await eventually(async () => isDue('a'));
});

it('no more than a hundred different occurrences are remembered', () => {
  const isDue = createReminder();
  for (let n = 0; n < 100; n++) isDue(`thing ${n}`);
  expect([isDue('thing 0'), isDue('one more'), isDue('thing 0')]).toEqual([false, true, true]);
});
