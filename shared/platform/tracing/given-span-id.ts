/** The id of the span that is being started, if somebody else has chosen it. */
let given: string | undefined;

/** Runs `start` so that the span it starts gets this id: others have been told of the span already. */
export function withSpanId<T>(spanId: string, start: () => T): T {
  given = spanId;
  try {
    return start();
  } finally {
    given = undefined;
  }
}

/** The id for the next span; undefined for any. */
export function givenSpanId(): string | undefined {
  return given;
}
