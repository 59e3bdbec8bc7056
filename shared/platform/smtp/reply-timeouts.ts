/** How long a server may be silent at each command, in milliseconds. */
export interface ReplyTimeouts {
  mail: number;
  rcpt: number;
  data: number;
  /** Until the next part of the content has left. */
  block: number;
  /** Until all of it has left. */
  transfer: number;
  /** From the end of the content on. */
  content: number;
}

/** The values of RFC 5321 section 4.5.3.2. `transfer` is ours: it bounds the time for a page of recipients. */
const REPLY_TIMEOUTS: ReplyTimeouts = {
  mail: 300_000,
  rcpt: 300_000,
  data: 120_000,
  block: 180_000,
  transfer: 900_000,
  content: 600_000,
};

/** The longest time for one message, RSET included, when the server is as slow as allowed at every command. */
export const MESSAGE_MS_MAX =
  2 * REPLY_TIMEOUTS.mail +
  REPLY_TIMEOUTS.rcpt +
  REPLY_TIMEOUTS.data +
  REPLY_TIMEOUTS.transfer +
  REPLY_TIMEOUTS.content;

/** The given time limit for each reply, or the default ones. */
export function timeoutsOf(replyTimeoutMs: number | undefined): ReplyTimeouts {
  if (replyTimeoutMs === undefined) return REPLY_TIMEOUTS;
  const each = replyTimeoutMs;
  return { mail: each, rcpt: each, data: each, block: each, content: each, transfer: REPLY_TIMEOUTS.transfer };
}
