import { randomUUID } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { nextRoundMs } from '../../shared/pure/delivery-retry.ts';
import { domainOf } from '../../shared/pure/email-address.ts';
import { TASK_QUEUES } from '../../shared/pure/task-queues.ts';
import { deliveryIdOf } from '../../shared/pure/workflow-contracts.ts';
import { readSendPolicy } from '../../shared/domain/emails/send-budget.ts';
import {
  abandonMails,
  claimMails,
  findPendingMails,
  loadAttachments,
  loadMails,
  releaseMails,
  type StoredAttachment,
  type StoredMail,
} from '../../shared/domain/emails/transactional-delivery.ts';
import { recordTransactionalResults, type DeliveryResult } from '../../shared/domain/emails/delivery-results.ts';
import type { SendingIdentities } from '../../shared/domain/domains/sending-identities.ts';
import { createEnvelopes } from '../../shared/platform/mail/envelopes.ts';
import { messageIdOf } from '../../shared/platform/mail/message-id.ts';
import { composeMessage } from '../../shared/platform/mail/mime/compose.ts';
import type { SmtpUrgency } from '../../shared/platform/smtp/smtp-pool.ts';
import type { ActivityDeps } from '../deps.ts';
import { projectDisabledFailure } from '../failures.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { createResultBuffer } from './result-buffer.ts';
import { SEND_STALL_MS, sendMails, type PreparedMail } from './send-loop.ts';

export interface DeliverEmailsInput {
  projectId: string;
  emailIds: string[];
}

export interface DeliverEmailsResult {
  /** Mails that a server asked to send later. */
  deferredIds: string[];
  /** When to try them again. */
  retryInMs: number;
}

const RESULTS_MAX = 50;
const RESULTS_AGE_MS = 50;
/** Mails whose content is in memory at the same time; a body may have megabytes. */
const LOAD_SIZE = 20;

/** The delivery whose workflow has called the activity. */
function currentDeliveryId(): string {
  const { workflowExecution } = Context.current().info;
  if (!workflowExecution) throw new Error('a delivery is the work of a workflow');
  return deliveryIdOf(workflowExecution.workflowId);
}

/** What the activity was called for, by the queue that it came from. */
function currentUrgency(): SmtpUrgency {
  return Context.current().info.taskQueue === TASK_QUEUES.automations ? 'automation' : 'transactional';
}

/** Activities for transactional mail. */
export function createEmailActivities(deps: ActivityDeps & { identities: SendingIdentities }) {
  const envelopeOf = createEnvelopes(deps.config);

  async function prepare(projectId: string, mail: StoredMail, attachments: StoredAttachment[]): Promise<PreparedMail> {
    const { emailId, fromAddress: from, toAddress: to } = mail;
    const { signer, returnPathHost } = await deps.identities.identityOf(projectId, domainOf(from));
    return {
      emailId: mail.emailId,
      subject: null,
      deferrals: mail.deferrals,
      uncertainAttempts: mail.uncertainAttempts,
      envelope: envelopeOf({ emailId, from, to, returnPathHost }),
      compose() {
        const message = composeMessage({
          from: { address: mail.fromAddress, name: mail.fromName ?? undefined },
          to: { address: mail.toAddress, name: mail.toName ?? undefined },
          replyTo: mail.replyTo ?? undefined,
          subject: mail.subject,
          html: mail.html,
          text: mail.text,
          messageId: messageIdOf(mail.emailId, mail.fromAddress),
          date: mail.createdAt,
          headers: mail.headers,
          attachments: attachments.map((file) => ({ ...file, contentId: file.contentId ?? undefined })),
        });
        return signer ? signer.sign(message) : message;
      },
    };
  }

  return {
    /**
     * Sends the mails that are still to be sent. Safe to run twice: a mail that is decided is not claimed again, and
     * one that a dead attempt left undecided goes out under its old Message-ID.
     */
    async deliverEmails({ projectId, emailIds }: DeliverEmailsInput): Promise<DeliverEmailsResult> {
      const context = Context.current();
      const em = () => deps.orm.em.fork();
      const policy = await readSendPolicy(em(), projectId, deps.config.EMAIL_RATE_PER_SECOND);
      if (policy.isDisabled) throw projectDisabledFailure(projectId, deps.config.DELIVERY_PAUSE_SECONDS);

      const deliveryId = currentDeliveryId();
      const claimToken = randomUUID();
      const claimed = await claimMails(em(), emailIds, { deliveryId, claimToken });
      let onRecorded = (): void => undefined;
      const buffer = createResultBuffer({
        maxItems: RESULTS_MAX,
        maxAgeMs: RESULTS_AGE_MS,
        signal: context.cancellationSignal,
        async record(results: DeliveryResult[]) {
          await recordTransactionalResults(em(), projectId, claimToken, results, deps.config.DELIVERY_RETRY_SECONDS);
          onRecorded();
        },
      });
      // The heartbeat lasts until the results are recorded, which may have to wait for the database.
      await withHeartbeat(
        deps,
        async (signal, advance) => {
          onRecorded = advance;
          try {
            for (let start = 0; start < claimed.length; start += LOAD_SIZE) {
              const mails = await loadMails(em(), claimed.slice(start, start + LOAD_SIZE));
              const files = await attachmentsOf(mails);
              await sendMails(
                await Promise.all(
                  mails.map((mail) => prepare(projectId, mail, files.get(mail.attachmentSetId ?? '') ?? [])),
                ),
                {
                  pool: deps.smtp,
                  urgency: currentUrgency(),
                  buffer,
                  concurrency: deps.smtp.capacity,
                  config: deps.config,
                  mailCount: mails.length,
                  signal,
                  shouldStop: () => false,
                  ...(policy.ratePerSecond > 0 && { throttle: { em, projectId, ratePerSecond: policy.ratePerSecond } }),
                },
              );
            }
          } finally {
            await buffer.drain();
            await releaseMails(em(), claimToken);
          }
        },
        { stallMs: SEND_STALL_MS },
      );
      const pending = await findPendingMails(em(), emailIds, deliveryId);
      return {
        deferredIds: pending.map((mail) => mail.id),
        retryInMs: nextRoundMs(pending.map((mail) => mail.waitMs)),
      };
    },

    /** Gives up mails that no server took for days. */
    async abandonEmails({ emailIds, reason }: { emailIds: string[]; reason: string }): Promise<void> {
      await abandonMails(deps.orm.em.fork(), emailIds, currentDeliveryId(), reason);
    },
  };

  async function attachmentsOf(mails: StoredMail[]): Promise<Map<string, StoredAttachment[]>> {
    const sets = new Set(mails.flatMap((mail) => mail.attachmentSetId ?? []));
    const files = new Map<string, StoredAttachment[]>();
    for (const setId of sets) files.set(setId, await loadAttachments(deps.orm.em.fork(), setId));
    return files;
  }
}
