import { domainToASCII } from 'node:url';
import {
  findRepliedMail,
  isReplyToAddress,
  recordComplaint,
  recordDeliveries,
  recordDelivery,
  recordHardBounce,
  recordReply,
  recordSoftBounce,
} from '../../shared/domain/emails/feedback.ts';
import type { Orm } from '../../shared/domain/orm.ts';
import type { LinkSigner } from '../../shared/platform/links.ts';
import { createGroupWriter } from '../../shared/platform/group-writer.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import type { DsnRecipient } from '../../shared/platform/mail/dsn.ts';
import { readInboundMessage, type InboundMessage } from '../../shared/platform/mail/inbound-message.ts';
import type { Verp } from '../../shared/platform/mail/verp.ts';
import { judgeReport } from '../../shared/pure/delivery-verdict/judge-report.ts';
import { normalizeAddress } from '../../shared/pure/email-address.ts';

/** An address that mail is taken for. */
export type InboundRecipient =
  { kind: 'mail'; emailId: string; address: string } | { kind: 'replyTo'; address: string } | { kind: 'reports' };

export interface InboundMail {
  /** What an address is for; undefined when nothing is taken for it. */
  findRecipient: (address: string) => Promise<InboundRecipient | undefined>;
  /** Acts upon a message. Whatever is in it, it throws only when the database cannot be reached. */
  take: (raw: Buffer, envelopeFrom: string, recipients: InboundRecipient[]) => Promise<void>;
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

/** Where feedback loops are told to report to, and what RFC 2142 asks every domain to have. */
const REPORT_MAILBOXES = new Set(['abuse', 'complaints', 'fbl', 'postmaster']);
/** What is said of the mail itself; "not-spam" and the like are not complaints. */
const COMPLAINT_TYPES = new Set(['abuse', 'fraud', 'virus']);
/**
 * Success in the words of RFC 3464 section 2.3.3: in the mailbox; handed on to a server that gives no receipts, which is
 * all that will ever be known; or handed on to the addresses behind this one.
 */
const DELIVERED_ACTIONS = new Set(['delivered', 'relayed', 'expanded']);
const DELIVERED = 'delivered';
const RECEIPTS_MAX = 200;

/** Decides what incoming mail is about and records it. */
export function createInboundMail(deps: InboundMailDeps): InboundMail {
  const { links, verp, logger } = deps;
  const em = () => deps.orm.em.fork();
  const host = domainToASCII(deps.domain) || deps.domain.toLowerCase();
  // A relay returns the receipts of a campaign over many connections at once: they share statements.
  const recordInGroup = createGroupWriter((emailIds: string[]) => recordDeliveries(em(), emailIds), RECEIPTS_MAX);

  /** A report proves which mail it is about by what we signed: the envelope sender, or the unsubscribe link. */
  function provenMail(evidence: string): string | undefined {
    for (const match of evidence.matchAll(/bounce\+[a-z2-7]{40}@[a-z0-9.-]{1,253}/gi)) {
      const emailId = verp.readAddress(match[0]);
      if (emailId !== undefined) return emailId;
    }
    for (const match of evidence.matchAll(/\/unsubscribe\/([\w-]{64})/g)) {
      const owner = links.readRecipientToken(match[1] ?? '');
      if (owner) return owner.emailId;
    }
    return undefined;
  }

  async function takeDsn(emailId: string, reportId: string, recipients: DsnRecipient[]): Promise<string> {
    const failed = recipients.find((each) => each.action === 'failed');
    if (failed) {
      const diagnostic = failed.diagnostic === '' ? failed.status : failed.diagnostic;
      const type = judgeReport(failed).kind === 'hard' ? 'hard' : 'soft';
      if (type === 'hard') await recordHardBounce(em(), emailId, diagnostic);
      else await recordSoftBounce(em(), emailId, diagnostic, reportId);
      return `${type} bounce ${failed.status}`;
    }
    if (recipients.some((each) => DELIVERED_ACTIONS.has(each.action))) {
      if (!(await recordInGroup(emailId))) await recordDelivery(em(), emailId);
      return DELIVERED;
    }
    return 'nothing yet';
  }

  async function act(message: InboundMessage, recipient: InboundRecipient): Promise<string> {
    switch (message.kind) {
      case 'complaint': {
        if (!COMPLAINT_TYPES.has(message.report.feedbackType)) return 'ignored feedback';
        const emailId = recipient.kind === 'mail' ? recipient.emailId : provenMail(message.report.evidence);
        if (emailId === undefined) return 'a complaint that proves no mail';
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
          recipient.kind === 'mail' ? recipient.emailId : await findRepliedMail(em(), { address, from, emailIds });
        if (emailId === undefined) return 'an answer to no mail';
        await recordReply(em(), emailId, { id, from, to: address, subject });
        return 'reply';
      }
    }
  }

  return {
    async findRecipient(text) {
      const address = normalizeAddress(text);
      const emailId = verp.readAddress(address);
      if (emailId !== undefined) return { kind: 'mail', emailId, address };
      const at = address.lastIndexOf('@');
      if (domainToASCII(address.slice(at + 1)) !== host) return undefined;
      if (REPORT_MAILBOXES.has(address.slice(0, at))) return { kind: 'reports' };
      return (await isReplyToAddress(em(), address)) ? { kind: 'replyTo', address } : undefined;
    },
    async take(raw, envelopeFrom, recipients) {
      const message = readInboundMessage(raw, envelopeFrom);
      for (const recipient of recipients) {
        const outcome = await act(message, recipient);
        const emailId = recipient.kind === 'mail' ? recipient.emailId : undefined;
        // One line per receipt would be as many as the mails of a campaign.
        logger[outcome === DELIVERED ? 'debug' : 'info'](
          { messageId: message.id.slice(0, 16), emailId, outcome },
          'inbound mail',
        );
      }
      deps.wakeDispatcher();
    },
  };
}
