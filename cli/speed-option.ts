import { InvalidArgumentError } from 'commander';

/** The value of `--emails-per-second` for the speed in the configuration of the instance. */
export const DEFAULT_SPEED = 'default';

/** A speed in emails a second. Commander turns a parsed null into an empty string, so the default stays a word here. */
export function parseSpeed(text: string): number | typeof DEFAULT_SPEED {
  if (text.toLowerCase() === DEFAULT_SPEED) return DEFAULT_SPEED;
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number, or "default".');
  return Number(text);
}

/** A speed as text. */
export function formatSpeed(emailsPerSecond: number | null): string {
  if (emailsPerSecond === null) return 'default of this instance';
  return emailsPerSecond === 0 ? 'unlimited' : `${emailsPerSecond} a second`;
}
