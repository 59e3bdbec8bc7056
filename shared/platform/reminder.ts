const REMINDER_MS = 60_000;
const KEPT_MAX = 100;

/**
 * Says whether something that happens again and again is to be logged: the first time, and then once a minute.
 * @returns takes what happened, the same text for the same thing
 */
export function createReminder(everyMs = REMINDER_MS): (what: string) => boolean {
  const saidAt = new Map<string, number>();
  return (what) => {
    const now = performance.now();
    if (now - (saidAt.get(what) ?? -Infinity) < everyMs) return false;
    if (saidAt.size >= KEPT_MAX) saidAt.clear();
    saidAt.set(what, now);
    return true;
  };
}
