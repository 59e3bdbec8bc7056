import type { ConnectionBudget } from './connection-budget.ts';
import type { RawMessage } from './data-content.ts';
import type { SmtpReply } from './smtp-reply.ts';

/**
 * The envelope (RFC 5321): the envelope sender (MAIL FROM), empty for the null sender, and the one envelope recipient
 * (RCPT TO).
 */
export interface SmtpEnvelope {
  from: string;
  to: string;
  /** The id of a delivery notification (RFC 3461) that the server is asked for; ignored where it offers none. */
  receiptId?: string;
  /** Whether the content has octets beyond ASCII. */
  isEightBit?: boolean;
  /** Whether its header has UTF-8, so that it goes only to servers with SMTPUTF8 (RFC 6531); set also for such addresses. */
  isUtf8?: boolean;
  /** Whether it is sent also where a policy about TLS cannot be fulfilled. */
  ignoresTls?: boolean;
}

/** A message to send. Its addresses have the form that `toWireEnvelope` returns. */
export interface SmtpMessage {
  readonly envelope: SmtpEnvelope;
  readonly raw: RawMessage;
  /**
   * The message may be what breaks connections. It is sent command by command and no message is announced behind it. So
   * no other message is lost with it, and a server whose pipelining does not work takes it.
   */
  readonly isAlone: boolean;
  /** The labels of the servers that must not get the message. */
  readonly avoid?: ReadonlySet<string> | undefined;
}

/** The command at which a server refused a message: MAIL FROM, RCPT TO, or DATA with the content. */
export type SmtpStage = 'mail' | 'rcpt' | 'data';

/** The connection broke, or the server ended it with a reply such as 421, while it was handling the message. */
export interface SmtpInterruption {
  kind: 'interrupted';
  stage: SmtpStage;
  /** What happened, with the reply of the server if there was one. */
  reply: string;
  /** The content left completely, and no usable reply came: the server may have accepted the message. */
  mayHaveBeenAccepted: boolean;
  /** The mail host, where messages go to the hosts of their domains. */
  server?: string;
}

/**
 * The outcome of a message at a server: accepted, rejected (5xx), deferred (4xx), or unknown. Only a refusal at `rcpt`
 * is about the recipient; one at `mail` is about the envelope sender and one at `data` about the content.
 */
export type SmtpOutcome = (
  | { kind: 'accepted'; reply: string; /** The host of the server. */ server?: string }
  | ({
      kind: 'rejected' | 'deferred';
      stage: SmtpStage;
      /** The host of the server. */
      server?: string;
      /** No server said so. The words are ours, and only the codes are judged. */
      isOurs?: true;
      /** No server was asked, because all of them failed lately and are left alone until then, in milliseconds since 1970. */
      unaskedUntilMs?: number;
    } & SmtpReply)
  | SmtpInterruption
) & {
  /** The label of the server; missing when the message went to none. */
  relay?: string;
};

/** What the recipient's provider takes over one source. */
export interface MessageLimits {
  provider: string;
  /** A connection ends after so many messages for the provider. */
  messagesPerConnection?: number | undefined;
  /** The connections that this process may open, where a rule limits them. */
  budget?: ConnectionBudget | undefined;
  /** Whether a message that has not begun needs a new permit, see {@link StalePermitError}. */
  isStale?: boolean;
  /** Called whenever the message begins on a connection. */
  begun?: () => void;
}
