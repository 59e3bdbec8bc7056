/**
 * How long a server asks to wait, in milliseconds (RFC 9110 section 10.2.3).
 * @param header the value of Retry-After
 * @returns null when it does not say so
 */
export function retryAfterMs(header: string | null | undefined): number | null {
  const value = header?.trim();
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
