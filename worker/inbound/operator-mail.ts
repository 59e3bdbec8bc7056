import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { judgeOutcome } from '../../shared/sending/verdict/judge-refusal.ts';
import { domainOf } from '../../shared/pure/emails/email-address.ts';
import { isAutomatic } from '../../shared/sending/reports/automatic-message.ts';
import { clientOf } from '../../shared/platform/client-address.ts';
import { createGuests } from '../../shared/platform/guests.ts';
import { addressIn } from '../../shared/sending/reports/inbound-message.ts';
import { readEntity, type MimeEntity } from '../../shared/sending/reports/mime-reader.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { isReturnPathHost } from '../../shared/pure/emails/return-path.ts';
import { withTimeLimit } from '../../shared/platform/time-limit.ts';
import type { SmtpOutcome, SmtpPool } from '../../shared/sending/transport/smtp-pool.ts';

/** The SMTP reply that refuses a message. */
export interface SmtpRefusal {
  code: number;
  text: string;
}

/** The server that brings a message. */
export interface InboundClient {
  address: string;
  /** As it named itself in HELO or EHLO. */
  name: string;
}

/** How a message came. */
export interface InboundEnvelope {
  /** The envelope sender; empty for reports. */
  from: string;
  client: InboundClient;
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
/**
 * Messages of one client that may be forwarded at once; after them one per minute. The bound of all clients together is
 * a bound for what leaves in the name of this installation.
 */
const FORWARDED = { units: 10, refillMs: 10 * 60_000, together: 10 };
/** The octets of a message for the operator. */
const MESSAGE_BYTES_MAX = 512 * 1024;

const LOOP: SmtpRefusal = { code: 554, text: '5.4.6 The message is in a loop' };
const TOO_MANY: SmtpRefusal = { code: 451, text: '4.7.1 Too many messages for the operator, try again later' };
const TOO_LARGE: SmtpRefusal = {
  code: 552,
  text: `5.3.4 A message for the operator has at most ${MESSAGE_BYTES_MAX} bytes`,
};
const NOT_NOW: SmtpRefusal = { code: 451, text: '4.4.1 The message cannot be forwarded now, try again later' };
const NOT_TAKEN: SmtpRefusal = { code: 554, text: '5.3.0 The mail server of the operator refuses this message' };

/** A host name or an address literal, as a client may name itself (RFC 5321 section 4.1.1.1). */
const CLIENT_NAME = /^[\w.:[\]-]{1,255}$/;

/** The client for a Received field (RFC 5321 section 4.4), such as `mx.example ([192.0.2.1])`. */
function clientText({ name, address }: InboundClient): string {
  const literal = ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
  const tag = literal?.kind() === 'ipv6' ? 'IPv6:' : '';
  return `${CLIENT_NAME.test(name) ? name : 'unknown'} ([${tag}${literal?.toString() ?? 'unknown'}])`;
}

function refusalOf(outcome: SmtpOutcome): SmtpRefusal | undefined {
  if (outcome.kind === 'accepted') return undefined;
  if (outcome.kind !== 'rejected') return NOT_NOW;
  return judgeOutcome(outcome).mayPass ? NOT_NOW : NOT_TAKEN;
}

/**
 * Creates the forwarder of email to the operator. It sends through the SMTP servers of all email while the sender
 * waits: a message answered with 250 is already accepted by another server, so nothing has to be stored.
 *
 * It prevents loops. A message that this listener forwarded is recognized by a header field, and one that other servers
 * forwarded by its Received fields. A forwarded message has no envelope sender, so nobody returns or answers it.
 * Messages with a sender at this listener, and automatic replies in the name of the operator, are refused. Each
 * client has units of its own, so that none keeps the mail of others waiting, and a loop ends.
 */
export function createOperatorMail(options: OperatorMailOptions) {
  const { operator, smtp, logger, now = Date.now, forwardMs = FORWARD_MS } = options;
  const host = domainToASCII(options.domain) || options.domain.toLowerCase();
  const guests = createGuests({ ...FORWARDED, now });

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

  function fields(message: MimeEntity, client: InboundClient): string {
    const date = new Date(now()).toUTCString().replace('GMT', '+0000');
    const isMarked = /^auto-/i.test(message.field('auto-submitted'));
    return [
      `Received: from ${clientText(client)} by ${host} (Everpost) for <${operator}>; ${date}`,
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
    /**
     * Forwards a message unchanged, with a few header fields added in front.
     * @returns undefined once a mail server has accepted it; else the reply to give, so that the sender keeps the message
     */
    forward: async (raw: Buffer, { from, client }: InboundEnvelope): Promise<SmtpRefusal | undefined> => {
      if (raw.length > MESSAGE_BYTES_MAX) return TOO_LARGE;
      const message = readEntity(raw.toString('latin1'));
      if (isLoop(message, from)) return LOOP;
      if (!guests.spend(clientOf(client.address), 1)) return TOO_MANY;
      const refusal = await send(Buffer.concat([Buffer.from(fields(message, client), 'latin1'), raw]));
      if (refusal === NOT_TAKEN) logger.error('the mail server of OPERATOR_EMAIL refuses a forwarded message');
      return refusal;
    },
  };
}

/** Forwards email to the operator of this installation. */
export type OperatorMail = ReturnType<typeof createOperatorMail>;
