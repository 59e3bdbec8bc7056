import { expect, it } from '@jest/globals';
import { SendingSlots, SlotOfAttempt } from './sending-slots.ts';

it('a slot is waited for until one is given back or lent, or the wait is over', async () => {
  const slots = new SendingSlots(1);
  const { signal } = new AbortController();
  expect([slots.take(), slots.take()]).toEqual([true, false]);
  let taken = 0;
  const [first, second] = [slots.wait(signal), slots.wait(signal)];
  for (const wait of [first, second]) void wait.then(() => (taken += 1));
  await new Promise(setImmediate);
  expect(taken).toBe(0);
  slots.give();
  await new Promise(setImmediate);
  expect(taken).toBe(1);
  const takeBack = slots.lend();
  await Promise.all([first, second]);
  takeBack();
  const stop = new AbortController();
  const third = slots.wait(stop.signal);
  stop.abort(new Error('the worker stops'));
  await expect(third).rejects.toThrow('the worker stops');
  // Two activities run in one slot.
  slots.give();
  expect(slots.take()).toBe(false);
  slots.give();
  expect(slots.take()).toBe(true);
});

it('no more than a hundred slots are lent', () => {
  const slots = new SendingSlots(1);
  for (let n = 0; n < 101; n += 1) {
    expect(slots.take()).toBe(true);
    slots.lend();
  }
  expect(slots.take()).toBe(false);
});

it('an attempt lends its slot once while all of its lanes wait', () => {
  const slots = new SendingSlots(1);
  slots.take();
  const slot = new SlotOfAttempt(slots);
  slot.note(2, 0);
  slot.note(0, 1);
  expect(slots.take()).toBe(false);
  slot.note(-1, 0);
  expect([slots.take(), slots.take()]).toEqual([true, false]);
  slot.note(0, -1);
  slots.give();
  expect(slots.take()).toBe(false);
  slot.note(-1, 0);
  expect(slots.take()).toBe(false);
});
