import type { RawMessage } from './data-content.ts';
import type { SmtpReply } from './smtp-reply.ts';

/** MAIL FROM and RCPT TO (RFC 5321): the envelope sender, empty for none, and the one envelope recipient. */
export interface SmtpEnvelope {
  from: string;
  to: string;
  /** Asks the server for delivery notifications (RFC 3461) that carry this id; ignored where it offers none. */
  receiptId?: string;
}

/** A message for a conversation; addresses in the form that `toWireAddress` answers. */
export interface SmtpMessage {
  readonly envelope: SmtpEnvelope;
  readonly raw: RawMessage;
  /**
   * The message may be what breaks connections: it goes step by step, with nothing announced behind it, so that no other
   * message is lost with it and a server that cannot pipeline after all takes it.
   */
  readonly isAlone: boolean;
  /** The labels of the servers that are not to get the message, if there are any. */
  readonly avoid?: ReadonlySet<string> | undefined;
}

/** The command a server refused a message at: MAIL FROM, RCPT TO, or DATA and the content after it. */
export type SmtpStage = 'mail' | 'rcpt' | 'data';

/** The connection broke, or the server ended it with a reply such as 421, while the message was its subject. */
export interface SmtpInterruption {
  kind: 'interrupted';
  stage: SmtpStage;
  /** What happened, with the server's words where it said something. */
  reply: string;
  /** The content left completely and no usable reply to it came: the server may have taken the message over. */
  mayHaveBeenAccepted: boolean;
}

/**
 * The outcome of a message at a server: taken over, refused for good (5xx), deferred (4xx), or unknown. Only
 * a refusal at `rcpt` speaks of the recipient; one at `mail` is about the sender and one at `data` about the content.
 */
export type SmtpOutcome = (
  | { kind: 'accepted'; reply: string; /** The host that said so. */ server?: string }
  | ({ kind: 'rejected' | 'deferred'; stage: SmtpStage; /** The host that said so. */ server?: string } & SmtpReply)
  | SmtpInterruption
) & {
  /** The label of the server that was asked; missing when none was. */
  relay?: string;
};
