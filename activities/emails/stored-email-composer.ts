import { domainOf } from '../../shared/pure/emails/email-address.ts';
import type { StoredAttachment, StoredEmail } from '../../shared/domain/emails/transactional-delivery.ts';
import type { SendingIdentities, SendingIdentity } from '../../shared/domain/domains/sending-identities.ts';
import { createEnvelopes } from '../../shared/platform/mail/envelopes.ts';
import { messageIdOf } from '../../shared/platform/mail/message-id.ts';
import { composeMessage } from '../../shared/platform/mail/mime/compose.ts';
import type { ActivityDeps } from '../deps.ts';
import type { EmailToSend } from './send-loop.ts';

/** Creates what makes messages of emails that were rendered when they were queued. */
export function createStoredEmailComposer(deps: ActivityDeps & { identities: SendingIdentities }) {
  const envelopeOf = createEnvelopes(deps.config);

  return async function prepare(
    projectId: string,
    mail: StoredEmail,
    attachments: StoredAttachment[],
  ): Promise<EmailToSend> {
    const { emailId, fromAddress: from, toAddress: to, deferrals, uncertainAttempts, heldAt } = mail;
    const ledger = { emailId, subject: null, deferrals, uncertainAttempts, heldAt };
    let identity: SendingIdentity;
    try {
      identity = await deps.identities.identityOf(projectId, domainOf(from));
    } catch (cause) {
      return { ...ledger, cause };
    }
    const { signer, returnPathHost } = identity;
    return {
      ...ledger,
      queuedAt: mail.createdAt,
      envelope: envelopeOf({ emailId, from, to, returnPathHost }),
      compose() {
        const message = composeMessage({
          from: { address: from, name: mail.fromName ?? undefined },
          to: { address: to, name: mail.toName ?? undefined },
          replyTo: mail.replyTo ?? undefined,
          subject: mail.subject,
          html: mail.html,
          text: mail.text,
          messageId: messageIdOf(emailId, from),
          date: mail.createdAt,
          headers: mail.headers,
          attachments: attachments.map((file) => ({ ...file, contentId: file.contentId ?? undefined })),
        });
        return signer ? signer.sign(message) : message;
      },
    };
  };
}
