/** Work with pauses, at each of which the driver may do other work. */
export type Steps<Result> = Generator<'pause', Result, unknown>;

/** The tags of a template between two pauses: a few milliseconds of work at most. */
export const TAGS_PER_STEP = 1_000;

/** Runs all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
