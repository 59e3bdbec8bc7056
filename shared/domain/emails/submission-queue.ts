import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { uuidV7 } from '../../platform/uuid.ts';
import { AppError } from '../../pure/app-error.ts';
import { formerSpelling } from '../../pure/emails/email-address.ts';
import { isEmailTracked, type TrackingMode } from '../../pure/project.ts';
import { createYields } from '../../platform/yielding.ts';
import { OCTETS_MAX, type ProjectWriterDeps } from '../../database/project-writer.ts';
import { isUnmet } from '../../database/database-errors.ts';
import {
  json,
  lockTimeoutSelect,
  queryPrepared,
  selectIf,
  sql,
  type Em,
  type SqlFragment,
} from '../../database/sql.ts';
import { number } from '../../database/tables.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import { messageIdOf } from '../../sending/compose/message-id.ts';
import { lastingPiecesOf } from '../../sending/compose/repeated-message.ts';
import { createMessageHeaders } from '../../sending/compose/message-headers.ts';
import { missingFields, type SubmittedMessage } from '../../sending/compose/submitted-message.ts';
import { mailContacts } from '../contacts/mail-contacts.ts';
import { nameOfDomain } from '../domains/sender-domains.ts';
import { findKeyOwners, type KeyOwner } from '../projects/key-usage.ts';
import { claimsInsert, countKeys } from '../idempotency/idempotency.ts';
import {
  attempt,
  createEmailQueue,
  isReady,
  RECIPIENTS_MAX,
  type Outcome,
  type QueueInput,
  type Ready,
  type SizedEmail,
} from './email-queue.ts';
import { emailInserts } from './stored-email.ts';
import { chunksOf, contactRowsOf, domainRefusal } from './transactional-request.ts';

/** A submitted message, and who gets it. */
export interface Submission {
  project: { id: string; tracking: TrackingMode };
  message: SubmittedMessage;
  isEightBit: boolean;
  /** Whether it was submitted with SMTPUTF8. */
  isUtf8: boolean;
  /** The key that submitted it. */
  keyId: string;
  keyHash: string;
  /** The envelope recipients, normalised, each once. */
  recipients: string[];
}

/**
 * Stores a message, an email for each recipient, what delivers them, and the key that the message is known by, all or
 * nothing.
 * @returns the id of the message
 * @throws AppError INVALID_API_KEY for a key that has ended, PROJECT_DISABLED, ROLE_REFUSED for a domain that the key may not
 *   send from, SENDER_DOMAIN_REFUSED, IDEMPOTENCY_KEY_REUSED with the detail `originalStatusCode`, which is null while
 *   the same message is being stored
 */
export type SubmissionQueue = (submission: Submission) => Promise<string>;

export interface SubmissionQueueDeps extends ProjectWriterDeps {
  links: LinkSigner;
  /** How long a message is known. */
  ttlHours: number;
}

/** A connection has its next message only after two answers more, of which the first waits for its key. */
const RETURN_MS = 8;

type SubmissionInput = QueueInput & Submission & { setId: string; key: string | undefined };

/** Creates the queue of submitted messages. */
export function createSubmissionQueue({ em, slots, links, ttlHours }: SubmissionQueueDeps): SubmissionQueue {
  const queue = createEmailQueue<SubmissionInput>({
    em,
    slots,
    returnMs: RETURN_MS,
    storeAtOnce: (own, inputs, lockMs) => storeAtOnce(own, inputs, { links, ttlHours, lockMs }),
    async resolve(own, inputs) {
      const owners = await findKeyOwners(own, [...new Set(inputs.map(({ keyHash }) => keyHash))]);
      return inputs.map((input) => {
        const from = input.message.from.address;
        const owner = owners.find(({ lookup }) => lookup === input.keyHash);
        return keyRefusal(owner, from) ?? { input, from, compile: async () => readySubmission(input, links, ttlHours) };
      });
    },
  });
  return async (submission) => {
    const { project, message, recipients } = submission;
    const key = await idempotencyKeyOf(message, recipients);
    const setId = uuidV7();
    const keys = key === undefined ? recipients : [key, ...recipients];
    const isAlone = recipients.length > RECIPIENTS_MAX;
    const octets = message.content.length;
    const [first] = await queue({ ...submission, setId, key, keys, isAlone, projectId: project.id, octets });
    return first?.emailId ?? setId;
  };
}

/** Why a key may not send from an address any more. Whether its role may send at all was asked when it logged in. */
function keyRefusal(owner: KeyOwner | undefined, from: string): AppError | undefined {
  if (!owner || owner.has_expired) return new AppError('INVALID_API_KEY', { message: 'The API key has ended' });
  if (owner.disabled) return new AppError('PROJECT_DISABLED');
  return domainRefusal(owner.sender_domains, from);
}

/** Its message is the only file of a set, with the fields that it lacks. */
function readySubmission(input: SubmissionInput, links: LinkSigner, ttlHours: number): Ready {
  const { projectId, project, setId, key, message, isEightBit } = input;
  const isUtf8 = input.isUtf8 && !isAscii(message.content.subarray(0, message.content.indexOf('\r\n\r\n') + 1));
  const fields = missingFields(message, messageIdOf(setId, message.from.address), new Date());
  const file = { filename: 'message.eml', contentType: 'message/rfc822', disposition: 'attachment' } as const;
  const content = fields === '' ? message.content : Buffer.concat([Buffer.from(fields, 'latin1'), message.content]);
  const submission = {
    isTracked: isEmailTracked(project.tracking, 'TRANSACTIONAL'),
    isEightBit,
    ...(isUtf8 && { isUtf8 }),
  };
  return {
    input,
    wanted: key === undefined ? undefined : { projectId, key, token: setId, request: 'SMTP', ttlHours },
    files: [{ ...file, setId, position: 0, content, submission }],
    parts: () =>
      chunksOf(input.recipients.map((address) => ({ address }))).map((chunk) => {
        const to = chunk.map(({ recipient }) => recipient);
        return {
          contacts: contactRowsOf({ to }),
          render: async (_tx, contactOf) => emailsOf(input, to, contactOf, links),
        };
      }),
  };
}

/**
 * Stores a group of messages in one statement. A contact that exists is not changed.
 * @returns for each message its emails, with contacts that may have other ids; undefined when nothing was stored: a message
 *   may have to be refused or has no Message-ID, the group has many octets, an address has another spelling, or another
 *   statement has created a contact or claimed a key meanwhile
 */
async function storeAtOnce(
  em: Em,
  inputs: SubmissionInput[],
  { links, ttlHours, lockMs }: { links: LinkSigner; ttlHours: number; lockMs: number | undefined },
): Promise<Outcome[] | undefined> {
  const projectId = inputs[0]?.projectId ?? '';
  // Its repetition after a lost connection would be stored too: PostgreSQL may end a statement that nobody waits for.
  if (inputs.some(({ key }) => key === undefined)) return undefined;
  if (inputs.reduce((sum, { octets }) => sum + octets, 0) > OCTETS_MAX) return undefined;
  const to = inputs.flatMap(({ recipients }) => recipients.map((address) => ({ address })));
  if (to.some(({ address }) => formerSpelling(address) !== undefined)) return undefined;
  const prepared = await Promise.all(inputs.map((input) => attempt(() => readySubmission(input, links, ttlHours))));
  const ready = prepared.filter(isReady);
  if (ready.length < inputs.length) return undefined;
  const wanted = ready.flatMap((each) => each.wanted ?? []);
  const contacts = to.map(({ address }) => ({ email: address, id: uuidV7() }));
  const contactOf = new Map(contacts.map((contact) => [contact.email, contact]));
  const emails = inputs.map((input) =>
    emailsOf(
      input,
      input.recipients.map((address) => ({ address })),
      contactOf,
      links,
    ),
  );
  const senders = new Map(
    inputs.map(({ keyId, message }) => {
      const sender = { keyId, domain: nameOfDomain(message.from.address) };
      return [`${sender.keyId} ${sender.domain}`, sender];
    }),
  );
  const where = sql`
    where (${countKeys(projectId, wanted)}) = 0
      and (${countSenders(projectId, [...senders.values()])}) = ${senders.size}::int`;
  const parts = await emailInserts(em, projectId, emails.flat(), {
    files: ready.flatMap((each) => each.files),
    where: sql`where exists (select from lock_limit)`,
    contactId: sql`coalesce((select h.id from held h where h.email = to_address), contact_id)`,
  });
  try {
    const stored = await queryPrepared(
      em,
      sql`
        with lock_limit as materialized (${lockTimeoutSelect(lockMs)} ${where}),
        ${mailContacts(projectId, contacts)},
        claimed as (${claimsInsert(wanted, 200)}),
        ${parts}
        ${selectIf(sql`
          (select count(*) from claimed) = ${wanted.length}::int
          and (select count(*) from held) + (select count(*) from created) = ${contacts.length}::int`)}
        from lock_limit`,
      { met: number },
    );
    if (stored.length === 0) return undefined;
    return emails.map((own) =>
      own.map(({ emailId, contactId, to: { address } }) => ({ emailId, contact: { id: contactId, email: address } })),
    );
  } catch (error) {
    if (isUnmet(error)) return undefined;
    throw error;
  }
}

/** A select of the number of keys and domains of which the key may send from the domain. */
function countSenders(projectId: string, senders: readonly { keyId: string; domain: string }[]): SqlFragment {
  return sql`
    select count(*)
    from unnest(${senders.map(({ keyId }) => keyId)}::uuid[], ${senders.map(({ domain }) => domain)}::text[]) as s (key_id, domain)
      join api_key k on k.id = s.key_id and (k.sender_domains is null or s.domain = any(k.sender_domains))
      join sender_domain d on d.project_id = k.project_id and d.domain = s.domain and d.verified
      join project p on p.id = k.project_id and not p.disabled
    where k.project_id = ${projectId} and coalesce(k.expires_at > now(), true)`;
}

function emailsOf(
  { projectId, keyId, setId, message }: SubmissionInput,
  to: { address: string }[],
  contactOf: ReadonlyMap<string, { id: string }>,
  links: LinkSigner,
): SizedEmail[] {
  const { from, subject } = message;
  const source = { type: 'TRANSACTIONAL', source: 'request', sourceId: null } as const;
  const headersOf = createMessageHeaders({ ...source, projectId, from: from.address, listName: null, topic: null });
  const tags = message.tags.length > 0 ? message.tags : undefined;
  const sender = { templateId: null, topic: null, from, keyId, attachmentSetId: setId, tags };
  return to.flatMap((recipient) => {
    const contact = contactOf.get(recipient.address);
    if (!contact) return [];
    const [emailId, contactId] = [uuidV7(), contact.id];
    const urls = links.recipientUrls({ contactId, emailId, projectId });
    const headers = headersOf(urls).filter(([name]) => name !== 'Auto-Submitted' || !message.hasAutoSubmitted);
    return { emailId, contactId, to: recipient, subject, html: '', text: '', headers, sender, bytes: 0 };
  });
}

const DIGESTED_TOGETHER = 1_048_576;

/**
 * The idempotency key of a message: equal for the same Message-ID, recipients and content. The envelope sender does not
 * count, because some servers change it from one attempt to the next; nor does what is new when a program composes the
 * message again. A message with other content is another one, even with the same Message-ID, because programs exist that
 * use one for all their mail.
 * @returns undefined for a message without Message-ID, because two such messages may be meant
 */
async function idempotencyKeyOf(
  { messageId, content }: SubmittedMessage,
  recipients: readonly string[],
): Promise<string | undefined> {
  if (messageId === undefined) return undefined;
  const digest = createHash('sha256').update(json([messageId, [...recipients].sort()]));
  const yieldIfDue = createYields();
  for (const piece of lastingPiecesOf(content)) {
    for (let start = 0; start < piece.length; start += DIGESTED_TOGETHER) {
      digest.update(piece.subarray(start, start + DIGESTED_TOGETHER));
      await yieldIfDue();
    }
  }
  return `smtp ${digest.digest('base64url')}`;
}
