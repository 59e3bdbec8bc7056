import type fc from 'fast-check';

/**
 * Parameters of a property, with the seed of `FC_SEED` when it is set: a failed run prints its own, and this repeats it.
 */
export function fuzzParameters<T>(parameters: fc.Parameters<T>): fc.Parameters<T> {
  const seed = process.env['FC_SEED'];
  return seed === undefined ? parameters : { ...parameters, seed: Number(seed) };
}
