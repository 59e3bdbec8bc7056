import { randomBytes, randomInt } from 'node:crypto';
import { NIL, v7 as uuidV7 } from 'uuid';
import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';
import type { Em } from '../../database/em.ts';
import { query, queryOne, sql } from '../../database/sql.ts';
import { number, pick, tables, texts } from '../../database/tables.ts';
import type { SubscriptionCause } from '../../pure/events/subscription-reasons.ts';
import type { TopicChoices } from '../../pure/topics.ts';
import { AppError } from '../../pure/app-error.ts';
import { ImportFileError } from './csv-file.ts';
import { changesOf, changeTopics, findTopicIds } from '../topics/topic-choices.ts';
import { dataFits } from '../contacts/contact-data-limit.ts';
import { importedConsentsInsert } from '../consent/records.ts';
import { setSubscribed } from '../contacts/contacts.ts';
import type { Job } from '../jobs/jobs.ts';
import type { ImportedContact } from './import-file.ts';

export interface ImportedCounts {
  createdCount: number;
  updatedCount: number;
  /** Rows that would have given their contact too much data; the contact stays as it was. */
  refused: ImportedContact[];
  /** Rows of contacts that were deleted after the file was uploaded; they are not created again. */
  erasedCount: number;
}

const UPSERTED = {
  created: number,
  /** The addresses of refused rows. */
  refused: texts,
  /**
   * Ids of existing contacts whose subscription differs from their row. Contacts that a bounce has unsubscribed are in
   * `toUnsubscribe`, too, so that a later undoing of the bounce does not subscribe them.
   */
  toSubscribe: texts,
  toUnsubscribe: texts,
};

/**
 * Merges rows with the same address. A later row takes precedence in each field that it has, and in its subscription.
 */
function mergeByAddress(rows: ImportedContact[]): ImportedContact[] {
  const byEmail = new Map<string, ImportedContact>();
  for (const row of rows) {
    const earlier = byEmail.get(row.email);
    byEmail.set(row.email, earlier ? merge(earlier, row) : row);
  }
  // Every statement that writes contacts locks them in this order, so that statements cannot deadlock.
  return [...byEmail.values()].sort((left, right) => (left.email < right.email ? -1 : 1));
}

function merge(earlier: ImportedContact, later: ImportedContact): ImportedContact {
  const topics = { ...earlier.topics, ...later.topics };
  const merged = { ...later, subscribed: later.subscribed ?? earlier.subscribed, topics };
  if (earlier.data === '{}') return merged;
  if (later.data === '{}') return { ...merged, data: earlier.data };
  // When a key occurs twice in a text, jsonb keeps the last value.
  return { ...merged, data: `${earlier.data.slice(0, -1)},${later.data.slice(1)}` };
}

/**
 * The ids of the topics that the columns of a file name, by their keys.
 * @throws ImportFileError that names a key without a topic
 */
export async function findImportedTopics(em: Em, projectId: string, keys: string[]): Promise<Map<string, string>> {
  return findTopicIds(em, projectId, keys).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    const columns = error.errors?.map(({ field }) => `"${field.replace('topics.', 'topic.')}"`).join(', ');
    throw new ImportFileError(
      `The header names topics that do not exist: ${columns}. Create them, or send map=<column>:data.<key> when the column is about something else`,
    );
  });
}

/** Rows that are prepared for PostgreSQL. */
export interface ContactBatch {
  rows: ImportedContact[];
  /** Which topics the addresses have that say something about any. */
  topics: Map<string, TopicChoices>;
  /** A JSON array with one element for each address. */
  json: string;
  /** The ids of the first and the last address; those of all others are between them, and no others are. */
  first: string;
  last: string;
}

const UUID_BYTES = 16;
/** Where the counters of ids begin, so that imports of the same moment do not use the same ones. */
const SEQ_START_MAX = 2 ** 29;

/**
 * Prepares rows for `importContacts`. It needs no transaction, so it can run while another batch is stored. One JSON
 * text takes half the time of an array for each column. One call for all random numbers takes a twentieth of the time
 * of a call for each id.
 */
export function createContactBatch(rows: ImportedContact[]): ContactBatch {
  const merged = mergeByAddress(rows);
  const random = randomBytes(merged.length * UUID_BYTES);
  const msecs = Date.now();
  const start = randomInt(SEQ_START_MAX);
  const ids = merged.map((_, index) => {
    const bytes = random.subarray(index * UUID_BYTES, (index + 1) * UUID_BYTES);
    return uuidV7({ msecs, seq: start + index, random: bytes });
  });
  const elements = merged.map(
    ({ email, subscribed, hasLeft = false, data }, index) =>
      `{"id":"${ids[index]}","email":${JSON.stringify(email)},"subscribed":${subscribed ?? null},"left":${hasLeft},"data":${data}}`,
  );
  const topics = new Map(merged.flatMap((row) => (row.topics ? [[row.email, row.topics] as const] : [])));
  return { rows, topics, json: `[${elements.join(',')}]`, first: ids[0] ?? NIL, last: ids.at(-1) ?? NIL };
}

/**
 * Creates or updates one contact per row, in the caller's transaction. New contacts are subscribed unless the row says
 * otherwise; those who have left have opted out by their own act. A change of an existing contact's subscription records its event.
 * @param job the import; contacts erased since the upload, its `createdAt`, are not created again
 * @param topicIds the topics that the file names, by their keys
 * @returns the numbers of rows that created or updated a contact, and the refused rows; a second row with an address
 *   counts as an update
 */
export async function importContacts(
  em: Em,
  { id: jobId, projectId, createdAt }: Pick<Job, 'id' | 'projectId' | 'createdAt'>,
  { rows, topics, json, first, last }: ContactBatch,
  topicIds: ReadonlyMap<string, string> = new Map(),
): Promise<ImportedCounts> {
  // PostgreSQL counts the rows, because returning them all would take a third of the time.
  const upserted = await queryOne(
    em,
    sql`
      with imported as materialized (
        select * from jsonb_to_recordset(${json}::jsonb) as n (id uuid, email text, subscribed boolean, "left" boolean, data jsonb)
      ), upserted as (
        insert into contact (id, project_id, email, subscribed, opted_out_at, data, created_at, updated_at)
        select id, ${projectId}, email, coalesce(subscribed, true), case when "left" then now() end, data, now(), now()
        from imported where ${dataFits(sql`data`)}
        on conflict (project_id, email) do update set data = contact.data || excluded.data, updated_at = now(),
            opted_out_at = coalesce(contact.opted_out_at, case when not contact.subscribed then excluded.opted_out_at end)
          where ${dataFits(sql`(contact.data || excluded.data)`)}
        returning id, email, subscribed, bounced_email_id, (xmax = 0) as is_new
      ), consents as (${importedConsentsInsert({ projectId, jobId, first, last }, sql`select id, subscribed from upserted where is_new`)})
      select count(*) filter (where is_new) as created,
        coalesce(array_agg(i.email) filter (where u.id is null), '{}') as refused,
        coalesce(array_agg(u.id) filter (where not is_new and i.subscribed and not u.subscribed), '{}') as "toSubscribe",
        coalesce(array_agg(u.id) filter (where not is_new and not i.subscribed
          and (u.subscribed or u.bounced_email_id is not null)), '{}') as "toUnsubscribe"
      from imported i left join upserted u on u.email = i.email`,
    UPSERTED,
  );
  const { created = 0, toSubscribe = [], toUnsubscribe = [], refused: refusedEmails = [] } = upserted ?? {};
  const cause = { reason: 'import', jobId } as const;
  if (toSubscribe.length > 0) await setSubscribed(em, projectId, toSubscribe, true, cause);
  if (toUnsubscribe.length > 0) await setSubscribed(em, projectId, toUnsubscribe, false, cause);
  const unchanged = new Set(refusedEmails);
  const refused = unchanged.size === 0 ? [] : rows.filter((row) => unchanged.has(row.email));
  const erasedCount = created === 0 ? 0 : await settleReturnedContacts(em, projectId, createdAt);
  for (const email of refusedEmails) topics.delete(email);
  await chooseImportedTopics(em, projectId, topics, topicIds, cause);
  return {
    createdCount: created - erasedCount,
    updatedCount: rows.length - created - refused.length,
    refused,
    erasedCount,
  };
}

/**
 * Stores the choices about topics of a batch. A yes is as good as one in the column `subscribed`: it joins a topic that
 * the contact has left, too.
 */
async function chooseImportedTopics(
  em: Em,
  projectId: string,
  topics: ReadonlyMap<string, TopicChoices>,
  topicIds: ReadonlyMap<string, string>,
  cause: SubscriptionCause,
): Promise<void> {
  if (topics.size === 0) return;
  const contacts = await query(
    em,
    sql`select id, email from contact where project_id = ${projectId} and email = any(${[...topics.keys()]}::text[])`,
    pick(tables.contact, 'id', 'email'),
  );
  const changes = contacts.flatMap(({ id, email }) => changesOf(id, topics.get(email) ?? {}, topicIds));
  await changeTopics(em, projectId, changes, cause);
}

/**
 * Checks the contacts that this transaction has created with the address of an erased contact. If the erasure was after
 * the upload of the file, they are removed again. Otherwise they become successors of the erased contacts. This is a
 * statement of its own, so that it sees deletions for which the upsert had to wait. Hashing the addresses takes a sixth of
 * the time of an import, so a project without erased contacts is spared that.
 * @returns how many were removed
 */
async function settleReturnedContacts(em: Em, projectId: string, queuedAt: Date): Promise<number> {
  const row = await queryOne(
    em,
    sql`
      with returned as materialized (
        select c.id, max(x.erased_at) >= ${queuedAt} as is_erased, array_agg(x.contact_id) as erased_ids
        from contact c cross join ${ADDRESS_HASH_KEY}
        join erased_contact x on x.project_id = c.project_id and x.address_hash = ${addressHash(sql`c.project_id`, sql`c.email`)}
        where c.project_id = ${projectId} and c.created_at = now()::timestamptz(3) and c.xmin = pg_current_xact_id()::xid
          and exists (select from erased_contact where project_id = ${projectId})
        group by c.id
      ),
      removed as (delete from contact c using returned r where c.id = r.id and r.is_erased returning 1),
      noted as (
        update erased_contact x set successor_id = r.id from returned r
        where x.contact_id = any(r.erased_ids) and not r.is_erased
      )
      select count(*) from removed`,
    { count: number },
  );
  return row?.count ?? 0;
}
