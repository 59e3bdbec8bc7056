import { LIMITS } from '../../pure/limits.ts';
import { readEntity } from '../reports/mime-reader.ts';
import type { EmailLinks } from './links.ts';
import { encodeBase64Lines, encodeQuotedPrintableOctets } from './mime/body-encoding.ts';
import { trackRenderedHtml } from './tracked-html.ts';

/** A text/html part of a message, by its offsets. */
interface HtmlPart {
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
const LINE_LENGTH_MAX = 998;
const CRLF = '\r\n';
/** In these, an octet of ASCII may be a part of another character. */
const SHIFTING_CHARSET = /^(?:utf-?(?:7|16|32)|iso-2022|hz)/;
const UTF_8 = /^(?:utf-?8|us-ascii|)$/;

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

/** The text/html parts that readers see. Attached files and messages are left out, and so is what is signed (RFC 1847). */
function* htmlParts(content: Buffer, start: number, end: number, depth = 0): Generator<HtmlPart> {
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
      yield* htmlParts(content, from, to, depth + 1);
    }
    return;
  }
  if (entity.contentType !== 'text/html' || /^attachment/i.test(entity.field('content-disposition'))) return;
  const encoding = entity.field('content-transfer-encoding').toLowerCase() || '7bit';
  yield { headerStart: start, bodyStart, end, encoding, charset: entity.parameter('charset').toLowerCase() };
}

/** The octets of a body, one per character; undefined for an encoding that is not known. */
function decode(body: Buffer, encoding: string): string | undefined {
  const text = body.toString('latin1');
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('latin1');
  if (encoding === 'quoted-printable') {
    return text
      .replace(/=[ \t]*\r\n/g, '')
      .replace(/=([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return encoding === '7bit' || encoding === '8bit' ? text : undefined;
}

/** Tracks the links of HTML that is given, and returned, as octets. */
function trackOctets(octets: string, charset: string, links: EmailLinks): string {
  try {
    if (!UTF_8.test(charset)) throw new TypeError('another charset');
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(octets, 'latin1'));
    return Buffer.from(trackRenderedHtml(text, links)).toString('latin1');
  } catch {
    // URLs are ASCII, and so are the tags around them, whatever the other octets mean.
    return trackRenderedHtml(octets, links);
  }
}

/** A part with other HTML, in its own encoding as long as its lines are not too long for that. */
function encodePart(content: Buffer, part: HtmlPart, octets: string): Buffer[] {
  const header = content.subarray(part.headerStart, part.bodyStart);
  const lastLine = content.indexOf(CRLF, part.end - CRLF.length) === part.end - CRLF.length ? CRLF : '';
  if (part.encoding === 'base64') {
    return [header, encodeBase64Lines(Buffer.from(octets, 'latin1')), Buffer.from(lastLine)];
  }
  if (part.encoding === 'quoted-printable') return [header, Buffer.from(encodeQuotedPrintableOctets(octets), 'latin1')];
  if (octets.split(CRLF).every((line) => line.length <= LINE_LENGTH_MAX)) {
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

/**
 * Leads the links in the text/html parts of a message through this server, and adds the image that records an open. All
 * other octets stay the same. What cannot be read safely is not tracked.
 */
export function trackMessage(content: Buffer, links: EmailLinks): Buffer {
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const part of htmlParts(content, 0, content.length)) {
    if (part.end - part.bodyStart > 2 * LIMITS.templateLength || SHIFTING_CHARSET.test(part.charset)) continue;
    const octets = decode(content.subarray(part.bodyStart, part.end), part.encoding);
    if (octets === undefined) continue;
    pieces.push(content.subarray(copied, part.headerStart));
    pieces.push(...encodePart(content, part, trackOctets(octets, part.charset, links)));
    copied = part.end;
  }
  return pieces.length === 0 ? content : Buffer.concat([...pieces, content.subarray(copied)]);
}
