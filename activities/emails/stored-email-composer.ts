import { domainOf } from '../../shared/pure/emails/email-address.ts';
import type { StoredAttachment, StoredEmail } from '../../shared/domain/emails/transactional-delivery.ts';
import type { SendingIdentities, SendingIdentity } from '../../shared/domain/domains/sending-identities.ts';
import { createEnvelopes } from '../../shared/sending/compose/envelopes.ts';
import { messageIdOf } from '../../shared/sending/compose/message-id.ts';
import { composeSteps } from '../../shared/sending/compose/mime/compose.ts';
import { inTurns } from '../../shared/platform/turns.ts';
import type { ActivityDeps } from '../deps.ts';
import type { EmailToSend } from '../../shared/sending/ports.ts';

/** Creates the function that prepares emails that were rendered when they were queued. */
export function createStoredEmailComposer(deps: ActivityDeps & { identities: SendingIdentities }) {
  const envelopeOf = createEnvelopes(deps.config);

  return async function prepare(
    projectId: string,
    email: StoredEmail,
    attachments: StoredAttachment[],
  ): Promise<EmailToSend> {
    const { emailId, fromAddress: from, toAddress: to, deferrals, uncertainAttempts, heldAt } = email;
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
      queuedAt: email.createdAt,
      envelope: envelopeOf({ emailId, from, to, returnPathHost }),
      async compose() {
        const steps = composeSteps({
          from: { address: from, name: email.fromName ?? undefined },
          to: { address: to, name: email.toName ?? undefined },
          replyTo: email.replyTo ?? undefined,
          subject: email.subject,
          html: email.html,
          text: email.text,
          messageId: messageIdOf(emailId, from),
          date: email.createdAt,
          headers: email.headers,
          attachments: attachments.map((file) => ({ ...file, contentId: file.contentId ?? undefined })),
        });
        const message = await inTurns(steps);
        return signer ? signer.sign(message) : message;
      },
    };
  };
}
