import { badRequest, validationError } from '../../shared/pure/app-error.ts';

/** Far more than a filter tree of 50 levels needs, far less than would exhaust a stack here or in PostgreSQL. */
const DEPTH_MAX = 400;
/**
 * The most opening brackets, colons and commas: about two for each member of an object, one for each element of an
 * array. The shortest value takes some hundred octets once it is parsed, and a schema checks each.
 */
const MARKS_MAX = 30_000;
/** Texts of more octets are not parsed by JSON.parse, which reads its input at once. */
export const LARGE_TEXT_BYTES = 64 * 1024;
/** In texts up to this length, a loop finds the end faster than `indexOf`. */
const LOOP_BYTES_MAX = 32;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** The position of a text in a body: from the octet after its opening quote up to, not including, its closing quote. */
export interface LargeText {
  start: number;
  end: number;
}

function tooManyValues(): Error {
  const message = `The body may hold at most ${MARKS_MAX / 2} values`;
  return validationError([{ field: '', message, code: 'too_big' }]);
}

/** The number of backslashes right before `end`, not looking before `start`. */
function backslashesBefore(chunk: Buffer, end: number, start: number): number {
  let at = end;
  while (at > start && chunk[at - 1] === BACKSLASH) at -= 1;
  return end - at;
}

/**
 * Creates a scanner that bounds the cost of parsing a JSON body while the body arrives. It knows only texts and
 * nesting; JSON.parse decides whether the body is JSON.
 */
export function createJsonScanner() {
  /** The large texts that were found so far, in their order. */
  const largeTexts: LargeText[] = [];
  let scannedBytes = 0;
  let depth = 0;
  let marks = 0;
  /** Where the current text begins; undefined outside of texts. */
  let textStart: number | undefined;
  let isEscaped = false;
  let isAfterLargeText = false;

  /** @returns where the octets after the text begin; the end of the chunk when the text goes on */
  function scanText(chunk: Buffer, from: number): number {
    let at = from;
    if (isEscaped) {
      isEscaped = false;
      at += 1;
    }
    for (;;) {
      const begin = at;
      const near = Math.min(begin + LOOP_BYTES_MAX, chunk.length);
      while (at < near && chunk[at] !== QUOTE) at += 1;
      if (at === near) at = chunk.indexOf(QUOTE, near);
      const isOpen = at === -1 || at >= chunk.length;
      const end = isOpen ? chunk.length : at;
      const isLastEscaped = backslashesBefore(chunk, end, begin) % 2 === 1;
      if (isOpen) {
        isEscaped = isLastEscaped;
        return chunk.length;
      }
      at = end + 1;
      if (!isLastEscaped) {
        endText(end);
        return at;
      }
    }
  }

  function endText(end: number): void {
    const start = textStart ?? 0;
    textStart = undefined;
    if (scannedBytes + end - start > LARGE_TEXT_BYTES) {
      largeTexts.push({ start, end: scannedBytes + end });
      isAfterLargeText = true;
    }
  }

  function scanMark(octet: number): void {
    if (OPENING.has(octet)) {
      depth += 1;
      if (depth > DEPTH_MAX) throw badRequest(`The JSON body is nested deeper than ${DEPTH_MAX} levels`);
    } else if (CLOSING.has(octet)) {
      depth -= 1;
      return;
    } else if (octet === COLON && isAfterLargeText) {
      throw validationError([{ field: '', message: 'The body has a key that is too long', code: 'too_big' }]);
    } else if (octet !== COMMA && octet !== COLON) return;
    isAfterLargeText = false;
    marks += 1;
    if (marks > MARKS_MAX) throw tooManyValues();
  }

  return {
    largeTexts,
    /**
     * Scans the next octets of a body.
     * @throws AppError BAD_REQUEST when it is nested too deep, VALIDATION_ERROR when it holds too many values
     */
    push(chunk: Buffer) {
      if (chunk.length === 0) return;
      let at = textStart === undefined ? 0 : scanText(chunk, 0);
      while (at < chunk.length) {
        const octet = chunk[at] ?? 0;
        at += 1;
        if (octet === QUOTE) {
          textStart = scannedBytes + at;
          at = scanText(chunk, at);
        } else if (octet > QUOTE) scanMark(octet);
      }
      scannedBytes += chunk.length;
    },
  };
}
