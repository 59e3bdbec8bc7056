const REMINDER_MS = 60_000;
const KEPT_MAX = 100;

/**
 * Creates the check whether a repeated occurrence is to be logged: the first time, and then once a minute.
 * @returns the check; it takes a text that is the same for each repetition
 */
export function createReminder(everyMs = REMINDER_MS): (what: string) => boolean {
  const loggedAt = new Map<string, number>();
  return (what) => {
    const now = performance.now();
    if (now - (loggedAt.get(what) ?? -Infinity) < everyMs) return false;
    if (loggedAt.size >= KEPT_MAX) loggedAt.clear();
    loggedAt.set(what, now);
    return true;
  };
}
