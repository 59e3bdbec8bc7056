import { expect, it } from '@jest/globals';
import { version } from 'uuid';
import { uuidV7 } from './uuid.ts';

it('makes UUIDs of version 7, each greater than the one before, and none twice', () => {
  const made = Array.from({ length: 20_000 }, uuidV7);
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
  expect(made.every((uuid) => version(uuid) === 7)).toBe(true);
  expect(new Set(made.map((uuid) => uuid.slice(-8))).size).toBeGreaterThan(made.length - 10);
});

it('goes on upwards when the clock goes back', () => {
  const before = uuidV7();
  const { now } = Date;
  Date.now = () => 0;
  try {
    expect(uuidV7() > before).toBe(true);
  } finally {
    Date.now = now;
  }
});
