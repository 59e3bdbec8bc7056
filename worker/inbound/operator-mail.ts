import { domainToASCII } from 'node:url';
import { judgeRefusal } from '../../shared/pure/emails/delivery-verdict/judge-refusal.ts';
import { domainOf } from '../../shared/pure/emails/email-address.ts';
import { isAutomatic } from '../../shared/platform/inbound/automatic-message.ts';
import { addressIn } from '../../shared/platform/inbound/inbound-message.ts';
import { readEntity, type MimeEntity } from '../../shared/platform/inbound/mime-reader.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { isReturnPathHost } from '../../shared/pure/emails/return-path.ts';
import { withTimeLimit } from '../../shared/platform/time-limit.ts';
import type { SmtpOutcome, SmtpPool } from '../../shared/platform/smtp/smtp-pool.ts';

/** The SMTP reply that refuses a message. */
export interface SmtpRefusal {
  code: number;
  text: string;
}

/** Forwards email to the operator of this installation. */
export interface OperatorMail {
  /**
   * Forwards a message unchanged, with a few header fields added in front.
   * @returns undefined once a mail server has accepted it; else the reply to give, so that the sender keeps the message
   */
  forward: (raw: Buffer, envelopeFrom: string) => Promise<SmtpRefusal | undefined>;
}

export interface OperatorMailOptions {
  /** OPERATOR_EMAIL. */
  operator: string;
  /** INBOUND_DOMAIN. */
  domain: string;
  smtp: Pick<SmtpPool, 'send'>;
  logger: Logger;
  now?: () => number;
  /** How long a server may take, in milliseconds; the sender of the message waits for it. */
  forwardMs?: number;
}

export const POSTMASTER = 'postmaster';

/** Whether a mailbox is one that RFC 2142 requires of every domain, for people. */
export function isOperatorMailbox(local: string): boolean {
  return local === POSTMASTER || local === 'abuse';
}

/** Names the listener that forwarded a message, so that the same listener recognizes the message. */
const FORWARDED_FIELD = 'Everpost-Forwarded';
/** Below the 30 seconds after which the listener ends a silent connection. */
const FORWARD_MS = 25_000;
/** The most Received fields of a message without a loop (RFC 5321 section 6.3); real messages have about five. */
const HOPS_MAX = 18;
/** Messages that may be forwarded at once; after them one per minute. */
const BURST_MAX = 30;
const MESSAGE_INTERVAL_MS = 60_000;

const LOOP: SmtpRefusal = { code: 554, text: '5.4.6 The message is in a loop' };
const TOO_MANY: SmtpRefusal = { code: 451, text: '4.7.1 Too many messages for the operator, try again later' };
const NOT_NOW: SmtpRefusal = { code: 451, text: '4.4.1 The message cannot be forwarded now, try again later' };
const NOT_TAKEN: SmtpRefusal = { code: 554, text: '5.3.0 The mail server of the operator refuses this message' };

/** Creates a limit of BURST_MAX messages at once, and one more each minute. */
function createAllowance(now: () => number): () => boolean {
  let usedUntilMs = 0;
  return () => {
    const nextMs = Math.max(usedUntilMs, now()) + MESSAGE_INTERVAL_MS;
    if (nextMs - now() > BURST_MAX * MESSAGE_INTERVAL_MS) return false;
    usedUntilMs = nextMs;
    return true;
  };
}

function refusalOf(outcome: SmtpOutcome): SmtpRefusal | undefined {
  if (outcome.kind === 'accepted') return undefined;
  if (outcome.kind !== 'rejected') return NOT_NOW;
  return judgeRefusal({ ...outcome, code: outcome.replyCode, text: outcome.reply }).mayPass ? NOT_NOW : NOT_TAKEN;
}

/**
 * Creates the forwarder of email to the operator. It sends through the SMTP servers of all email while the sender
 * waits: a message answered with 250 is already accepted by another server, so nothing has to be stored.
 *
 * It prevents loops. A message that this listener forwarded is recognized by a header field, and one that other servers
 * forwarded by its Received fields. A forwarded message has no envelope sender, so nobody returns or answers it.
 * Messages with a sender at this listener, and automatic replies in the name of the operator, are refused. The rate is
 * limited for any other loop.
 */
export function createOperatorMail(options: OperatorMailOptions): OperatorMail {
  const { operator, smtp, logger, now = Date.now, forwardMs = FORWARD_MS } = options;
  const host = domainToASCII(options.domain) || options.domain.toLowerCase();
  const mayForward = createAllowance(now);

  /** Whether a reply to the address would come to this listener. */
  function isHere(address: string): boolean {
    const domain = domainToASCII(domainOf(address));
    return domain === host || (isReturnPathHost(domain) && isOperatorMailbox(address.split('@')[0] ?? ''));
  }

  function isLoop(message: MimeEntity, envelopeFrom: string): boolean {
    const from = addressIn(message.field('from')) || envelopeFrom.toLowerCase();
    const authors = [envelopeFrom.toLowerCase(), from];
    const isOfOperator = authors.includes(operator.toLowerCase());
    return (
      message.fields(FORWARDED_FIELD.toLowerCase()).some((value) => value.trim().toLowerCase() === host) ||
      message.fields('received').length > HOPS_MAX ||
      authors.some(isHere) ||
      (isOfOperator && isAutomatic(message, { envelopeFrom, from, subject: message.field('subject') }))
    );
  }

  function fields(message: MimeEntity): string {
    const date = new Date(now()).toUTCString().replace('GMT', '+0000');
    const isMarked = /^auto-/i.test(message.field('auto-submitted'));
    return [
      `Received: by ${host} (Everpost) for <${operator}>; ${date}`,
      `${FORWARDED_FIELD}: ${host}`,
      ...(isMarked ? [] : ['Auto-Submitted: auto-generated']),
      '',
    ].join('\r\n');
  }

  async function send(raw: Buffer): Promise<SmtpRefusal | undefined> {
    const end = new AbortController();
    const sent = smtp.send({ from: '', to: operator }, raw, { signal: end.signal }).then(refusalOf);
    try {
      return await withTimeLimit(sent, forwardMs, () => NOT_NOW);
    } catch (error) {
      logger.warn({ err: error }, 'email to the operator cannot be forwarded now');
      return NOT_NOW;
    } finally {
      end.abort();
    }
  }

  return {
    async forward(raw, envelopeFrom) {
      const message = readEntity(raw.toString('latin1'));
      if (isLoop(message, envelopeFrom)) return LOOP;
      if (!mayForward()) return TOO_MANY;
      const refusal = await send(Buffer.concat([Buffer.from(fields(message), 'latin1'), raw]));
      if (refusal === NOT_TAKEN) logger.error('the mail server of OPERATOR_EMAIL refuses a forwarded message');
      return refusal;
    },
  };
}
