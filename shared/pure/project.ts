import type { EmailType } from './emails/email-types.ts';

/** Whether opens and links are tracked: for MARKETING emails only, for all emails, or never. */
export const TRACKING_MODES = ['MARKETING_ONLY', 'ENABLED', 'DISABLED'] as const;
export type TrackingMode = (typeof TRACKING_MODES)[number];

/** Whether opens and clicks of an email of this type are tracked in a project of this mode. */
export function isEmailTracked(mode: TrackingMode, type: EmailType): boolean {
  return mode === 'ENABLED' || (mode === 'MARKETING_ONLY' && type === 'MARKETING');
}
