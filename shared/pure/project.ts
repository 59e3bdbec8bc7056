import type { EmailType } from './emails/email-types.ts';

/** Whether opens and links are tracked: for MARKETING mail only, for all mail, or never. */
export const TRACKING_MODES = ['MARKETING_ONLY', 'ENABLED', 'DISABLED'] as const;
export type TrackingMode = (typeof TRACKING_MODES)[number];

/** Whether opens and clicks of a mail of that type are counted in a project of that mode. */
export function isEmailTracked(mode: TrackingMode, type: EmailType): boolean {
  return mode === 'ENABLED' || (mode === 'MARKETING_ONLY' && type === 'MARKETING');
}
