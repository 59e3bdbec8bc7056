import { afterEach } from '@jest/globals';

type CleanUp = () => Promise<unknown>;

/** Call it at the top of a file. The returned function adds a clean-up after the current test; the last runs first. */
export function useCleanUps(): (...added: CleanUp[]) => void {
  const cleanUps: CleanUp[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });
  return (...added) => void cleanUps.push(...added);
}
