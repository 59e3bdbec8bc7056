import { stripTags } from '../../pure/strip-tags.ts';
import { DIAGNOSTIC_LENGTH_MAX, readStatusGroups, statusOf, type DsnRecipient } from './dsn.ts';
import { decodeText, printable, type MimeEntity } from './mime-reader.ts';
import { isMailServer } from './automatic-message.ts';
import { FAILURE_WORDS, isDelay, ORIGINAL_MARKS } from './notice-words.ts';

/** The length of the text that is read. A report says at its beginning what happened. */
const TEXT_LENGTH_MAX = 16 * 1024;
/** The same of HTML, which begins with its styles. */
const HTML_LENGTH_MAX = 128 * 1024;
/** Types of parts that contain the returned message, or its header. */
const ORIGINAL_TYPES =
  /^(?:message\/(?:rfc822|global|partial|news|rfc822-headers|global-headers)|text\/rfc822-headers)$/;
/** Fields of a returned message that some servers append to the text without a separate part. */
const ORIGINAL_FIELDS = /^(?:received|return-path|dkim-signature|mime-version|x-mailer|arc-seal):/im;

/** Whether a part contains the returned message, rather than text about it. */
function isOriginal(part: MimeEntity): boolean {
  return ORIGINAL_TYPES.test(part.contentType) || part.field('received') !== '';
}

/** The text of a report before the returned message. */
export function wordsOfNotice(message: MimeEntity, parts: readonly MimeEntity[]): string {
  const original = parts.findIndex(isOriginal);
  const before = parts.slice(0, original === -1 ? parts.length : original);
  const isText = (part: MimeEntity): boolean => /^(?:text\/plain|)$/.test(part.contentType);
  const isHtml = (part: MimeEntity): boolean => part.contentType === 'text/html';
  const among = parts.length === 0 ? [message] : before;
  const plain = among.filter(isText).map(decodeText).join('\n\n');
  const html = (): string => among.filter(isHtml).map(decodeText).join('\n\n').slice(0, HTML_LENGTH_MAX);
  const text = plain.trim() === '' ? stripTags(html()) : plain;
  const read = text.slice(0, TEXT_LENGTH_MAX).trim();
  const ends = [ORIGINAL_MARKS, ORIGINAL_FIELDS].map((mark) => mark.exec(read)?.index ?? -1).filter((end) => end > 20);
  return read.slice(0, ends.length > 0 ? Math.min(...ends) : read.length).trim();
}

/**
 * Host names in a text, such as `host spam.example [192.0.2.1]`. They are removed, because words in them would mislead.
 */
const HOST =
  /\b(?:host:?|mx|server|talking to|by|from) {1,5}[\w-]{1,63}(?:\.[\w-]{1,63}){1,9}\.?(?:\[[^\]\s]{1,60}\]| ?\(?\[[\d.:a-f]{3,45}\]\)?)?(?::\d+)?(?=[\s:,]|$)/gi;
const REPLY =
  /(?:^|[\s:<>("'[=#])(?:[45]\d\d(?:[ :-]{1,5}#?[45]\.\d{1,3}\.\d{1,3}\b|[ :-]{1,5}(?=\S{0,40}[^\W\d]))|#?[45]\.\d{1,2}\.\d{1,3}(?=[\s:),>])|error_code ?:? ?[45]\d\d)/im;

/** Fields of the returned message that a report repeats in its text. The subject of a newsletter is no reason. */
const REPEATED_FIELD =
  /^[ \t]*(?:(?:original )?subject|betreff|objet|asunto|assunto|oggetto|onderwerp|temat|тема|件名|主题|主旨)[ \t]*[:：].*$|^[ \t]*(?:from|[\w-]{0,20}sender|von|de|absender|reply-to|return-path|cc|date|sent|message[- ]?id)[ \t]*:[^@\n]*(?:@\S*)?[ \t]*$/gim;
/** Sentences that advise the reader, and sentences that guess at reasons. */
const ADVICE =
  /^\W*(?:please|if (?:you|your|this|the problem)|for (?:further|more|additional)|you (?:may|can|should|might)|(?:note|dear) (?:to )?(?:the )?sender)\b/i;
const GUESS = /\b(?:may|might|perhaps|maybe|possibl[ey]|probably|either)\b/i;

/** A report's own text without what it says about other things than the reason; all of it when nothing else is left. */
function withoutAside(text: string): string {
  const sentences = text.split(/(?<=[.!?])\s+|\n[ \t]*\n/);
  const said = sentences.filter((each) => !ADVICE.test(each) && !GUESS.test(each)).join('\n');
  return /\p{L}{3}/u.test(said) ? said : text;
}

/** The paragraphs that quote a server, or the whole text when none does. */
export function reasonIn(words: string): string {
  const text = words.replace(REPEATED_FIELD, ' ');
  const paragraphs = text.split(/\n[ \t]*\r?\n/);
  const quoted = paragraphs.filter((paragraph) => REPLY.test(paragraph));
  const lines = (quoted.length > 0 ? quoted.join('\n') : withoutAside(text)).split('\n');
  // Later attempts at other servers, and commands after the refusal, say less than the refusal.
  const isRefused = lines.some((line) => /^\W{0,6}5(?!03)\d\d[ -]/.test(line));
  const reason = lines.filter((line) => !isRefused || !/^\W{0,6}(?:4\d\d|503)[ -]/.test(line)).join(' ');
  return printable(reason.replace(HOST, ' ').replace(/\s+/g, ' ')).slice(0, DIAGNOSTIC_LENGTH_MAX);
}

const TO_RECIPIENT = /deliver(?:ed)? to:?\s{0,5}(?:the following[^@]{0,120})?<?[^\s@<>]{1,64}@/;

/**
 * Whether a message reports a failure. For a mail server, the subject or the text is enough. For other senders it takes
 * both, or a quoted server reply, because people who are away write that they cannot be reached.
 */
function isFailure({ title, text, isServer }: { title: string; text: string; isServer: boolean }): boolean {
  const isTitled = FAILURE_WORDS.test(title);
  const isSaid = FAILURE_WORDS.test(text);
  return isServer ? isTitled || isSaid : isSaid && (isTitled || REPLY.test(text) || TO_RECIPIENT.test(text));
}

const ADDRESS = /[^\s<>()[\]:;,"']{1,64}@[^\s<>()[\]:;,"']{1,255}/;

function recipientIn(words: string): string {
  return ADDRESS.exec(words)?.[0].toLowerCase() ?? '';
}

/**
 * Reads reports in free text: those of qmail, Exim, Exchange, Notes and many others, and the fields of RFC 3464 within
 * a text.
 * @returns undefined when the message is no such report
 */
export function parseFailureNotice(
  message: MimeEntity,
  parts: readonly MimeEntity[],
  subject: string,
): DsnRecipient[] | undefined {
  const words = wordsOfNotice(message, parts);
  const [title, text] = [subject.toLowerCase(), words.toLowerCase()];
  const isDelayed = isDelay(`${title}\n${text}`);
  if (!isDelayed && !isFailure({ title, text, isServer: isMailServer(message.field('from')) })) return undefined;
  const groups = /^(?:final|original)-recipient:/im.test(words) ? readStatusGroups(words) : [];
  if (groups.length > 0) {
    return groups.map((each) => (each.diagnostic === '' ? { ...each, diagnostic: reasonIn(words) } : each));
  }
  const diagnostic = reasonIn(words);
  const action = isDelayed ? 'delayed' : 'failed';
  return [
    { action, status: statusOf('', diagnostic, action), diagnostic, recipient: recipientIn(words), remoteMta: '' },
  ];
}
