/** How long a server may be silent, in milliseconds, at each command it owes a reply to. */
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

/** RFC 5321 section 4.5.3.2; the time for the whole content is ours, so that a page of recipients comes to its end. */
export const REPLY_TIMEOUTS: ReplyTimeouts = {
  mail: 300_000,
  rcpt: 300_000,
  data: 120_000,
  block: 180_000,
  transfer: 900_000,
  content: 600_000,
};

/** The longest time for a message whose server is as slow as allowed at every step, the RSET before it included. */
export const MESSAGE_MS_MAX =
  2 * REPLY_TIMEOUTS.mail +
  REPLY_TIMEOUTS.rcpt +
  REPLY_TIMEOUTS.data +
  REPLY_TIMEOUTS.transfer +
  REPLY_TIMEOUTS.content;

/** The same time limit for each reply where one is given. */
export function timeoutsOf(replyTimeoutMs: number | undefined): ReplyTimeouts {
  if (replyTimeoutMs === undefined) return REPLY_TIMEOUTS;
  const each = replyTimeoutMs;
  return { mail: each, rcpt: each, data: each, block: each, content: each, transfer: REPLY_TIMEOUTS.transfer };
}
