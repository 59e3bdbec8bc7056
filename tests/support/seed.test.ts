import { afterAll, describe, expect, it } from '@jest/globals';
import { givenSeed, randomFrom, withSeed } from './seed.ts';

const original = process.env['FC_SEED'];
afterAll(() => {
  if (original === undefined) delete process.env['FC_SEED'];
  else process.env['FC_SEED'] = original;
});

describe('a seed', () => {
  it('is the value of FC_SEED', async () => {
    process.env['FC_SEED'] = '-1234';
    expect(givenSeed()).toBe(-1234);
    expect(await withSeed(async (seed) => seed)).toBe(-1234);
  });

  it('is drawn without FC_SEED', async () => {
    delete process.env['FC_SEED'];
    expect(givenSeed()).toBeUndefined();
    expect(await withSeed(async (seed) => seed)).toEqual(expect.any(Number));
  });

  it('is in the error of the work that used it', async () => {
    process.env['FC_SEED'] = '77';
    const cause = new Error('wrong');
    const failure = withSeed(() => Promise.reject(cause));
    await expect(failure).rejects.toMatchObject({ message: 'Failed with FC_SEED=77', cause });
  });

  it('repeats its numbers, all between 0 and 1', () => {
    const numbersOf = (seed: number) => {
      const random = randomFrom(seed);
      return Array.from({ length: 1_000 }, () => random());
    };
    expect(numbersOf(-5)).toEqual(numbersOf(-5));
    expect(numbersOf(1)).not.toEqual(numbersOf(2));
    expect(numbersOf(0).filter((number) => !(number > 0 && number < 1))).toEqual([]);
  });
});
