import { isHeaderName, isProtectedHeader } from '../../../pure/emails/message-headers.ts';
import { finish, type Steps } from '../../../pure/steps.ts';
import type { RawMessage } from '../../transport/data-content.ts';
import { needsUtf8, toWireAddress } from '../../transport/wire-address.ts';
import { encodeAttachmentPart, type OutgoingAttachment } from './attachment-part.ts';
import { encodeTextBody, type EncodedBody } from './body-encoding.ts';
import { encodeHeader, encodeMailboxesHeader, encodeMailboxHeader, type Mailbox } from './header-encoding.ts';

/** A header as name and value, such as `['List-Unsubscribe', '<https://…>']`. */
export type HeaderField = readonly [name: string, value: string];

/** The parts that all messages of one sender or campaign share. */
export interface MessageFrame {
  from: Mailbox;
  replyTo?: string;
  headers?: readonly HeaderField[];
}

/** The parts that differ in every message. `messageId` may come with or without its angle brackets. */
export interface MessageContent {
  to: Mailbox;
  /** The address that gets this copy; that of `to` by default. */
  recipient?: string;
  cc?: readonly Mailbox[];
  subject: string;
  html: string;
  text: string;
  messageId: string;
  date: Date;
  headers?: readonly HeaderField[];
  attachments?: readonly OutgoingAttachment[];
}

/** One message, complete. */
export interface OutgoingMessage extends MessageContent {
  from: Mailbox;
  replyTo?: string;
}

/** Composes messages that share a frame. */
export interface MessageComposer {
  /**
   * Composes a message that is ready to sign and send: CRLF line ends, lines of at most 998 octets, ASCII only unless its
   * recipient needs SMTPUTF8.
   *
   * @throws UnsendableAddressError when the address of the recipient has no form for a header
   */
  compose(content: MessageContent): RawMessage;
  /** Does the same with pauses, for a message of megabytes. */
  composeSteps(content: MessageContent): Steps<RawMessage>;
}

/** Header lines by lower-case name, in the order of their first occurrence. */
type HeaderLines = Map<string, string>;

const MIME_VERSION = 'MIME-Version: 1.0\r\n';

/** The last encoding of a header; `line` is undefined when its name is protected or malformed. */
interface EncodedHeader {
  value: string;
  key: string;
  line: string | undefined;
}

/** Callers choose the names, so only this many are kept. */
const KEPT_NAMES_MAX = 50;

/**
 * Creates an encoder of custom headers. A later header of the same name wins; protected and malformed names are left
 * out. The last encoding of each name is kept, because most headers of a campaign have the same value in all messages.
 */
function createHeaderEncoder(): (headers: readonly HeaderField[]) => HeaderLines {
  const latest = new Map<string, EncodedHeader>();
  const encode = ([name, value]: HeaderField): EncodedHeader => {
    const known = latest.get(name);
    if (known?.value === value) return known;
    const line = isHeaderName(name) && !isProtectedHeader(name) ? encodeHeader(name, value) : undefined;
    const encoded = { value, key: known?.key ?? name.toLowerCase(), line };
    if (known || latest.size < KEPT_NAMES_MAX) latest.set(name, encoded);
    return encoded;
  };
  return (headers) => {
    const lines: HeaderLines = new Map();
    for (const header of headers) {
      const { key, line } = encode(header);
      if (line !== undefined) lines.set(key, line);
    }
    return lines;
  };
}

/** Creates an encoder of dates in UTC (RFC 5322 section 3.3). The last one is kept for messages of the same second. */
function createDateEncoder(): (date: Date) => string {
  let second = Number.NaN;
  let encoded = '';
  return (date) => {
    const dateSecond = Math.floor(date.getTime() / 1000);
    if (dateSecond !== second) {
      second = dateSecond;
      encoded = `Date: ${date.toUTCString().replace('GMT', '+0000')}\r\n`;
    }
    return encoded;
  };
}

function encodeMessageId(messageId: string): string {
  return `Message-ID: <${messageId.replace(/[^!-~]|[<>]/g, '').slice(0, 900)}>\r\n`;
}

/**
 * A boundary that occurs in no body. `=_` can occur neither in quoted-printable nor in base64, so only 7bit bodies are
 * searched. The letter of the kind keeps nested boundaries from being prefixes of each other.
 */
function createBoundary(
  kind: 'alternative' | 'related' | 'mixed',
  seed: string,
  bodies: readonly EncodedBody[],
): string {
  const suspects = bodies.filter((body) => body.encoding === '7bit' && body.content.includes('=_'));
  for (let attempt = 0; ; attempt += 1) {
    const boundary = `=_${kind[0]}${attempt}_${seed}`;
    if (!suspects.some((body) => body.content.includes(boundary))) return boundary;
  }
}

function textPart(subtype: 'plain' | 'html', body: EncodedBody): string {
  const contentType = `Content-Type: text/${subtype}; charset=utf-8\r\n`;
  return `${contentType}Content-Transfer-Encoding: ${body.encoding}\r\n\r\n${body.content}`;
}

function multipartHeader(subtype: string, boundary: string, parameters = ''): string {
  return `Content-Type: multipart/${subtype};${parameters} boundary="${boundary}"\r\n\r\n`;
}

/** The pieces of a message body, as text where possible: a message without attachments is never copied into octets. */
type Pieces = (string | Buffer)[];

function multipart(header: string, boundary: string, parts: readonly Pieces[]): Pieces {
  const pieces: Pieces = [header];
  for (const [index, part] of parts.entries()) pieces.push(`${index === 0 ? '' : '\r\n'}--${boundary}\r\n`, ...part);
  pieces.push(`\r\n--${boundary}--\r\n`);
  return pieces;
}

function attachmentPart(attachment: OutgoingAttachment): Pieces {
  const { header, content } = encodeAttachmentPart(attachment);
  return [header, content];
}

function isShownInline(attachment: OutgoingAttachment): boolean {
  return attachment.disposition === 'inline' && attachment.contentId !== undefined;
}

/**
 * Encodes the body: multipart/mixed around the attachments, multipart/alternative around text and HTML,
 * multipart/related around the HTML and its inline files (RFC 2046, RFC 2387), each only where needed.
 */
function* encodeBody(content: MessageContent): Steps<Pieces> {
  const text = content.text === '' && content.html !== '' ? undefined : yield* encodeTextBody(content.text);
  const html = content.html === '' ? undefined : yield* encodeTextBody(content.html);
  const bodies = [text, html].filter((body) => body !== undefined);
  const seed = content.messageId.replace(/[^A-Za-z0-9]/g, '').slice(0, 56);
  const attachments = content.attachments ?? [];
  const inline = html === undefined ? [] : attachments.filter(isShownInline);
  const separate = attachments.filter((attachment) => !inline.includes(attachment));

  let main: Pieces = [];
  if (html !== undefined) {
    main = [textPart('html', html)];
    if (inline.length > 0) {
      const boundary = createBoundary('related', seed, bodies);
      const header = multipartHeader('related', boundary, ' type="text/html";');
      main = multipart(header, boundary, [main, ...inline.map(attachmentPart)]);
    }
  }
  if (text !== undefined) {
    const plain = textPart('plain', text);
    if (html === undefined) {
      main = [plain];
    } else {
      const boundary = createBoundary('alternative', seed, bodies);
      main = multipart(multipartHeader('alternative', boundary), boundary, [[plain], main]);
    }
  }
  if (separate.length > 0) {
    const boundary = createBoundary('mixed', seed, bodies);
    main = multipart(multipartHeader('mixed', boundary), boundary, [main, ...separate.map(attachmentPart)]);
  }
  return main;
}

function join(pieces: Pieces): RawMessage {
  const buffers: Buffer[] = [];
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      text += piece;
    } else {
      buffers.push(Buffer.from(text, 'latin1'), piece);
      text = '';
    }
  }
  const end = text.endsWith('\r\n') ? text : `${text}\r\n`;
  return buffers.length === 0 ? end : Buffer.concat([...buffers, Buffer.from(end, 'latin1')]);
}

/**
 * Creates a composer for messages with a common frame, so that each message costs only what differs. Custom headers may
 * replace Reply-To, and those of a message replace those of the frame. Headers with a malformed name, or one that
 * `isProtectedHeader`, are ignored.
 *
 * @throws UnsendableAddressError when `from` or `replyTo` has no ASCII form
 */
export function createMessageComposer(frame: MessageFrame): MessageComposer {
  const encodeCustomHeaders = createHeaderEncoder();
  const fromLine = encodeMailboxHeader('From', { ...frame.from, address: toWireAddress(frame.from.address) });
  const frameHeaders = encodeCustomHeaders([
    ...(frame.replyTo === undefined ? [] : [['Reply-To', toWireAddress(frame.replyTo)] as const]),
    ...(frame.headers ?? []),
  ]);
  const frameText = [...frameHeaders.values()].join('');
  const encodeDate = createDateEncoder();

  function customHeaders(headers: readonly HeaderField[] | undefined): string {
    if (headers === undefined || headers.length === 0) return frameText;
    const own = encodeCustomHeaders(headers);
    let text = '';
    for (const [key, line] of frameHeaders) {
      if (!own.has(key)) text += line;
    }
    for (const line of own.values()) text += line;
    return text;
  }

  function* composeSteps(content: MessageContent): Steps<RawMessage> {
    const isUtf8 = needsUtf8(content.recipient ?? content.to.address);
    const header =
      fromLine +
      encodeMailboxHeader('To', content.to, isUtf8) +
      (content.cc ? encodeMailboxesHeader('Cc', content.cc, isUtf8) : '') +
      encodeHeader('Subject', content.subject) +
      encodeDate(content.date) +
      encodeMessageId(content.messageId) +
      customHeaders(content.headers) +
      MIME_VERSION;
    return join([header, ...(yield* encodeBody(content))]);
  }

  return { compose: (content) => finish(composeSteps(content)), composeSteps };
}

/**
 * Composes one message (RFC 5322, MIME) as {@link MessageComposer.composeSteps} does.
 *
 * @throws UnsendableAddressError when an address has no form for a header
 */
export function composeSteps({ from, replyTo, ...content }: OutgoingMessage): Steps<RawMessage> {
  return createMessageComposer({ from, replyTo }).composeSteps(content);
}
