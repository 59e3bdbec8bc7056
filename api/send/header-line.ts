import { z } from 'zod';

export const NO_LINE_BREAK = /^[^\r\n]*$/;

/** A text for one header line. */
export function oneLine(lengthMax: number) {
  return z.string().min(1).max(lengthMax).regex(NO_LINE_BREAK, 'Must not contain line breaks');
}
