import type { EmailType } from './emails/email-types.ts';

/**
 * Whether opens and links are tracked: for MARKETING emails only, for all emails, never, or in emails to contacts who
 * agreed.
 */
export const TRACKING_MODES = ['MARKETING_ONLY', 'ENABLED', 'DISABLED', 'CONSENTED'] as const;
export type TrackingMode = (typeof TRACKING_MODES)[number];

/**
 * Whether opens and clicks of an email of this type to a contact are tracked in a project of this mode. A contact who has
 * refused is tracked in no mode.
 * @param trackingAllowed what the contact has said; null or missing for one who was not asked
 */
export function isEmailTracked(mode: TrackingMode, type: EmailType, trackingAllowed?: boolean | null): boolean {
  if (trackingAllowed === false) return false;
  if (mode === 'CONSENTED') return trackingAllowed === true;
  return mode === 'ENABLED' || (mode === 'MARKETING_ONLY' && type === 'MARKETING');
}

/** How much of the address of a client the record of consent keeps: all of it, its network (/24 or /48), or nothing. */
export const CLIENT_ADDRESSES = ['FULL', 'SHORTENED', 'NONE'] as const;
export type ClientAddresses = (typeof CLIENT_ADDRESSES)[number];
