/** Stops what the set-up started and removes its files. */
export default async function globalTeardown(): Promise<void> {
  await globalThis.everpostTestStack?.stop();
}
