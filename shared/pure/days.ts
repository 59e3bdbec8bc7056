/** A day in milliseconds. */
export const DAY_MS = 86_400_000;

let latest = { startsMs: Number.NaN, day: '' };

/** The UTC day of a moment in milliseconds since 1970, such as `2026-11-30`. */
export function dayOf(ms: number): string {
  const startsMs = Math.floor(ms / DAY_MS) * DAY_MS;
  if (startsMs !== latest.startsMs) latest = { startsMs, day: new Date(startsMs).toISOString().slice(0, 10) };
  return latest.day;
}
