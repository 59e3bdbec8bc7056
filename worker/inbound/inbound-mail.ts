import {
  findRepliedMail,
  isReplyToAddress,
  recordComplaint,
  recordDelivery,
  recordHardBounce,
  recordReply,
  recordSoftBounce,
} from '../../shared/domain/emails/feedback.ts';
import type { Orm } from '../../shared/domain/orm.ts';
import type { LinkSigner } from '../../shared/platform/links.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import type { DsnRecipient } from '../../shared/platform/mail/dsn.ts';
import { readInboundMessage, type InboundMessage } from '../../shared/platform/mail/inbound-message.ts';
import type { Verp } from '../../shared/platform/mail/verp.ts';
import { bounceTypeOf } from '../../shared/pure/bounce.ts';
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

/** Decides what incoming mail is about and records it. */
export function createInboundMail(deps: InboundMailDeps): InboundMail {
  const { links, verp, logger } = deps;
  const em = () => deps.orm.em.fork();
  const host = deps.domain.toLowerCase();

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
      const type = bounceTypeOf(failed.status);
      if (type === 'hard') await recordHardBounce(em(), emailId, diagnostic);
      else await recordSoftBounce(em(), emailId, diagnostic, reportId);
      return `${type} bounce ${failed.status}`;
    }
    if (recipients.some((each) => each.action === 'delivered')) {
      await recordDelivery(em(), emailId);
      return 'delivered';
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
      const at = address.lastIndexOf('@');
      if (address.slice(at + 1) !== host) return undefined;
      const emailId = verp.readAddress(address);
      if (emailId !== undefined) return { kind: 'mail', emailId, address };
      if (REPORT_MAILBOXES.has(address.slice(0, at))) return { kind: 'reports' };
      return (await isReplyToAddress(em(), address)) ? { kind: 'replyTo', address } : undefined;
    },
    async take(raw, envelopeFrom, recipients) {
      const message = readInboundMessage(raw, envelopeFrom);
      for (const recipient of recipients) {
        const outcome = await act(message, recipient);
        const emailId = recipient.kind === 'mail' ? recipient.emailId : undefined;
        logger.info({ messageId: message.id.slice(0, 16), emailId, outcome }, 'inbound mail');
      }
      deps.wakeDispatcher();
    },
  };
}
