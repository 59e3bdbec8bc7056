/**
 * Percent of what was sent, from 0 to 100 with two decimals; 0 when there is nothing. What happened can be more than what
 * was sent: emails that bounce at once do not count as sent, and emails of an earlier period are opened in this one.
 */
export function percent(happened: number, sent: number): number {
  return happened === 0 ? 0 : Math.round((happened / Math.max(sent, happened)) * 10_000) / 100;
}
