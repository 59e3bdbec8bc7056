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
  /** How long a message that is announced waits for the reply to the content before it. */
  announced: number;
  /** A server that does nothing for so long is silent, which has no consequence for the message. */
  silence: number;
}

/**
 * The values of RFC 5321 section 4.5.3.2. `transfer` and `announced` are ours: they bound the times for a
 * page of recipients, and for a message behind one that is slow.
 */
const REPLY_TIMEOUTS: Omit<ReplyTimeouts, 'silence'> = {
  mail: 300_000,
  rcpt: 300_000,
  data: 120_000,
  block: 180_000,
  transfer: 900_000,
  content: 600_000,
  announced: 10_000,
};

/** The longest time for one message, RSET included, when the server is as slow as allowed at every command. */
export const MESSAGE_MS_MAX =
  2 * REPLY_TIMEOUTS.mail +
  REPLY_TIMEOUTS.rcpt +
  REPLY_TIMEOUTS.data +
  REPLY_TIMEOUTS.transfer +
  REPLY_TIMEOUTS.content;

/** The given time limit for each reply, or the default ones. */
export function timeoutsOf(replyTimeoutMs: number | undefined, silence: number): ReplyTimeouts {
  if (replyTimeoutMs === undefined) return { ...REPLY_TIMEOUTS, silence };
  const each = replyTimeoutMs;
  const { transfer, announced } = REPLY_TIMEOUTS;
  const own = { transfer, announced: Math.min(announced, each / 2), silence };
  return { mail: each, rcpt: each, data: each, block: each, content: each, ...own };
}
