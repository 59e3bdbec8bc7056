import { badRequest } from '../../pure/app-error.ts';
import { LIMITS } from '../../pure/limits.ts';
import { isHeaderName, isRelayHeader } from '../../pure/emails/message-headers.ts';
import { decodeHeaderText } from '../reports/mime-reader.ts';
import { readMessage, type RawField } from './dkim/canonical.ts';
import { fitLines, foldField } from './line-lengths.ts';

/** A message that a program has submitted by SMTP. */
export interface SubmittedMessage {
  /** The one mailbox in the header From. The form of its address is not checked. */
  from: { address: string; name?: string };
  subject: string;
  /** The value of Message-ID; undefined when the message had none. */
  messageId: string | undefined;
  hasDate: boolean;
  /** The values of X-Everpost-Tag. */
  tags: string[];
  /** Whether it says itself whether it is automatic (RFC 3834). */
  hasAutoSubmitted: boolean;
  /** The message without its trace and without Bcc. Parts and encodings are as they were, where lines are not too long. */
  content: Buffer;
}

const HEADER_BYTES_MAX = 256 * 1024;
const SUBJECT_LENGTH_MAX = 998;
const NAME_LENGTH_MAX = 200;
const TAG_FIELD = 'x-everpost-tag';

/** What others wrote about the way of the message, what its readers must not see, and what Everpost sets itself. */
const DROPPED: ReadonlySet<string> = new Set([
  'received',
  'received-spf',
  'return-path',
  'delivered-to',
  'x-original-to',
  'x-originating-ip',
  'authentication-results',
  'dkim-signature',
  'domainkey-signature',
  'bcc',
  'resent-bcc',
  'feedback-id',
  TAG_FIELD,
]);

/** What Everpost adds when it is missing. Large providers refuse a message that has one of them twice. */
const COMPLETED = ['message-id', 'date'];

function keptFields(fields: readonly RawField[], allowed: readonly string[]): RawField[] {
  const first = COMPLETED.map((name) => fields.find((field) => field.name === name && valueOf(field) !== ''));
  return fields.filter((field) => {
    const { name } = field;
    if (COMPLETED.includes(name)) return first.includes(field);
    return !DROPPED.has(name) && !name.startsWith('arc-') && !isRelayHeader(name, allowed);
  });
}

function valueOf({ text }: RawField): string {
  return text
    .slice(text.indexOf(':') + 1)
    .replaceAll('\r\n', '')
    .trim();
}

/** Comments and quoted texts of an address list, which may contain anything. */
const OPAQUE = /"(?:[^"\\]|\\.)*"|\((?:[^()\\]|\\.)*\)/g;
const MAILBOX = /^(?:([^<>]*)<([^<>\s]+)>|([^<>\s]+))$/;

/**
 * The mailboxes of an address list (RFC 5322 section 3.4), in latin1.
 * @returns undefined for a list that can be read in several ways
 */
function mailboxesOf(list: string): { address: string; name: string }[] | undefined {
  const opaque: string[] = [];
  const shown = list.replace(OPAQUE, (text) => {
    if (text.startsWith('(')) return ' ';
    return `\0${opaque.push(text.slice(1, -1).replace(/\\(.)/g, '$1')) - 1}\0`;
  });
  const mailboxes: { address: string; name: string }[] = [];
  for (const each of shown.split(',')) {
    const match = MAILBOX.exec(each.trim());
    if (!match || /["()]/.test(each)) return undefined;
    const name = (match[1] ?? '').replace(/\0(\d+)\0/g, (_mark, index: string) => opaque[Number(index)] ?? '');
    mailboxes.push({ address: match[2] ?? match[3] ?? '', name: name.trim() });
  }
  return mailboxes;
}

/** Exactly one, because it decides who sends the message. */
function senderOf(fields: readonly RawField[]): SubmittedMessage['from'] {
  const [field, second] = fields.filter(({ name }) => name === 'from');
  if (!field) throw badRequest('The message has no From header');
  const [mailbox, other] = second ? [] : (mailboxesOf(valueOf(field)) ?? []);
  if (!mailbox || other) throw badRequest('The From header must have exactly one address');
  const name = decodeHeaderText(mailbox.name).slice(0, NAME_LENGTH_MAX);
  return { address: Buffer.from(mailbox.address, 'latin1').toString(), ...(name !== '' && { name }) };
}

/** Tags as `tags` of POST /v1/send takes them, but for commas, which separate them here. */
function tagsOf(fields: readonly RawField[]): string[] {
  const values = fields.filter(({ name }) => name === TAG_FIELD).map((field) => decodeHeaderText(valueOf(field)));
  const tags = [...new Set(values.flatMap((value) => value.split(',')).map((tag) => tag.trim()))].filter(Boolean);
  if (tags.length > LIMITS.emailTags)
    throw badRequest(`A message may have at most ${LIMITS.emailTags} tags (X-Everpost-Tag)`);
  if (tags.every((tag) => Array.from(tag).length <= LIMITS.emailTagLength)) return tags;
  throw badRequest(`A tag (X-Everpost-Tag) has at most ${LIMITS.emailTagLength} characters`);
}

/**
 * Reads a message with CRLF line ends and takes from its header what must not go on: its trace, Bcc, signatures of
 * others, orders for relays, and a second or empty Message-ID or Date.
 * @param headersAllowed see `isRelayHeader`
 * @throws AppError BAD_REQUEST for a message that cannot be sent
 */
export function readSubmittedMessage(raw: Buffer, headersAllowed: readonly string[]): SubmittedMessage {
  const headerEnd = raw.subarray(0, HEADER_BYTES_MAX).indexOf('\r\n\r\n');
  if (headerEnd === -1 && raw.length > HEADER_BYTES_MAX) {
    throw badRequest(`The header of the message is longer than ${HEADER_BYTES_MAX} bytes`);
  }
  const { fields, bodyStart } = readMessage(raw);
  if (raw.indexOf('\r\n') === 0 || !fields.every(({ name, text }) => isHeaderName(name) && text.includes(':'))) {
    throw badRequest('The message must begin with its header, one field per line');
  }
  const given = keptFields(fields, headersAllowed);
  const kept = given.map((field) => ({ ...field, text: foldField(field.text) }));
  const isKept =
    headerEnd !== -1 && kept.length === fields.length && kept.every(({ text }, n) => text === given[n]?.text);
  const first = (name: string): string => {
    const field = kept.find((each) => each.name === name);
    return field ? valueOf(field) : '';
  };
  return {
    from: senderOf(fields),
    subject: decodeHeaderText(first('subject')).slice(0, SUBJECT_LENGTH_MAX),
    messageId: first('message-id') || undefined,
    hasDate: first('date') !== '',
    tags: tagsOf(fields),
    hasAutoSubmitted: first('auto-submitted') !== '',
    content: fitLines(isKept ? raw : Buffer.concat([headerOf(kept), raw.subarray(bodyStart)])),
  };
}

/** A header of these fields, with the empty line after it. */
function headerOf(fields: readonly RawField[]): Buffer {
  return Buffer.from(`${fields.map(({ text }) => `${text}\r\n`).join('')}\r\n`, 'latin1');
}

/** The header fields that a message must have (RFC 5322 section 3.6), as far as it lacks them. */
export function missingFields({ messageId, hasDate }: SubmittedMessage, ownMessageId: string, date: Date): string {
  const id = messageId === undefined ? `Message-ID: <${ownMessageId}>\r\n` : '';
  return hasDate ? id : `${id}Date: ${date.toUTCString().replace('GMT', '+0000')}\r\n`;
}
