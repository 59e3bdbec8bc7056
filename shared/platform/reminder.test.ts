import { expect, it } from '@jest/globals';
import { eventually } from '../../tests/support/eventually.ts';
import { createReminder } from './reminder.ts';

it('a thing is said the first time and not again within the time, and other things are said all the same', () => {
  const isDue = createReminder();
  expect(['a', 'a', 'b', 'a', 'b'].map(isDue)).toEqual([true, false, true, false, false]);
});

it('a thing that goes on is said again after the time', async () => {
  const isDue = createReminder(20);
  expect([isDue('a'), isDue('a')]).toEqual([true, false]);
  await eventually(async () => isDue('a'));
});

it('many different things take no more memory than a hundred', () => {
  const isDue = createReminder();
  for (let n = 0; n < 100; n++) isDue(`thing ${n}`);
  expect([isDue('thing 0'), isDue('one more'), isDue('thing 0')]).toEqual([false, true, true]);
});
