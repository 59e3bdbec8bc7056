const YEAR = '([0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})';
const LEAP_YEAR = '([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)';
const MONTH_AND_DAY =
  '((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))';
const DAY = `(${YEAR}-${MONTH_AND_DAY}|${LEAP_YEAR}-02-29)`;
const TIME = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9}){0,1}){0,1}';
const OFFSET = '(Z|[+-](0[0-9]|1[0-4]):{0,1}[0-5][0-9])';

/**
 * Regular expressions for days and date-times of ISO 8601 that exist in the calendar. They mean the same in PostgreSQL
 * and JavaScript. They contain no question mark, because that marks a parameter of a statement. They match nothing that
 * a cast to timestamptz would refuse, such as 30 February, the year 0 and offsets beyond 14 hours.
 */
export const ISO_DAY_PATTERN = `^${DAY}$`;
export const ISO_DATE_TIME_PATTERN = `^${DAY}T${TIME}${OFFSET}$`;

const ISO_DAY = new RegExp(ISO_DAY_PATTERN);
const ISO_DATE_TIME = new RegExp(ISO_DATE_TIME_PATTERN);

/** A point in time, or the 24 hours of a UTC day that begin there. */
export interface IsoInstant {
  precision: 'day' | 'moment';
  /** The text for a cast to timestamptz. It keeps every digit of the fraction of a second. */
  start: string;
  /** Milliseconds since 1970. */
  startMs: number;
}

/** Reads YYYY-MM-DD, or a date-time with `Z` or an offset. Undefined for any other text. */
export function parseIsoInstant(text: string): IsoInstant | undefined {
  if (ISO_DAY.test(text)) return instantAt('day', `${text}T00:00:00Z`);
  if (ISO_DATE_TIME.test(text)) return instantAt('moment', text);
  return undefined;
}

function instantAt(precision: IsoInstant['precision'], start: string): IsoInstant {
  return { precision, start, startMs: Date.parse(start.replace(/([+-]\d\d)(\d\d)$/, '$1:$2')) };
}
