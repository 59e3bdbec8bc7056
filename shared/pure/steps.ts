/** Work with pauses, at each of which the driver may do other work. */
export type Steps<Result> = Generator<'pause', Result, unknown>;

/** Runs all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
