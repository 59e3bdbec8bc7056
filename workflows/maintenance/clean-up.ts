import { bulk } from '../proxies.ts';

/** Removes expired rows. A schedule starts it daily. */
export async function cleanUp(): Promise<void> {
  await bulk.cleanUp();
}
