import { LIMITS } from '../../pure/limits.ts';
import { decode, encodePart, leafParts, LINE_LENGTH_MAX } from './message-parts.ts';

const LF = 0x0a;

function hasLongLine(octets: Buffer): boolean {
  for (let start = 0; octets.length - start > LINE_LENGTH_MAX;) {
    const end = octets.lastIndexOf(LF, start + LINE_LENGTH_MAX + 1);
    if (end < start) return true;
    start = end + 1;
  }
  return false;
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
