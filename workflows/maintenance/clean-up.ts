import { bulk } from '../proxies.ts';

/** Removes expired rows. Started daily by a schedule. */
export async function cleanUp(): Promise<void> {
  await bulk.cleanUp();
}
