const HEADER_LENGTH_MAX = 128 * 1024;
/** The length of a body that is decoded. Reports have the important part at the beginning. */
const BODY_LENGTH_MAX = 256 * 1024;
const FIELD_LENGTH_MAX = 16 * 1024;
const SUBJECT_LENGTH_MAX = 998;
/** The number of values of one field. */
const VALUES_MAX = 20;
/** The number of different names in one block; no real message has as many. */
const NAMES_MAX = 500;
/** The number of parts of a message, over all levels. */
const PARTS_MAX = 50;
/** Levels of multipart. */
const DEPTH_MAX = 5;
/** The number of octets that are searched for parts, over all levels, so that nesting costs little more than length. */
const SEARCHED_MAX = 2 * 1024 * 1024;
/** RFC 2046 section 5.1.1. */
const BOUNDARY_LENGTH_MAX = 70;
/** The length of a body that is searched for an undeclared boundary. */
const UNDECLARED_SEARCH_MAX = 32 * 1024;
const UNDECLARED_SEARCH_MIN = 512;
const CANDIDATES_MAX = 5;

/** Reads the fields of a block such as a header, or a group of a delivery report. */
export function readFields(block: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const line of block.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1, colon + 1 + FIELD_LENGTH_MAX).trim();
    const values = fields.get(name);
    if (!values && fields.size < NAMES_MAX) fields.set(name, [value]);
    else if (values && values.length < VALUES_MAX) values.push(value);
  }
  return fields;
}

/** The end of the header, and the start of the body after the first empty line. */
function findBody(octets: string): { headerEnd: number; bodyStart: number } {
  const atOnce = /^\r?\n/.exec(octets);
  if (atOnce) return { headerEnd: 0, bodyStart: atOnce[0].length };
  const [crlf, lf] = [octets.indexOf('\n\r\n'), octets.indexOf('\n\n')];
  if (crlf === -1 && lf === -1) return { headerEnd: octets.length, bodyStart: octets.length };
  const isCrlf = lf === -1 || (crlf !== -1 && crlf < lf);
  return isCrlf ? { headerEnd: crlf, bodyStart: crlf + 3 } : { headerEnd: lf, bodyStart: lf + 2 };
}

/**
 * Reads the header fields of a message or a part (RFC 5322, RFC 2045, RFC 2046), given as one character per octet (latin1).
 * It accepts any octets, never throws, and its time is proportional to their number.
 */
export function readEntity(octets: string) {
  const { headerEnd, bodyStart } = findBody(octets);
  const fields = readFields(octets.slice(0, Math.min(headerEnd, HEADER_LENGTH_MAX)));
  const contentType = fields.get('content-type')?.[0] ?? '';
  return {
    /** The values of a field, unfolded, in order. Names are case-insensitive. */
    fields: (name: string): string[] => fields.get(name.toLowerCase()) ?? [],
    /** The first value of a field; empty when there is none. */
    field: (name: string): string => fields.get(name.toLowerCase())?.[0] ?? '',
    /** Type and subtype in lower case, such as `message/delivery-status`. */
    contentType: (/^[^\s;]*/.exec(contentType)?.[0] ?? '').toLowerCase(),
    /** A parameter of the content type; empty when there is none. */
    parameter(name: string): string {
      for (const match of contentType.matchAll(/;\s*([\w-]{1,40})\s*=\s*(?:"([^"]{0,500})"|([^\s;"]{1,500}))/g)) {
        if (match[1]?.toLowerCase() === name) return match[2] ?? match[3] ?? '';
      }
      return '';
    },
    /** The octets of the body as they were sent, one per character (latin1). */
    body: octets.slice(bodyStart),
  };
}

/** A message or a part of one. */
export type MimeEntity = ReturnType<typeof readEntity>;

/** A line that looks like a boundary, for messages whose boundary is missing or wrong. */
const UNDECLARED_BOUNDARY = /\n--([^\s]{5,70})[ \t]*\r?\n(?=[\w-]{1,40}:|\r?\n)/g;

/** The delimiter of the first line that looks like a boundary and occurs again. */
function findBoundary(body: string, length: number): string | undefined {
  let candidates = 0;
  for (const [, boundary = ''] of body.slice(0, length).matchAll(UNDECLARED_BOUNDARY)) {
    if (++candidates > CANDIDATES_MAX) break;
    const delimiter = `\n--${boundary}`;
    if (/[\w]/.test(boundary) && body.indexOf(delimiter) !== body.lastIndexOf(delimiter)) return delimiter;
  }
  return undefined;
}

/** The delimiter between the parts of an entity; undefined when there is none. */
function delimiterOf(entity: MimeEntity, body: string): string | undefined {
  const declared = entity.parameter('boundary');
  if (declared !== '' && declared.length <= BOUNDARY_LENGTH_MAX && body.includes(`\n--${declared}`)) {
    return `\n--${declared}`;
  }
  // Without a Content-Type, a later boundary may belong to a returned message in the text.
  const searched = entity.contentType === '' ? UNDECLARED_SEARCH_MIN : UNDECLARED_SEARCH_MAX;
  return findBoundary(body, searched);
}

/** The parts of one multipart entity, `limit` at most. */
function readLevel(entity: MimeEntity, limit: number): MimeEntity[] {
  const body = `\n${entity.body}`;
  const delimiter = delimiterOf(entity, body);
  if (delimiter === undefined) return [];
  const parts: MimeEntity[] = [];
  let start = body.indexOf(delimiter);
  while (start !== -1 && parts.length < limit) {
    const lineStart = start + delimiter.length;
    if (body.startsWith('--', lineStart)) break;
    const lineEnd = body.indexOf('\n', lineStart);
    if (lineEnd === -1) break;
    if (body.slice(lineStart, lineEnd).trim() !== '') {
      // The boundary of a nested entity may begin with this one.
      start = body.indexOf(delimiter, lineEnd);
      continue;
    }
    const next = body.indexOf(delimiter, lineEnd);
    parts.push(readEntity(body.slice(lineEnd + 1, next === -1 ? body.length : next)));
    start = next;
  }
  return parts;
}

/**
 * The parts of a multipart entity and their parts, level by level: at most 50, five levels deep. Messages inside the
 * message are not read, because what they report is not about our email.
 */
export function readParts(entity: MimeEntity): MimeEntity[] {
  const parts: MimeEntity[] = [];
  let level = [entity];
  let searched = 0;
  for (let depth = 0; depth < DEPTH_MAX && level.length > 0; depth++) {
    const below: MimeEntity[] = [];
    for (const each of level) {
      const mayHaveParts = each.contentType.startsWith('multipart/') || (depth === 0 && each.contentType === '');
      if (!mayHaveParts || searched > SEARCHED_MAX) continue;
      searched += each.body.length;
      below.push(...readLevel(each, PARTS_MAX - parts.length - below.length));
    }
    parts.push(...below);
    level = below;
  }
  return parts;
}

/** The decoded body, up to 256 kB, one octet per character (latin1). */
export function decodeBody(entity: MimeEntity): string {
  const encoding = entity.field('content-transfer-encoding').toLowerCase();
  const body = entity.body.slice(0, BODY_LENGTH_MAX);
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('latin1');
  if (encoding !== 'quoted-printable') return body;
  return body
    .replace(/=[ \t]*\r?\n/g, '')
    .replace(/=([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function decodeOctets(octets: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(octets);
  } catch {
    return new TextDecoder('utf-8').decode(octets);
  }
}

const ISO_2022_JP = /\x1b\$[@B]/;

/**
 * The text of an entity in its charset. Many reports name no charset or a wrong one: UTF-8 and ISO-2022-JP are
 * recognized by their octets, and any other undecodable text is read as latin1.
 */
export function decodeText(entity: MimeEntity): string {
  const octets = decodeBody(entity);
  if (ISO_2022_JP.test(octets)) return decodeOctets(Buffer.from(octets, 'latin1'), 'iso-2022-jp');
  if (!/[\x80-\xff]/.test(octets)) return octets;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(octets, 'latin1'));
  } catch {
    const charset = entity.parameter('charset').toLowerCase();
    const isUtf8 = charset === '' || charset === 'utf-8' || charset === 'us-ascii';
    try {
      return new TextDecoder(isUtf8 ? 'latin1' : charset).decode(Buffer.from(octets, 'latin1'));
    } catch {
      return octets;
    }
  }
}

const ENCODED_WORD =
  /=\?([\w-]{1,40})(?:\*[\w-]{1,20})?\?([bq])\?([^?\s]{0,2000})\?=(?:\s+(?==\?[\w-]{1,40}(?:\*[\w-]{1,20})?\?[bq]\?))?/gi;

/**
 * The text of a header field: encoded words (RFC 2047) and raw UTF-8 (RFC 6532) decoded, control characters removed.
 */
export function decodeHeaderText(value: string): string {
  // Most are ASCII, and a decoder takes longer than all else.
  const text = /[^\0-\x7f]/.test(value) ? decodeOctets(Buffer.from(value, 'latin1'), 'utf-8') : value;
  const decoded = text.replace(ENCODED_WORD, (_word, charset: string, encoding: string, encoded: string) => {
    if (encoding.toLowerCase() === 'b') return decodeOctets(Buffer.from(encoded, 'base64'), charset);
    const octets = encoded
      .replaceAll('_', ' ')
      .replace(/=([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return decodeOctets(Buffer.from(octets, 'latin1'), charset);
  });
  return printable(decoded);
}

/** The decoded subject of a message, up to 998 characters. */
export function subjectOf(message: MimeEntity): string {
  return decodeHeaderText(message.field('subject')).slice(0, SUBJECT_LENGTH_MAX);
}

/** The text of the first text/plain part of a message; without one, the text of the message itself. */
export function plainTextOf(message: MimeEntity, parts: readonly MimeEntity[]): string {
  return decodeText(parts.find((part) => part.contentType === 'text/plain') ?? message);
}

/** Makes a text fit to be stored and shown: control characters replaced by spaces, well-formed. */
export function printable(text: string): string {
  return text
    .replace(/[\0-\x1f\x7f\u2028\u2029]+/g, ' ')
    .trim()
    .toWellFormed();
}
