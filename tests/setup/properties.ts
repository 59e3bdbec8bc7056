import './checked-rows.ts';
import { givenSeed } from '../support/seed.ts';

// A property that fails prints its seed. With `FC_SEED` every property uses that seed.
const seed = givenSeed();
if (seed !== undefined) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed });
}
