import { givenSeed } from '../support/seed.ts';

// A property that fails prints its seed; with `FC_SEED` every property begins with that one.
const seed = givenSeed();
if (seed !== undefined) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed });
}
