import { z } from 'zod';

export const NO_LINE_BREAK = /^[^\r\n]*$/;

/** A text for one header line. */
export function oneLine(lengthMax: number, fault = 'Must not contain line breaks') {
  return z.string().min(1).max(lengthMax).regex(NO_LINE_BREAK, fault);
}
