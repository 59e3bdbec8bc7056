/** Whether opens and links are tracked: for MARKETING mail only, for all mail, or never. */
export const TRACKING_MODES = ['MARKETING_ONLY', 'ENABLED', 'DISABLED'] as const;
export type TrackingMode = (typeof TRACKING_MODES)[number];
