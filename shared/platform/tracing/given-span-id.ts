/** The id chosen for the span that is being started. */
let given: string | undefined;

/** Runs `start`; the span that it starts gets this id, because other spans already refer to it. */
export function withSpanId<T>(spanId: string, start: () => T): T {
  given = spanId;
  try {
    return start();
  } finally {
    given = undefined;
  }
}

/** The id chosen for the next span; undefined for a random one. */
export function givenSpanId(): string | undefined {
  return given;
}
