import { z } from 'zod';

export const NO_LINE_BREAK = /^[^\r\n]*$/;

/** A text for one header line. */
export function oneLine(lengthMax: number) {
  return z.string().min(1).max(lengthMax).regex(NO_LINE_BREAK, 'Must not contain line breaks');
}

/** A name shown beside an address. Programs that know no name send an empty one, so a blank name counts as none. */
export function shownName(lengthMax: number) {
  return z
    .string()
    .max(lengthMax)
    .regex(NO_LINE_BREAK, 'Must not contain line breaks')
    .meta({ examples: ['Ada Lovelace'] })
    .transform((name) => (name.trim() === '' ? null : name));
}
