import { domainOf } from '../../pure/emails/email-address.ts';
import { TemplateLimitError } from '../../pure/templates/template-language.ts';
import type { CampaignContent, PendingRecipient } from './campaign-delivery.ts';
import { purposeOf, refusalOf, type Refusal } from '../consent/consent.ts';
import { compileForTracking } from '../emails/tracked-kinds.ts';
import type { SendingIdentities } from '../domains/sending-identities.ts';
import type { Config } from '../../platform/config.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import type { DeliveryResult, EmailToSend } from '../../sending/ports.ts';
import { createEmailCompiler } from '../../sending/compose/compiled-email.ts';
import { createMessageHeaders } from '../../sending/compose/message-headers.ts';
import { createEnvelopes } from '../../sending/compose/envelopes.ts';
import { messageIdsOf } from '../../sending/compose/message-id.ts';
import { createMessageComposer } from '../../sending/compose/mime/compose.ts';

/** The result of a recipient who gets no email. */
type WithoutEmail = Pick<DeliveryResult, 'verdict' | 'error'>;

/** Makes the messages of one campaign. */
export interface CampaignComposer {
  /** Why a recipient gets no email; undefined if it gets one. */
  withoutEmail: (recipient: PendingRecipient) => WithoutEmail | undefined;
  /** Prepares the emails of recipients, and renders each when it is needed. */
  prepareAll: (recipients: PendingRecipient[]) => Generator<EmailToSend>;
}

export interface ComposerDeps {
  config: Config;
  links: LinkSigner;
  identities: SendingIdentities;
}

/** Creates the function that makes the composer of a campaign. It keeps compiled templates. */
export function createCampaignComposers(deps: ComposerDeps) {
  const compileEmail = createEmailCompiler();
  const envelopeOf = createEnvelopes(deps.config);

  /** @throws TemplateSyntaxError, TemplateLimitError, DkimKeyError */
  return async function composerOf(campaign: CampaignContent): Promise<CampaignComposer> {
    const { type } = campaign;
    const headersOf = createMessageHeaders({
      ...campaign,
      source: 'campaign',
      sourceId: campaign.id,
      listName: campaign.brand.displayName,
    });
    const { subject, body: html, text, preheader, brand, topic } = campaign;
    const source = { subject, html, text, preheader, type, brand, topic };
    const contentFor = await compileForTracking(compileEmail, source, campaign.tracking);
    const messageIdOf = messageIdsOf(campaign.from);
    const composer = createMessageComposer({
      from: { address: campaign.from, name: campaign.fromName ?? campaign.brand.displayName ?? undefined },
      replyTo: campaign.replyTo ?? undefined,
    });
    const identity = await deps.identities.identityOf(campaign.projectId, domainOf(campaign.from));

    function prepare(recipient: PendingRecipient): EmailToSend {
      const { emailId, toAddress, contactId, subscribed, data } = recipient;
      const without = withoutEmail(campaign, recipient);
      if (without) return { emailId, subject: null, ...without };
      // `withoutEmail` has excluded these cases.
      if (toAddress === null || contactId === null || subscribed === null || data === null) throw new TypeError();
      const urls = deps.links.recipientUrls({ contactId, emailId, projectId: campaign.projectId });
      const message = contentFor(recipient.trackingAllowed).render({
        contact: { id: contactId, email: toAddress, subscribed, data },
        urls,
      });
      return {
        ...ledgerOf(recipient),
        subject: message.subject === campaign.subject ? null : message.subject,
        envelope: envelopeOf({ emailId, from: campaign.from, to: toAddress, returnPathHost: identity.returnPathHost }),
        compose() {
          const composed = composer.compose({
            to: { address: toAddress },
            ...message,
            messageId: messageIdOf(emailId),
            date: new Date(),
            headers: headersOf(urls),
          });
          return identity.signer?.sign(composed) ?? composed;
        },
      };
    }

    return {
      withoutEmail: (recipient) => withoutEmail(campaign, recipient),
      *prepareAll(recipients) {
        for (const recipient of recipients) {
          try {
            yield prepare(recipient);
          } catch (error) {
            const { emailId } = recipient;
            if (!(error instanceof TemplateLimitError)) yield { ...ledgerOf(recipient), subject: null, cause: error };
            else yield { emailId, subject: null, verdict: 'failed', error: error.message };
          }
        }
      },
    };
  };
}

function ledgerOf({ emailId, deferrals, uncertainAttempts, heldAt, answered }: PendingRecipient) {
  return { emailId, deferrals, uncertainAttempts, heldAt, answered };
}

/** Why a recipient whom the audience had is skipped now. */
const SKIPPED: Readonly<Record<Exclude<Refusal, 'suppressed'>, string>> = {
  pending: 'the contact has not confirmed the subscription',
  unsubscribed: 'the contact has unsubscribed',
  'opted out': 'the contact has unsubscribed',
  paused: 'the contact has paused marketing',
  'left topic': 'the contact has left the topic',
  'not in topic': 'the contact has not joined the topic',
};

function withoutEmail({ type, topic }: CampaignContent, recipient: PendingRecipient): WithoutEmail | undefined {
  const refusal = refusalOf(purposeOf(type), { ...recipient, id: recipient.contactId }, topic);
  if (refusal === 'suppressed') return { verdict: 'suppressed', error: recipient.suppression ?? refusal };
  const { toAddress, contactId, subscribed, data } = recipient;
  if (toAddress === null || contactId === null || subscribed === null || data === null) {
    return { verdict: 'skipped', error: 'the contact has been deleted' };
  }
  return refusal && { verdict: 'skipped', error: SKIPPED[refusal] };
}
