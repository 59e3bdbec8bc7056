import { randomInt } from 'node:crypto';

/** The seed in `FC_SEED`; undefined when the run draws its own. */
export function givenSeed(): number | undefined {
  const seed = process.env['FC_SEED'];
  return seed === undefined ? undefined : Number(seed);
}

/** Runs work with a seed. An error of the work gets the seed in its message. */
export async function withSeed<T>(work: (seed: number) => Promise<T>): Promise<T> {
  const seed = givenSeed() ?? randomInt(2 ** 31);
  try {
    return await work(seed);
  } catch (error) {
    throw new Error(`Failed with FC_SEED=${seed}`, { cause: error });
  }
}

/** A generator of numbers between 0 and 1, the same for the same seed (Park and Miller). */
export function randomFrom(seed: number): () => number {
  let state = (Math.abs(seed) % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
