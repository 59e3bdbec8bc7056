import { simpleParser, type ParsedMail } from 'mailparser';
import type { SMTPServerSession } from 'smtp-server';

/** A message that the sink has accepted. */
export interface ReceivedMessage {
  from: string;
  to: string[];
  /** The octets after dot-unstuffing. */
  raw: Buffer;
  receivedAt: Date;
  /** The requested delivery report (RFC 3461); undefined values were not requested. */
  receipt: { id: string | undefined; content: string | undefined; notify: string[] | undefined };
  /** Parses the message at the first call. */
  parsed(): Promise<ParsedMail>;
}

/** The messages that an SMTP server of a test has accepted. */
export interface ReceivedMessages {
  all: () => ReceivedMessage[];
  /** Messages received so far, also when they are not kept. */
  count: () => number;
  /** How many messages each recipient has got. */
  recipientCounts: () => ReadonlyMap<string, number>;
  add: (message: ReceivedMessage) => void;
  /** Resolves with the messages once there are `count`; rejects after `timeoutMs`. */
  waitFor: (count: number, timeoutMs: number) => Promise<ReceivedMessage[]>;
  clear: () => void;
}

/** The message of a session whose content is complete. */
export function receivedMessage({ envelope }: SMTPServerSession, raw: Buffer): ReceivedMessage {
  let parsed: Promise<ParsedMail> | undefined;
  return {
    from: envelope.mailFrom ? envelope.mailFrom.address : '',
    to: envelope.rcptTo.map((recipient) => recipient.address),
    raw,
    receivedAt: new Date(),
    receipt: {
      id: envelope.dsn?.envid ?? undefined,
      content: envelope.dsn?.ret ?? undefined,
      notify: envelope.rcptTo[0]?.dsn?.notify ?? undefined,
    },
    parsed: () => (parsed ??= simpleParser(raw)),
  };
}

/** `keepMessages` false keeps only the counts. */
export function createReceivedMessages(keepMessages: boolean): ReceivedMessages {
  const received: ReceivedMessage[] = [];
  const recipientCounts = new Map<string, number>();
  const waiters = new Set<() => void>();
  let count = 0;

  return {
    all: () => received,
    count: () => count,
    recipientCounts: () => recipientCounts,
    add(message) {
      count += 1;
      for (const address of message.to) recipientCounts.set(address, (recipientCounts.get(address) ?? 0) + 1);
      if (keepMessages) received.push(message);
      for (const check of waiters) check();
    },
    waitFor(wanted, timeoutMs) {
      return new Promise((resolve, reject) => {
        const check = () => {
          if (count < wanted) return;
          finish();
          resolve(received);
        };
        const timer = setTimeout(() => {
          finish();
          reject(new Error(`The SMTP sink has ${count} of ${wanted} messages after ${timeoutMs} ms`));
        }, timeoutMs);
        const finish = () => {
          clearTimeout(timer);
          waiters.delete(check);
        };
        waiters.add(check);
        check();
      });
    },
    clear() {
      received.length = 0;
      count = 0;
      recipientCounts.clear();
    },
  };
}
