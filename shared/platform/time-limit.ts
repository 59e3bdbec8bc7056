/**
 * Waits for `work`, for at most `ms` milliseconds. Returns its result, or the result of `late` when it takes longer.
 * The work itself goes on, and its result is dropped.
 * @throws the error of `work`, or of `late`
 */
export async function withTimeLimit<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work, timeout.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
