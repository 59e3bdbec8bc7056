import { domainToASCII } from 'node:url';
import {
  findEmailAddress,
  findRepliedMail,
  recordComplaint,
  recordDeliveries,
  recordDelivery,
  recordHardBounce,
  recordReply,
  recordSoftBounce,
} from '../../shared/domain/emails/feedback.ts';
import { findReplyAddressOwner, REPORT_MAILBOXES, toReplyAddress } from '../../shared/domain/emails/reply-addresses.ts';
import type { Orm } from '../../shared/domain/schema/orm.ts';
import type { LinkSigner } from '../../shared/platform/links.ts';
import { createGroupWriter } from '../../shared/platform/group-writer.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import type { DsnRecipient } from '../../shared/platform/inbound/dsn.ts';
import { readInboundMessage, type InboundMessage } from '../../shared/platform/inbound/inbound-message.ts';
import type { Verp } from '../../shared/platform/mail/verp.ts';
import { unsubscribeByMail } from '../../shared/domain/emails/subscription-links.ts';
import { judgeReport } from '../../shared/pure/emails/delivery-verdict/judge-report.ts';
import { createReplyAddressBook } from './reply-address-book.ts';

/** An address that mail is taken for. */
export type InboundRecipient =
  | { kind: 'mail'; emailId: string; address: string }
  | { kind: 'unsubscribe'; emailId: string }
  | { kind: 'replyTo'; projectId: string; address: string }
  | { kind: 'reports' };

export interface InboundMail {
  /**
   * What an address is for; undefined when nothing is taken for it, `later` when that may not be looked up for this
   * client (`mayGuess`).
   */
  findRecipient: (address: string, mayGuess: () => boolean) => Promise<InboundRecipient | undefined | 'later'>;
  /**
   * Acts upon a message. Whatever is in it, it throws only when the database cannot be reached.
   * @returns the mails of ours that the message proves to be about
   */
  take: (raw: Buffer, envelopeFrom: string, recipients: InboundRecipient[]) => Promise<string[]>;
}

export interface InboundMailDeps {
  orm: Orm;
  logger: Logger;
  links: LinkSigner;
  verp: Verp;
  /** INBOUND_DOMAIN. */
  domain: string;
  /** Called after something was recorded. */
  wakeDispatcher: () => void;
}

/** What readers say of the mail itself; not-spam (RFC 6430) and auth-failure (RFC 6591) are no complaints. */
const COMPLAINT_TYPES = new Set(['abuse', 'fraud', 'virus', 'miscategorized', 'opt-out', 'opt-out-list']);
/**
 * Success in the words of RFC 3464 section 2.3.3: in the mailbox; handed on to a server that gives no receipts, which is
 * all that will ever be known; or handed on to the addresses behind this one.
 */
const DELIVERED_ACTIONS = new Set(['delivered', 'relayed', 'expanded']);
const DELIVERED = 'delivered';
const RECEIPTS_MAX = 200;
/** Of the server's words, as much as is kept with an email. */
const DIAGNOSTIC_LENGTH_MAX = 500;
const POSTMASTER = 'postmaster';

/** Decides what incoming mail is about and records it. */
export function createInboundMail(deps: InboundMailDeps): InboundMail {
  const { links, verp, logger } = deps;
  const em = () => deps.orm.em.fork();
  const host = domainToASCII(deps.domain) || deps.domain.toLowerCase();
  const replyAddresses = createReplyAddressBook({ find: (address) => findReplyAddressOwner(em(), address) });
  // A relay returns the receipts of a campaign over many connections at once: they share statements.
  const recordInGroup = createGroupWriter((emailIds: string[]) => recordDeliveries(em(), emailIds), RECEIPTS_MAX);

  /** A report proves which mail it is about by what we signed: the envelope sender, or the unsubscribe link. */
  function provenMail(evidence: string): string | undefined {
    for (const match of evidence.matchAll(/bounce\+[a-z2-7]{40}@[a-z0-9.-]{1,253}/gi)) {
      const emailId = verp.readAddress(match[0]);
      if (emailId !== undefined) return emailId;
    }
    for (const match of evidence.matchAll(/unsubscribe\+[a-z2-7]{40}@[a-z0-9.-]{1,253}/gi)) {
      const emailId = verp.readUnsubscribeAddress(match[0]);
      if (emailId !== undefined) return emailId;
    }
    for (const match of evidence.matchAll(/\/unsubscribe\/([\w-]{64})/g)) {
      const owner = links.readRecipientToken(match[1] ?? '');
      if (owner) return owner.emailId;
    }
    return undefined;
  }

  /**
   * Of several failures of different kinds the one of our recipient; where it is not among them, as after a
   * forwarding, one that costs nobody a subscription.
   */
  async function ownFailure<F extends { failed: DsnRecipient; kind: string }>(
    emailId: string,
    failures: F[],
  ): Promise<F> {
    const address = await findEmailAddress(em(), emailId);
    const [mildest] = failures.filter((each) => each.kind !== 'hard');
    const own = failures.find(({ failed }) => failed.recipient === address) ?? mildest;
    if (!own) throw new TypeError('no failure among several kinds');
    return own;
  }

  async function takeDsn(emailId: string, reportId: string, recipients: DsnRecipient[]): Promise<string> {
    const failures = recipients
      .filter((each) => each.action === 'failed')
      .map((failed) => ({ failed, ...judgeReport(failed) }));
    const [first] = failures;
    if (first) {
      const isAgreed = failures.every((each) => each.kind === first.kind);
      const { failed, kind, rule } = isAgreed ? first : await ownFailure(emailId, failures);
      const diagnostic = (failed.diagnostic === '' ? failed.status : failed.diagnostic).slice(0, DIAGNOSTIC_LENGTH_MAX);
      const failure = { kind, rule, diagnostic, ...(failed.remoteMta !== '' && { server: failed.remoteMta }) };
      if (kind === 'hard') await recordHardBounce(em(), emailId, failure);
      else await recordSoftBounce(em(), emailId, failure, reportId);
      return `${kind === 'hard' ? 'hard' : 'soft'} bounce ${failed.status} ${rule}`;
    }
    if (recipients.some((each) => DELIVERED_ACTIONS.has(each.action))) {
      if (!(await recordInGroup(emailId))) await recordDelivery(em(), emailId);
      return DELIVERED;
    }
    return 'nothing yet';
  }

  /** @param prove is told of a mail of ours that the message proves to be about */
  async function act(
    message: InboundMessage,
    recipient: InboundRecipient,
    prove: (emailId: string) => void,
  ): Promise<string> {
    if (recipient.kind === 'unsubscribe') {
      if (message.kind === 'dsn') return 'unknown report';
      prove(recipient.emailId);
      await unsubscribeByMail(em(), recipient.emailId);
      return 'unsubscribed';
    }
    switch (message.kind) {
      case 'complaint': {
        if (!COMPLAINT_TYPES.has(message.report.feedbackType)) return 'ignored feedback';
        const emailId = recipient.kind === 'mail' ? recipient.emailId : provenMail(message.report.evidence);
        if (emailId === undefined) return 'a complaint that proves no mail';
        prove(emailId);
        await recordComplaint(em(), emailId);
        return 'complaint';
      }
      case 'dsn':
        return recipient.kind === 'mail'
          ? takeDsn(recipient.emailId, message.id, message.recipients)
          : 'unknown report';
      case 'automatic':
        return 'an automatic answer';
      case 'reply': {
        if (recipient.kind === 'reports') return 'nothing to act upon';
        const { from, emailIds, subject, id } = message;
        const { address } = recipient;
        const emailId =
          recipient.kind === 'mail' ? recipient.emailId : await findRepliedMail(em(), recipient.projectId, emailIds);
        if (emailId === undefined) return 'an answer to no mail';
        prove(emailId);
        await recordReply(em(), emailId, { id, from, to: address, subject });
        return 'reply';
      }
    }
  }

  return {
    async findRecipient(text, mayGuess) {
      const address = toReplyAddress(text);
      const emailId = verp.readAddress(address);
      if (emailId !== undefined) return { kind: 'mail', emailId, address };
      const unsubscribed = verp.readUnsubscribeAddress(address);
      if (unsubscribed !== undefined) return { kind: 'unsubscribe', emailId: unsubscribed };
      // RFC 5321 section 4.5.1: "postmaster" is taken without a domain as well.
      if (address === POSTMASTER) return { kind: 'reports' };
      const at = address.lastIndexOf('@');
      const isHere = address.slice(at + 1) === host;
      if (isHere && REPORT_MAILBOXES.has(address.slice(0, at))) return { kind: 'reports' };
      if (!isHere) return mayGuess() ? undefined : 'later';
      const owner = await replyAddresses.ownerOf(address, mayGuess);
      if (owner === 'later') return owner;
      return owner === 'unknown' ? undefined : { kind: 'replyTo', address, ...owner };
    },
    async take(raw, envelopeFrom, recipients) {
      const message = readInboundMessage(raw, envelopeFrom);
      const proved: string[] = [];
      for (const recipient of recipients) {
        const outcome = await act(message, recipient, (emailId) => proved.push(emailId));
        const emailId = 'emailId' in recipient ? recipient.emailId : undefined;
        // One line per receipt would be as many as the mails of a campaign.
        logger[outcome === DELIVERED ? 'debug' : 'info'](
          { messageId: message.id.slice(0, 16), emailId, outcome },
          'inbound mail',
        );
      }
      deps.wakeDispatcher();
      return proved;
    },
  };
}
