import { bulk } from '../proxies.ts';

/** Removes what is kept only for a while. Started daily by a schedule. */
export async function cleanUp(): Promise<void> {
  await bulk.cleanUp();
}
