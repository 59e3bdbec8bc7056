import { encodeBase64Lines } from './body-encoding.ts';
import { cleanHeaderText, encodeWords } from './header-encoding.ts';

/** A file of a message. An inline one is shown where the HTML refers to `cid:<contentId>`. */
export interface OutgoingAttachment {
  filename: string;
  content: Buffer;
  contentType: string;
  contentId?: string;
  disposition: 'attachment' | 'inline';
}

const PRINTABLE = /^[\x20-\x7e]*$/;
const MEDIA_TYPE = /^([\w!#$&^.+-]{1,127})\/([\w!#$&^.+-]{1,127})$/;
/**
 * A parameter of a media type. A quoted value may contain printable ASCII without quotes and backslashes, so nothing
 * has to be escaped.
 */
const PARAMETER = /^([\w!#$&^.+-]{1,64})=([\w!#$&^.+-]{1,64}|"[\x20\x21\x23-\x5b\x5d-\x7e]{0,64}")$/;
const PARAMETERS_MAX = 8;
/** The length of a section (RFC 2231), so that its line, with the parameter name, stays below 78 characters. */
const SECTION_LENGTH = 54;
const PLAIN_NAME_LENGTH = 60;

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The `filename` parameter, in the form of RFC 2231 with continuations when the name is long or not ASCII. */
function filenameParameter(filename: string): string {
  if (PRINTABLE.test(filename) && filename.length <= PLAIN_NAME_LENGTH) return `;\r\n filename=${quoted(filename)}`;
  const encoded = percentEncode(filename);
  if (encoded.length <= SECTION_LENGTH) return `;\r\n filename*=UTF-8''${encoded}`;
  const sections: string[] = [];
  let start = 0;
  while (start < encoded.length) {
    let end = Math.min(start + SECTION_LENGTH, encoded.length);
    const percent = encoded.lastIndexOf('%', end - 1);
    if (end < encoded.length && percent > end - 3) end = percent;
    sections.push(encoded.slice(start, end));
    start = end;
  }
  return sections
    .map((section, index) => `;\r\n filename*${index}*=${index === 0 ? "UTF-8''" : ''}${section}`)
    .join('');
}

/**
 * The `name` parameter for mail programs without RFC 2231, in the form of RFC 2047 when the name is long or not ASCII.
 */
function nameParameter(filename: string): string {
  if (PRINTABLE.test(filename) && filename.length <= PLAIN_NAME_LENGTH) return `;\r\n name=${quoted(filename)}`;
  return `;\r\n name="${encodeWords(filename, ' name='.length + 1)}"`;
}

/**
 * The Content-Type header with the valid parameters of the media type. `message/*` and `multipart/*` may not be base64
 * (RFC 2046 section 5), so they are sent as octets, as are malformed media types.
 */
function contentTypeHeader(contentType: string, filename: string): string {
  const [type = '', ...parameters] = contentType.split(';', PARAMETERS_MAX + 1).map((part) => part.trim());
  const isSafe = MEDIA_TYPE.test(type) && !/^(?:message|multipart)\//i.test(type);
  let header = `Content-Type: ${isSafe ? type : 'application/octet-stream'}`;
  if (isSafe) {
    for (const parameter of parameters) {
      const key = PARAMETER.exec(parameter)?.[1]?.toLowerCase();
      if (key !== undefined && key !== 'name' && key !== 'boundary') header += `;\r\n ${parameter}`;
    }
  }
  return `${header}${nameParameter(filename)}\r\n`;
}

function contentIdHeader(contentId: string): string {
  const text = cleanHeaderText(contentId).replace(/^<|>$/g, '');
  const safe = text.toWellFormed().replace(/[^!-~]|[<>]/gu, (character) => encodeURIComponent(character));
  return safe === '' || safe.length > 900 ? '' : `Content-ID: <${safe}>\r\n`;
}

/**
 * Encodes the header and body of the MIME part of an attachment (RFC 2183) in base64, without the boundary around it.
 */
export function encodeAttachmentPart(attachment: OutgoingAttachment): { header: string; content: Buffer } {
  const filename = cleanHeaderText(attachment.filename) || 'attachment';
  const header =
    contentTypeHeader(attachment.contentType, filename) +
    `Content-Disposition: ${attachment.disposition}${filenameParameter(filename)}\r\n` +
    (attachment.contentId === undefined ? '' : contentIdHeader(attachment.contentId)) +
    'Content-Transfer-Encoding: base64\r\n\r\n';
  return { header, content: encodeBase64Lines(attachment.content) };
}
