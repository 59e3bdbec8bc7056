import { domainOf } from '../../pure/emails/email-address.ts';
import { runWithYields } from '../../platform/yielding.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import { activeTrace } from '../../platform/tracing/spans.ts';
import type { Em } from '../../database/em.ts';
import { findTraceContexts, type TraceContexts } from '../../durable/outbox/trace-contexts.ts';
import { createEnvelopes } from '../../sending/compose/envelopes.ts';
import { messageIdOf } from '../../sending/compose/message-id.ts';
import { composeSteps } from '../../sending/compose/mime/compose.ts';
import { LARGE_AT_ONCE } from '../../sending/large-messages.ts';
import type { Claim, EmailBatch, EmailSource, EmailToSend } from '../../sending/ports.ts';
import type { SmtpUrgency } from '../../sending/transport/smtp-pool.ts';
import type { SendingIdentities, SendingIdentity } from '../domains/sending-identities.ts';
import {
  claimEmails,
  loadAttachments,
  loadEmails,
  releaseEmails,
  type ClaimedEmail,
  type StoredAttachment,
  type StoredEmail,
} from './transactional-delivery.ts';

export interface DeliverySourceDeps {
  config: Config;
  orm: { em: Em };
  logger: Logger;
  identities: SendingIdentities;
}

/** Emails of a delivery. */
export interface DeliveryEmails {
  deliveryId: string;
  projectId: string;
  urgency: SmtpUrgency;
  emailIds: string[];
}

export interface DeliverySource extends EmailSource<Claim> {
  /** The number of emails that were claimed. */
  claimedCount: () => number;
}

/** Emails up to this size are loaded without reserving memory. */
const LIGHT_BYTES_MAX = 262_144;
const LIGHT_AT_ONCE = 20;

const sizeOf = (email: ClaimedEmail): number => email.bodyBytes + email.attachmentBytes;

/** Emails that are loaded and sent together, and their attachments, which all of them have. */
interface Group {
  emails: ClaimedEmail[];
  attachmentSetId: string | null;
  isLight: boolean;
}

function* chunksOf(emails: ClaimedEmail[], isLight: boolean): Generator<Group> {
  const size = isLight ? LIGHT_AT_ONCE : LARGE_AT_ONCE;
  for (let start = 0; start < emails.length; start += size) {
    const chunk = emails.slice(start, start + size);
    yield { emails: chunk, attachmentSetId: chunk[0]?.attachmentSetId ?? null, isLight };
  }
}

/**
 * Divides emails into groups that need little memory at once: small ones first, then large ones, grouped by their
 * attachments.
 */
function* groupsOf(emails: ClaimedEmail[]): Generator<Group> {
  const isSmall = (email: ClaimedEmail): boolean => sizeOf(email) <= LIGHT_BYTES_MAX;
  const isPlain = (email: ClaimedEmail): boolean => isSmall(email) && email.attachmentSetId === null;
  yield* chunksOf(emails.filter(isPlain), true);
  const others = Map.groupBy(
    emails.filter((email) => !isPlain(email)),
    (email) => email.attachmentSetId ?? email.id,
  );
  for (const group of others.values()) yield* chunksOf(group, group.every(isSmall));
}

/** Creates the function that prepares emails, which were rendered when they were queued. */
function createComposer({ config, identities }: DeliverySourceDeps) {
  const envelopeOf = createEnvelopes(config);

  return async function prepare(
    projectId: string,
    email: StoredEmail,
    attachments: StoredAttachment[],
  ): Promise<EmailToSend> {
    const { emailId, fromAddress: from, toAddress: to, deferrals, uncertainAttempts, heldAt } = email;
    const ledger = { emailId, subject: null, deferrals, uncertainAttempts, heldAt };
    let identity: SendingIdentity;
    try {
      identity = await identities.identityOf(projectId, domainOf(from));
    } catch (cause) {
      return { ...ledger, cause };
    }
    const { signer, returnPathHost } = identity;
    const queuedAt = email.scheduledAt ?? email.createdAt;
    const { addressed } = email;
    return {
      ...ledger,
      queuedAt,
      envelope: envelopeOf({ emailId, from, to, returnPathHost }),
      async compose() {
        const steps = composeSteps({
          from: { address: from, name: email.fromName ?? undefined },
          to: addressed?.to ?? { address: to, name: email.toName ?? undefined },
          cc: addressed?.cc ?? [],
          replyTo: email.replyTo ?? undefined,
          subject: email.subject,
          html: email.html,
          text: email.text,
          messageId: messageIdOf(addressed?.emailId ?? emailId, from),
          date: queuedAt,
          headers: email.headers,
          attachments: attachments.map((file) => ({ ...file, contentId: file.contentId ?? undefined })),
        });
        const message = await runWithYields(steps);
        return signer ? signer.sign(message) : message;
      },
    };
  };
}

/** Creates the function that makes sources of the emails of deliveries. */
export function createDeliverySources(deps: DeliverySourceDeps): (delivery: DeliveryEmails) => DeliverySource {
  const em = (): Em => deps.orm.em.fork();
  const prepare = createComposer(deps);

  /** The traces of emails. Nothing is queried while tracing is off. */
  async function tracesOf(ids: string[]): Promise<TraceContexts | undefined> {
    if (!deps.config.tracing.isOn) return undefined;
    try {
      return await findTraceContexts(em(), ids);
    } catch (error) {
      deps.logger.warn({ err: error }, 'traces could not be read, the work goes on without them');
      return undefined;
    }
  }

  function batchOf(projectId: string, { emails, attachmentSetId, isLight }: Group): EmailBatch {
    const ids = emails.map(({ id }) => id);
    const sharedBytes = emails[0]?.attachmentBytes ?? 0;
    return {
      size: emails.length,
      ...(!isLight && { memory: { sharedBytes, messageBytes: Math.max(...emails.map(sizeOf)) } }),
      async load() {
        const files = attachmentSetId === null ? [] : await loadAttachments(em(), attachmentSetId);
        const stored = await loadEmails(em(), ids);
        return Promise.all(stored.map((email) => prepare(projectId, email, files)));
      },
    };
  }

  return ({ deliveryId, projectId, urgency, emailIds }) => {
    let claimed: ClaimedEmail[] = [];
    let claimToken = '';
    let traces: TraceContexts | undefined;
    const attempt = activeTrace();
    return {
      urgency,
      claimedCount: () => claimed.length,
      claimWith: (token) => ({ scope: deliveryId, claimToken: token, projectId }),
      async claim(claim) {
        ({ claimToken } = claim);
        claimed = await claimEmails(em(), emailIds, { deliveryId, claimToken });
      },
      async *parts(limit = claimed.length) {
        if (claimed.length === 0) return;
        traces = await tracesOf(claimed.map(({ id }) => id));
        const part = claimed.slice(0, limit);
        const batches = [...groupsOf(part)].map((group) => batchOf(projectId, group));
        yield { paced: part.length, left: claimed.length - part.length, batches };
      },
      // An email of another trace belongs to its own, with a link to the attempt.
      traceOf(emailId) {
        const own = traces?.get(emailId);
        if (!own || own.parent.traceId === attempt?.traceId) return own && { parent: attempt ?? own.parent };
        return { parent: own.parent, links: attempt ? [attempt] : [] };
      },
      async release(decided) {
        const ids = claimed.map(({ id }) => id);
        if (decided < ids.length) await releaseEmails(em(), ids, claimToken);
      },
    };
  };
}
