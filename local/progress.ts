/** Tells the person at the terminal about the progress, one line a call. */
export type Progress = (line: string) => void;

/** Runs `work` and says every `everyMs` milliseconds that it is still alive and for how long it has been going on. */
export async function keepSayingAlive<T>(
  progress: Progress,
  what: string,
  everyMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  const timer = setInterval(
    () => progress(`${what}: still working (${Math.round((Date.now() - startedAt) / 1000)} s)`),
    everyMs,
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
