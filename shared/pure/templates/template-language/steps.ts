/** Work on a template in pieces: whoever drives it may let others have a turn at each pause. */
export type Steps<Result> = Generator<'pause', Result, unknown>;

/** Tags that are looked at in one piece, a few milliseconds of work at most. */
export const TAGS_PER_STEP = 1_000;

/** Does all pieces at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
