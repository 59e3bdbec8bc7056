import { badRequest } from '../../pure/app-error.ts';
import { LIMITS } from '../../pure/limits.ts';
import { decode, encodePart, leafParts } from './message-parts.ts';
import { LINE_LENGTH_HARD } from './mime/body-encoding.ts';

const LF = 0x0a;

function hasLongLine(octets: Buffer): boolean {
  for (let start = 0; octets.length - start > LINE_LENGTH_HARD;) {
    const end = octets.lastIndexOf(LF, start + LINE_LENGTH_HARD + 1);
    if (end < start) return true;
    start = end + 1;
  }
  return false;
}

/** The part of a header line that may stand before a fold: white space and something else follow. */
const BEFORE_FOLD = new RegExp(`^[^]{0,${LINE_LENGTH_HARD - 1}}[^ \\t](?=[ \\t]+[^ \\t])`);

/**
 * Folds the lines of a header field that are too long, at white space (RFC 5322 section 2.2.3).
 * @throws AppError BAD_REQUEST where a line has none
 */
export function foldField(text: string): string {
  return text
    .split('\r\n')
    .flatMap((line) => {
      const lines: string[] = [];
      let rest = line;
      while (rest.length > LINE_LENGTH_HARD) {
        const [begin] = BEFORE_FOLD.exec(rest) ?? [];
        if (begin === undefined) throw badRequest(`A header has a word of more than ${LINE_LENGTH_HARD} octets`);
        lines.push(begin);
        rest = rest.slice(begin.length);
      }
      return [...lines, rest];
    })
    .join('\r\n');
}

/**
 * Encodes again the parts of a message whose lines are longer than SMTP allows (RFC 5321 section 4.5.3.1.6), because
 * many servers refuse them or break them anywhere. All other octets stay the same, and so do very large parts and what
 * is signed.
 * @param content with CRLF line ends
 */
export function fitLines(content: Buffer): Buffer {
  if (!hasLongLine(content)) return content;
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const part of leafParts(content)) {
    const body = content.subarray(part.bodyStart, part.end);
    if (body.length > 2 * LIMITS.templateLength || !hasLongLine(body)) continue;
    const octets = decode(body, part.encoding === 'binary' ? '8bit' : part.encoding);
    if (octets === undefined) continue;
    // Without this field, programs need not read the encoding (RFC 2045 section 4).
    const isBare = part.headerStart === 0 && !/^mime-version:/im.test(content.toString('latin1', 0, part.bodyStart));
    pieces.push(content.subarray(copied, part.headerStart), Buffer.from(isBare ? 'MIME-Version: 1.0\r\n' : ''));
    pieces.push(...encodePart(content, part, octets));
    copied = part.end;
  }
  return Buffer.concat([...pieces, content.subarray(copied)]);
}
