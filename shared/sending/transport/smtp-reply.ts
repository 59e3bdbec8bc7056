/** The reply of a server to a command, fit to be stored and shown. */
export interface SmtpReply {
  /** The three-digit code of RFC 5321 §4.2. */
  replyCode: number;
  /** The enhanced status code (RFC 3463), such as `5.1.1`, if the reply has one. */
  enhancedCode?: string;
  /** The whole text, control characters replaced by spaces, at most 1,000 characters. */
  reply: string;
}

const CODE = /^[2-5]\d\d(?:[ -]|$)/;
const REPLY = /^([2-5]\d\d)(?:[ -](?:([245]\.\d{1,3}\.\d{1,3})(?:\s|$))?|$)/;
const REPLY_LENGTH_MAX = 1000;

/** Makes text of a server fit to be stored and shown, whether it is a reply or not. */
export function printableReply(text: string): string {
  return text
    .slice(0, REPLY_LENGTH_MAX)
    .replace(/[\0-\x1f\x7f]+/g, ' ')
    .trim()
    .toWellFormed();
}

/** The code of a reply, as `parseSmtpReply` reads it. It is faster, and most replies need only the code. */
export function replyCodeOf(text: string): number | undefined {
  return CODE.test(text) ? Number(text.slice(0, 3)) : undefined;
}

/**
 * Reads a reply of one or several lines.
 * @returns undefined when the text does not start with a reply code
 */
export function parseSmtpReply(text: string): SmtpReply | undefined {
  const match = REPLY.exec(text);
  if (!match) return undefined;
  const reply = printableReply(text);
  return { replyCode: Number(match[1]), ...(match[2] === undefined ? {} : { enhancedCode: match[2] }), reply };
}
