import { readEntity } from '../reports/mime-reader.ts';
import { encodeBase64Lines, encodeQuotedPrintableOctets, LINE_LENGTH_HARD } from './mime/body-encoding.ts';

/** A part of a message that has no parts itself, by its offsets. */
export interface LeafPart {
  contentType: string;
  isAttached: boolean;
  headerStart: number;
  bodyStart: number;
  /** After the last octet of its body; the line end before a boundary belongs to the boundary. */
  end: number;
  encoding: string;
  charset: string;
}

const DEPTH_MAX = 8;
const PARTS_MAX = 200;
const PART_HEADER_MAX = 64 * 1024;
const CRLF = '\r\n';

/** The parts between the boundaries of a multipart body. */
function* partsBetween(content: Buffer, boundary: string, from: number, end: number): Generator<[number, number]> {
  const delimiter = `${CRLF}--${boundary}`;
  let start: number | undefined;
  for (let at = content.indexOf(delimiter, from); at !== -1 && at < end;) {
    const lineEnd = content.indexOf(CRLF, at + delimiter.length);
    const rest = content.toString('latin1', at + delimiter.length, lineEnd === -1 ? end : lineEnd);
    const isLast = rest.startsWith('--');
    // The boundary of a nested part may begin with this one.
    if (isLast || rest.trim() === '') {
      if (start !== undefined) yield [start, at];
      if (isLast || lineEnd === -1) return;
      start = lineEnd + CRLF.length;
    }
    at = content.indexOf(delimiter, at + delimiter.length);
  }
  if (start !== undefined) yield [start, end];
}

/** The parts of a message that have no parts. What is signed is left out (RFC 1847), and so are messages in it. */
export function* leafParts(content: Buffer, start = 0, end = content.length, depth = 0): Generator<LeafPart> {
  const headerEnd = content.subarray(start, Math.min(end, start + PART_HEADER_MAX)).indexOf(CRLF + CRLF);
  // A part that begins with an empty line has no header, and is plain text.
  if (headerEnd === -1 || content.indexOf(CRLF, start) === start) return;
  const bodyStart = start + headerEnd + 2 * CRLF.length;
  const entity = readEntity(content.toString('latin1', start, bodyStart));
  if (entity.contentType.startsWith('multipart/')) {
    const boundary = entity.parameter('boundary');
    if (boundary === '' || depth === DEPTH_MAX || entity.contentType === 'multipart/signed') return;
    let count = 0;
    for (const [from, to] of partsBetween(content, boundary, bodyStart - CRLF.length, end)) {
      if (++count > PARTS_MAX) return;
      yield* leafParts(content, from, to, depth + 1);
    }
    return;
  }
  const { contentType } = entity;
  if (contentType.startsWith('message/')) return;
  const isAttached = /^attachment/i.test(entity.field('content-disposition'));
  const encoding = entity.field('content-transfer-encoding').toLowerCase() || '7bit';
  const charset = entity.parameter('charset').toLowerCase();
  yield { contentType, isAttached, headerStart: start, bodyStart, end, encoding, charset };
}

/** The octets of a body, one per character; undefined for an encoding that is not known. */
export function decode(body: Buffer, encoding: string): string | undefined {
  const text = body.toString('latin1');
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('latin1');
  if (encoding === 'quoted-printable') {
    return text
      .replace(/=[ \t]*\r\n/g, '')
      .replace(/=([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return encoding === '7bit' || encoding === '8bit' ? text : undefined;
}

/** A part with other octets in its body, in its own encoding as long as its lines are not too long for that. */
export function encodePart(content: Buffer, part: LeafPart, octets: string): Buffer[] {
  const header = content.subarray(part.headerStart, part.bodyStart);
  const lastLine = content.indexOf(CRLF, part.end - CRLF.length) === part.end - CRLF.length ? CRLF : '';
  if (part.encoding === 'base64') {
    return [header, encodeBase64Lines(Buffer.from(octets, 'latin1')), Buffer.from(lastLine)];
  }
  if (part.encoding === 'quoted-printable') return [header, Buffer.from(encodeQuotedPrintableOctets(octets), 'latin1')];
  if (octets.split(CRLF).every((line) => line.length <= LINE_LENGTH_HARD)) {
    return [header, Buffer.from(octets, 'latin1')];
  }
  const otherFields = header
    .toString('latin1')
    .replace(/^content-transfer-encoding[ \t]*:[^\r]*(?:\r\n[ \t][^\r]*)*\r\n/im, '');
  return [
    Buffer.from(`Content-Transfer-Encoding: quoted-printable\r\n${otherFields}`, 'latin1'),
    Buffer.from(encodeQuotedPrintableOctets(octets), 'latin1'),
  ];
}
