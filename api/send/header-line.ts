import { z } from 'zod';

export const NO_LINE_BREAK = /^[^\r\n]*$/;

const line = (lengthMax: number) => z.string().max(lengthMax).regex(NO_LINE_BREAK, 'Must not contain line breaks');

/** A text for one header line. */
export function oneLine(lengthMax: number) {
  return line(lengthMax).min(1);
}

/** A name shown beside an address. Programs that know no name send an empty one, so a blank name counts as none. */
export function shownName(lengthMax: number) {
  return line(lengthMax)
    .meta({ examples: ['Ada Lovelace'] })
    .transform((name) => (name.trim() === '' ? null : name));
}
