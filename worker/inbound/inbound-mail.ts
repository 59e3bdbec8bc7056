import { findRepliedEmail, recordComplaint, recordReply } from '../../shared/domain/emails/feedback.ts';
import type { Em } from '../../shared/database/sql.ts';
import type { Orm } from '../../shared/domain/schema/orm.ts';
import type { LinkSigner } from '../../shared/sending/compose/links.ts';
import type { DnsResolver } from '../../shared/platform/dns/resolver.ts';
import type { Logger } from '../../shared/platform/logger.ts';
import { readInboundMessage, type InboundMessage } from '../../shared/sending/reports/inbound-message.ts';
import type { Verp } from '../../shared/sending/compose/verp.ts';
import { unsubscribeByEmail } from '../../shared/domain/emails/subscription-links.ts';
import { createRecipientFinder, type FindRecipient, type InboundRecipient } from './inbound-recipients.ts';
import { createProof, createReportRecorder, DELIVERED, type EmailProof } from './inbound-reports.ts';
import type { InboundEnvelope, OperatorMail, SmtpRefusal } from './operator-mail.ts';
import { createReporterCheck, type Reporter } from './proven-reporter.ts';

export interface MessageOutcome {
  /** The emails that the message is proven to be about. */
  proved: string[];
  /** The reply that refuses the message; in this case nothing was done. */
  refusal?: SmtpRefusal | undefined;
}

export interface InboundMail {
  findRecipient: FindRecipient;
  /** Handles a message. Throws only when the database cannot be reached, whatever the message contains. */
  take: (raw: Buffer, envelope: InboundEnvelope, recipients: InboundRecipient[]) => Promise<MessageOutcome>;
}

export interface InboundMailDeps {
  orm: Orm;
  logger: Logger;
  links: LinkSigner;
  verp: Verp;
  domain: string;
  /** Finds the keys of signatures. */
  dns: Pick<DnsResolver, 'txt'>;
  fblSources: readonly string[];
  /** Forwards email to the operator; without it such email is refused. */
  operatorMail?: OperatorMail | undefined;
}

/** Report types that are complaints; not-spam (RFC 6430) and auth-failure (RFC 6591) are not. */
const COMPLAINT_TYPES = new Set(['abuse', 'fraud', 'virus', 'miscategorized', 'opt-out', 'opt-out-list']);
const NO_OPERATOR: SmtpRefusal = { code: 550, text: '5.1.1 This mailbox takes reports of mail servers only' };

/** The dependencies of handling a message. */
interface RecorderDeps {
  em: () => Em;
  provenEmail: (evidence: string) => EmailProof | undefined;
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
 * Records what a complaint proves. It counts in complaint rates only from a proven reporter. A report that quotes no
 * more than an unsubscribe link ends the subscription: only from a reporter that the operator named is it a complaint,
 * which stops all email to the person.
 * @returns the outcome for the log
 */
async function recordComplaintReport(
  em: Em,
  { emailId, by }: EmailProof,
  findReporter: () => Promise<Reporter>,
): Promise<string> {
  const reporter = await findReporter();
  if (by === 'unsubscribe' && reporter !== 'named') {
    await unsubscribeByEmail(em, emailId);
    return 'unsubscribed by a report';
  }
  const isCounted = reporter !== 'unproven';
  await recordComplaint(em, emailId, { isCounted });
  return isCounted ? 'complaint' : 'a complaint of an unproven sender';
}

/** What the handling of one message shares. */
interface Handling {
  message: InboundMessage;
  /** Gets each email that the message is proven to be about. */
  prove: (emailId: string) => void;
  findReporter: () => Promise<Reporter>;
}

/**
 * Handles a message for one recipient.
 * @returns the outcome for the log
 */
async function recordMessage(
  recorderDeps: RecorderDeps,
  { message, prove, findReporter }: Handling,
  recipient: InboundRecipient,
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
      const proof: EmailProof | undefined =
        recipient.kind === 'email'
          ? { emailId: recipient.emailId, by: 'envelope' }
          : provenEmail(message.report.evidence);
      if (!proof) return 'a complaint about no known email';
      prove(proof.emailId);
      return recordComplaintReport(em(), proof, findReporter);
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
  const reporterOf = createReporterCheck(deps);
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

    async take(raw, envelope, recipients) {
      const message = readInboundMessage(raw, envelope.from);
      const isReport = message.kind === 'dsn' || message.kind === 'complaint';
      // The recipients of a message are either all for reports, or none of them is.
      if (!isReport && recipients.some(({ kind }) => kind === 'reports')) {
        const refusal = operatorMail ? await operatorMail.forward(raw, envelope) : NO_OPERATOR;
        log(message, refusal ? `not forwarded: ${refusal.code} ${refusal.text}` : 'forwarded');
        return { proved: [], refusal };
      }
      const proved: string[] = [];
      let reporter: Promise<Reporter> | undefined;
      const handling: Handling = {
        message,
        prove: (emailId) => proved.push(emailId),
        findReporter: () => (reporter ??= reporterOf(raw, envelope.client.address)),
      };
      for (const recipient of recipients) {
        const outcome = await recordMessage(recorderDeps, handling, recipient);
        log(message, outcome, 'emailId' in recipient ? recipient.emailId : undefined);
      }
      return { proved };
    },
  };
}
