import { findRepliedEmail, recordComplaint, recordReply } from '../../shared/domain/emails/feedback.ts';
import type { Em } from '../../shared/domain/database/em.ts';
import type { Orm } from '../../shared/domain/schema/orm.ts';
import type { LinkSigner } from '../../shared/platform/links.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { readInboundMessage, type InboundMessage } from '../../shared/platform/inbound/inbound-message.ts';
import type { Verp } from '../../shared/platform/mail/verp.ts';
import { unsubscribeByEmail } from '../../shared/domain/emails/subscription-links.ts';
import { createRecipientFinder, type FindRecipient, type InboundRecipient } from './inbound-recipients.ts';
import { createProof, createReportRecorder, DELIVERED } from './inbound-reports.ts';
import type { OperatorMail, SmtpRefusal } from './operator-mail.ts';

export interface MessageOutcome {
  /** The emails that the message is proven to be about. */
  proved: string[];
  /** The reply that refuses the message; in this case nothing was done. */
  refusal?: SmtpRefusal | undefined;
}

export interface InboundMail {
  findRecipient: FindRecipient;
  /** Handles a message. Throws only when the database cannot be reached, whatever the message contains. */
  take: (raw: Buffer, envelopeFrom: string, recipients: InboundRecipient[]) => Promise<MessageOutcome>;
}

export interface InboundMailDeps {
  orm: Orm;
  logger: Logger;
  links: LinkSigner;
  verp: Verp;
  /** INBOUND_DOMAIN. */
  domain: string;
  /** Forwards email to the operator; without it such email is refused. */
  operatorMail?: OperatorMail | undefined;
  /** Called after something was recorded. */
  wakeDispatcher: () => void;
}

/** Report types that are complaints; not-spam (RFC 6430) and auth-failure (RFC 6591) are not. */
const COMPLAINT_TYPES = new Set(['abuse', 'fraud', 'virus', 'miscategorized', 'opt-out', 'opt-out-list']);
const NO_OPERATOR: SmtpRefusal = { code: 550, text: '5.1.1 This mailbox takes reports of mail servers only' };

/** The dependencies of handling a message. */
interface RecorderDeps {
  em: () => Em;
  provenEmail: (evidence: string) => string | undefined;
  recordReport: ReturnType<typeof createReportRecorder>;
}

/**
 * Records the reply of a recipient.
 * @returns undefined when it answers no email
 */
async function recordReplyMessage(
  { em }: RecorderDeps,
  message: Extract<InboundMessage, { kind: 'reply' }>,
  recipient: Extract<InboundRecipient, { address: string }>,
): Promise<string | undefined> {
  const { from, emailIds, subject, id } = message;
  const emailId =
    recipient.kind === 'email' ? recipient.emailId : await findRepliedEmail(em(), recipient.projectId, emailIds);
  if (emailId !== undefined) await recordReply(em(), emailId, { id, from, to: recipient.address, subject });
  return emailId;
}

/**
 * Handles a message for one recipient.
 * @param prove gets each email that the message is proven to be about
 * @returns the outcome for the log
 */
async function recordMessage(
  recorderDeps: RecorderDeps,
  message: InboundMessage,
  recipient: InboundRecipient,
  prove: (emailId: string) => void,
): Promise<string> {
  const { em, provenEmail, recordReport } = recorderDeps;
  if (recipient.kind === 'unsubscribe') {
    if (message.kind === 'dsn') return 'unknown report';
    prove(recipient.emailId);
    await unsubscribeByEmail(em(), recipient.emailId);
    return 'unsubscribed';
  }
  switch (message.kind) {
    case 'complaint': {
      if (!COMPLAINT_TYPES.has(message.report.feedbackType)) return 'ignored feedback';
      const emailId = recipient.kind === 'email' ? recipient.emailId : provenEmail(message.report.evidence);
      if (emailId === undefined) return 'a complaint about no known email';
      prove(emailId);
      await recordComplaint(em(), emailId);
      return 'complaint';
    }
    case 'dsn':
      return recipient.kind === 'email'
        ? recordReport(recipient.emailId, message.id, message.recipients)
        : 'unknown report';
    case 'automatic':
      return 'an automatic reply';
    case 'reply': {
      if (recipient.kind === 'reports') return 'nothing to record';
      const emailId = await recordReplyMessage(recorderDeps, message, recipient);
      if (emailId === undefined) return 'a reply to no known email';
      prove(emailId);
      return 'reply';
    }
  }
}

/** Creates the handler of inbound messages: it finds out what a message is about, and records that. */
export function createInboundMail(deps: InboundMailDeps): InboundMail {
  const { links, verp, logger, domain, operatorMail } = deps;
  const em = () => deps.orm.em.fork();
  const recorderDeps: RecorderDeps = {
    em,
    provenEmail: createProof(verp, links),
    recordReport: createReportRecorder(em),
  };

  function log(message: InboundMessage, outcome: string, emailId?: string): void {
    // Receipts may be as many as the emails of a campaign.
    logger[outcome === DELIVERED ? 'debug' : 'info'](
      { messageId: message.id.slice(0, 16), emailId, outcome },
      'inbound mail',
    );
  }

  return {
    findRecipient: createRecipientFinder({ em, verp, domain, hasOperator: operatorMail !== undefined }),

    async take(raw, envelopeFrom, recipients) {
      const message = readInboundMessage(raw, envelopeFrom);
      const isReport = message.kind === 'dsn' || message.kind === 'complaint';
      // The recipients of a message are either all for reports, or none of them is.
      if (!isReport && recipients.some(({ kind }) => kind === 'reports')) {
        const refusal = operatorMail ? await operatorMail.forward(raw, envelopeFrom) : NO_OPERATOR;
        log(message, refusal ? `not forwarded: ${refusal.code} ${refusal.text}` : 'forwarded');
        return { proved: [], refusal };
      }
      const proved: string[] = [];
      for (const recipient of recipients) {
        const outcome = await recordMessage(recorderDeps, message, recipient, (emailId) => proved.push(emailId));
        log(message, outcome, 'emailId' in recipient ? recipient.emailId : undefined);
      }
      deps.wakeDispatcher();
      return { proved };
    },
  };
}
