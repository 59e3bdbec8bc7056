/** Pauses after each attempt that failed, in seconds: more than 27 hours in all. */
export const WEBHOOK_RETRY_SECONDS_DEFAULT = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000] as const;
