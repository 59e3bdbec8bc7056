import { createHash } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';
import { readDataPatch } from '../../pure/contacts/custom-data.ts';
import { isEmailTracked, type TrackingMode } from '../../pure/project.ts';
import { createYields } from '../../platform/yielding.ts';
import type { Em } from '../../database/em.ts';
import { createProjectWriter, type ProjectWriterDeps } from '../../database/project-writer.ts';
import { json, queryPrepared, sql } from '../../database/sql.ts';
import { inTransaction } from '../../database/transaction.ts';
import type { LinkSigner } from '../../sending/compose/links.ts';
import { messageIdOf } from '../../sending/compose/message-id.ts';
import { createMessageHeaders } from '../../sending/compose/message-headers.ts';
import { missingFields, type SubmittedMessage } from '../../sending/compose/submitted-message.ts';
import { upsertContactRows } from '../contacts/contacts.ts';
import { findRefusedSenders } from '../domains/sender-domains.ts';
import { settleIdempotencyKeys, type IdempotencyClaim } from '../idempotency/idempotency.ts';
import { storeEmails, type SentEmail } from './stored-email.ts';

/** A submitted message, and who gets it. */
export interface Submission {
  project: { id: string; tracking: TrackingMode };
  message: SubmittedMessage;
  isEightBit: boolean;
  /** The key that submitted it. */
  keyId: string;
  /** The envelope recipients, normalised, each once. */
  recipients: string[];
  claim: IdempotencyClaim | undefined;
}

/**
 * Stores a message, an email for each recipient and what delivers them, and settles the claim, all or nothing.
 * @returns the id of the message
 * @throws AppError SENDER_DOMAIN_REFUSED
 */
export type SubmissionQueue = (submission: Submission) => Promise<string>;

export interface SubmissionQueueDeps extends ProjectWriterDeps {
  links: LinkSigner;
}

interface Item extends Submission {
  projectId: string;
  /** The id of the message. */
  setId: string;
}

const MESSAGES_MAX = 32;
/** Messages with more recipients go alone. */
const RECIPIENTS_MAX = 10;
/** Recipients whose contacts, or whose emails, are in memory at the same time. */
const RECIPIENTS_TOGETHER = 50;
const NO_DATA = readDataPatch(undefined);

/** Creates the queue of submitted messages. Small ones of a project that arrive together share their statements. */
export function createSubmissionQueue({ em, slots, links }: SubmissionQueueDeps): SubmissionQueue {
  const queueInGroup = createProjectWriter<Item, Error | undefined>({
    ...{ em, slots, itemsMax: MESSAGES_MAX, parallel: 2 },
    write: (own, items, lockMs) => queueTogether(own, items, links, lockMs),
    octetsOf: ({ message }) => message.content.length,
    keysOf: ({ recipients }) => recipients,
  });

  return async (submission) => {
    const { project, recipients } = submission;
    const item = { ...submission, projectId: project.id, setId: uuidV7() };
    const refusal =
      recipients.length <= RECIPIENTS_MAX
        ? await queueInGroup(item)
        : await slots.run(project.id, async () => (await queueTogether(em(), [item], links))[0]);
    if (refusal) throw refusal;
    return item.setId;
  };
}

async function queueTogether(
  em: Em,
  items: Item[],
  links: LinkSigner,
  lockMs?: number,
): Promise<(Error | undefined)[]> {
  const projectId = items[0]?.projectId ?? '';
  const refused = await findRefusedSenders(
    em,
    projectId,
    items.map(({ message }) => message.from.address),
  );
  const taken = items.filter(({ message }) => !refused.has(message.from.address));
  if (taken.length > 0) await inTransaction(em, (tx) => storeSubmissions(tx, projectId, taken, links, lockMs));
  return items.map(({ message }) => refused.get(message.from.address));
}

async function storeSubmissions(
  tx: Em,
  projectId: string,
  items: Item[],
  links: LinkSigner,
  lockMs?: number,
): Promise<void> {
  const contactIds = await findOrCreateContacts(
    tx,
    projectId,
    [...new Set(items.flatMap((each) => each.recipients))],
    lockMs,
  );
  await storeMessages(tx, items);
  const emails = items.flatMap((item) => emailsOf(item, contactIds, links));
  for (let start = 0; start < emails.length; start += RECIPIENTS_TOGETHER) {
    await storeEmails(tx, projectId, emails.slice(start, start + RECIPIENTS_TOGETHER));
  }
  await settleIdempotencyKeys(
    tx,
    items.flatMap(({ claim }) => claim ?? []),
    200,
  );
}

/** The contacts of addresses, as POST /v1/send makes them. @returns their ids by address */
async function findOrCreateContacts(
  tx: Em,
  projectId: string,
  addresses: string[],
  lockMs: number | undefined,
): Promise<Map<string, string>> {
  // In the order in which contacts are locked.
  const sorted = addresses.sort((left, right) => (left < right ? -1 : 1));
  const ids = new Map<string, string>();
  for (let start = 0; start < sorted.length; start += RECIPIENTS_TOGETHER) {
    const rows = sorted
      .slice(start, start + RECIPIENTS_TOGETHER)
      .map((email) => ({ email, patch: NO_DATA, subscribedDefault: false, cause: { reason: 'send' } as const }));
    const contacts = await upsertContactRows(tx, projectId, rows, lockMs);
    for (const { email, id } of contacts) ids.set(email, id);
  }
  return ids;
}

/** Stores each message as the only file of its set, with the fields that it lacks. */
async function storeMessages(tx: Em, items: Item[]): Promise<void> {
  const rows = items.map(({ setId, project, message, isEightBit }) => {
    const fields = missingFields(message, messageIdOf(setId, message.from.address), new Date());
    const isTracked = isEmailTracked(project.tracking, 'TRANSACTIONAL');
    return {
      setId,
      content: fields === '' ? message.content : Buffer.concat([Buffer.from(fields, 'latin1'), message.content]),
      submission: json({ isTracked, isEightBit }),
    };
  });
  const [first] = rows;
  // The driver writes octets in arrays as hexadecimal text.
  const given =
    first && rows.length === 1
      ? sql`select ${first.setId}::uuid, ${first.content}::bytea, ${first.submission}::jsonb`
      : sql`
        select * from unnest(
          ${rows.map(({ setId }) => setId)}::uuid[], ${rows.map(({ content }) => content)}::bytea[],
          ${rows.map(({ submission }) => submission)}::jsonb[])`;
  await queryPrepared(
    tx,
    sql`
      with given (set_id, content, submission) as (${given})
      insert into attachment (set_id, position, filename, content_type, disposition, content, submission)
      select set_id, 0, 'message.eml', 'message/rfc822', 'attachment', content, submission from given`,
  );
}

function emailsOf(item: Item, contactIds: ReadonlyMap<string, string>, links: LinkSigner): SentEmail[] {
  const { projectId, keyId, setId, message, recipients } = item;
  const { from, subject } = message;
  const tags = message.tags.length > 0 ? message.tags : undefined;
  const headersOf = createMessageHeaders({
    ...{
      type: 'TRANSACTIONAL',
      source: 'request',
      sourceId: null,
      projectId,
      from: from.address,
      listName: null,
      topic: null,
    },
  });
  return recipients.map((address) => {
    const emailId = uuidV7();
    const contactId = contactIds.get(address) ?? null;
    const urls = links.recipientUrls({ contactId: contactId ?? emailId, emailId, projectId });
    const headers = headersOf(urls).filter(([name]) => name !== 'Auto-Submitted' || !message.hasAutoSubmitted);
    const sender = { templateId: null, topic: null, from, keyId, attachmentSetId: setId, tags };
    return { emailId, contactId, to: { address }, subject, html: '', text: '', headers, sender };
  });
}

const DIGESTED_TOGETHER = 1_048_576;

/**
 * The idempotency key of a message: equal for the same Message-ID, recipients and content, whatever the envelope sender,
 * which some servers change from one attempt to the next. A message with other content is another one, even with the same
 * Message-ID, because programs exist that use one for all their mail.
 * @returns undefined for a message without Message-ID, because two such messages may be meant
 */
export async function idempotencyKeyOf(
  { messageId, content }: SubmittedMessage,
  recipients: readonly string[],
): Promise<string | undefined> {
  if (messageId === undefined) return undefined;
  const digest = createHash('sha256').update(json([messageId, [...recipients].sort()]));
  const yieldIfDue = createYields();
  for (let start = 0; start < content.length; start += DIGESTED_TOGETHER) {
    digest.update(content.subarray(start, start + DIGESTED_TOGETHER));
    await yieldIfDue();
  }
  return `smtp ${digest.digest('base64url')}`;
}
