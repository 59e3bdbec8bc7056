import { randomInt } from 'node:crypto';

/** The seed that `FC_SEED` gives back in; undefined when the run is to draw its own. */
export function givenSeed(): number | undefined {
  const seed = process.env['FC_SEED'];
  return seed === undefined ? undefined : Number(seed);
}

/** Does work that draws from a seed; an error of it names the seed. */
export async function withSeed<T>(work: (seed: number) => Promise<T>): Promise<T> {
  const seed = givenSeed() ?? randomInt(2 ** 31);
  try {
    return await work(seed);
  } catch (error) {
    throw new Error(`Failed with FC_SEED=${seed}`, { cause: error });
  }
}

/** A row of numbers between 0 and 1 that a seed repeats (Park and Miller). */
export function randomFrom(seed: number): () => number {
  let state = (Math.abs(seed) % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
