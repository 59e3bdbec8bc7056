/** A day in milliseconds. */
export const DAY_MS = 86_400_000;

/** The UTC day of a moment in milliseconds since 1970, such as `2026-11-30`. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
