/**
 * The result of `work`, or that of `late` when it takes longer than `ms`. The work itself goes on, and its result is dropped.
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
