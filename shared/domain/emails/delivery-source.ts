import { domainOf } from '../../pure/emails/email-address.ts';
import { runWithYields } from '../../platform/yielding.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import { activeTrace } from '../../platform/tracing/spans.ts';
import type { Em } from '../../database/sql.ts';
import { findTraceContexts, type TraceContexts } from '../../durable/outbox/trace-contexts.ts';
import { createEnvelopes } from '../../sending/compose/envelopes.ts';
import { linkSignerOf } from '../../sending/compose/links.ts';
import { messageIdOf } from '../../sending/compose/message-id.ts';
import { composeSteps } from '../../sending/compose/mime/compose.ts';
import { encodeHeader } from '../../sending/compose/mime/header-encoding.ts';
import { trackMessage } from '../../sending/compose/tracked-message.ts';
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

/** Emails up to this size are loaded without reserving memory, so many octets at once. */
const LIGHT_BYTES_MAX = 262_144;
const LIGHT_BYTES_AT_ONCE = 20 * LIGHT_BYTES_MAX;

const sizeOf = (email: ClaimedEmail): number => email.bodyBytes + email.attachmentBytes;

/** Emails that are loaded and sent together. Those of a large group have the same attachments. */
interface Group {
  emails: ClaimedEmail[];
  isLight: boolean;
}

function* chunksOf(emails: ClaimedEmail[], isLight: boolean): Generator<Group> {
  const size = isLight ? Math.floor(LIGHT_BYTES_AT_ONCE / Math.max(1, ...emails.map(sizeOf))) : LARGE_AT_ONCE;
  for (let start = 0; start < emails.length; start += size) {
    yield { emails: emails.slice(start, start + size), isLight };
  }
}

/**
 * Divides emails into groups that need little memory at once: small ones first, then large ones, grouped by their
 * attachments.
 */
function* groupsOf(emails: ClaimedEmail[]): Generator<Group> {
  const isSmall = (email: ClaimedEmail): boolean => sizeOf(email) <= LIGHT_BYTES_MAX;
  yield* chunksOf(emails.filter(isSmall), true);
  const others = Map.groupBy(
    emails.filter((email) => !isSmall(email)),
    (email) => email.attachmentSetId ?? email.id,
  );
  for (const group of others.values()) yield* chunksOf(group, false);
}

/** Creates the function that prepares emails, which were rendered when they were queued. */
function createComposer({ config, identities }: DeliverySourceDeps) {
  const envelopeOf = createEnvelopes(config);
  const signer = linkSignerOf(config);

  /** A submitted message as its recipient gets it. */
  function composeSubmitted(projectId: string, email: StoredEmail, file: StoredAttachment): Buffer {
    const { emailId, contactId, headers } = email;
    const isTracked = file.submission?.isTracked && contactId !== null;
    const links = isTracked ? signer.recipientUrls({ contactId, emailId, projectId }) : undefined;
    const own = headers.map(([name, value]) => encodeHeader(name, value)).join('');
    return Buffer.concat([Buffer.from(own, 'latin1'), links ? trackMessage(file.content, links) : file.content]);
  }

  return async function prepare(
    projectId: string,
    email: StoredEmail,
    attachments: StoredAttachment[],
  ): Promise<EmailToSend> {
    const { emailId, fromAddress: from, toAddress: to, deferrals, uncertainAttempts, heldAt, answered } = email;
    const ledger = { emailId, subject: null, deferrals, uncertainAttempts, heldAt, answered };
    let identity: SendingIdentity;
    try {
      identity = await identities.identityOf(projectId, domainOf(from));
    } catch (cause) {
      return { ...ledger, cause };
    }
    const { signer: dkim, returnPathHost } = identity;
    const [file] = attachments;
    const envelope = envelopeOf({ emailId, from, to, returnPathHost });
    const submission = file?.submission;
    const queuedAt = email.scheduledAt ?? email.createdAt;
    const { addressed } = email;
    return {
      ...ledger,
      queuedAt,
      isMarketing: email.isMarketing,
      envelope: {
        ...envelope,
        ...(submission?.isEightBit && { isEightBit: true }),
        ...(submission?.isUtf8 && { isUtf8: true }),
        ...(submission?.ignoresTls && { ignoresTls: true }),
      },
      async compose() {
        if (file && submission) {
          const submitted = composeSubmitted(projectId, email, file);
          return dkim ? dkim.sign(submitted) : submitted;
        }
        const steps = composeSteps({
          from: { address: from, name: email.fromName ?? undefined },
          to: addressed?.to ?? { address: to, name: email.toName ?? undefined },
          cc: addressed?.cc ?? [],
          recipient: to,
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
        return dkim ? dkim.sign(message) : message;
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

  function batchOf(projectId: string, { emails, isLight }: Group): EmailBatch {
    const ids = emails.map(({ id }) => id);
    const setIds = [...new Set(emails.flatMap(({ attachmentSetId }) => attachmentSetId ?? []))];
    const sharedBytes = emails[0]?.attachmentBytes ?? 0;
    return {
      size: emails.length,
      ...(!isLight && { memory: { sharedBytes, messageBytes: Math.max(...emails.map(sizeOf)) } }),
      async load() {
        const files = await loadAttachments(em(), setIds);
        const stored = await loadEmails(em(), ids);
        return Promise.all(
          stored.map((email) => prepare(projectId, email, files.get(email.attachmentSetId ?? '') ?? [])),
        );
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
        for (let start = 0; start < claimed.length; start += limit) {
          const part = claimed.slice(start, start + limit);
          const batches = [...groupsOf(part)].map((group) => batchOf(projectId, group));
          yield { paced: part.length, left: claimed.length - start - part.length, batches };
        }
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
