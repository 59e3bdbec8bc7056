import { respell } from '../suppressions/spellings.ts';
import { suppressAddresses } from '../suppressions/suppression-lists.ts';
import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';
import {
  inSavepoint,
  joinSql,
  json,
  query,
  queryCount,
  queryOne,
  sql,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { number, pick, tables, texts } from '../../database/tables.ts';
import { causeData, type SubscriptionCause } from '../../pure/events/subscription-reasons.ts';
import { AppError } from '../../pure/app-error.ts';
import { isUniqueViolation } from '../../database/database-errors.ts';
import { BATCH_COLUMNS, SUPPRESSED_FOR, type ContactBatch } from './contact-batch.ts';
import { ImportFileError } from './csv-file.ts';
import { changesOf, changeTopics, findTopicIds } from '../topics/topic-choices.ts';
import { dataFits } from '../contacts/contact-data-limit.ts';
import { createdConsentsInsert, importedConsentsInsert, recordConsents } from '../consent/records.ts';
import { setTrackingAllowed } from '../contacts/contact-choices.ts';
import { setSubscribed } from '../contacts/contacts.ts';
import type { Job } from '../jobs/jobs.ts';
import type { ImportedContact } from './imported-rows.ts';
import { restoreChoices } from './restored-choices.ts';

export interface ImportedCounts {
  createdCount: number;
  updatedCount: number;
  /** Rows that would have given their contact too much data; the contact stays as it was. */
  refused: ImportedContact[];
  /** Rows of contacts that were deleted after the file was uploaded; they are not created again. */
  erasedCount: number;
  /** Ids of contacts that existed and are not as before; those whose data has changed only when `isReported`. */
  changed: Set<string>;
}

/** Where rows come from. */
export interface ImportSource {
  projectId: string;
  cause: SubscriptionCause;
  /**
   * When the caller handed the rows over: who was deleted since is not created again, and who has left since is not
   * subscribed. Null where that is now.
   */
  startedAt: Date | null;
  /** Whether a topic that a contact has left stays left, whatever the rows say. */
  keepsLeft?: boolean | undefined;
  /** Whether `changed` is asked for. */
  isReported?: boolean;
  /** Whether the contacts are expected to be new, so that the statement for new ones is tried first. */
  isForNew?: boolean;
}

/** The source that the rows of a job have. A part of a large import has the beginning of that. */
export function importSource({
  id,
  projectId,
  createdAt,
  input = {},
}: Pick<Job, 'id' | 'projectId' | 'createdAt'> & Partial<Pick<Job, 'input'>>): ImportSource {
  const begun = input['startedAt'];
  const startedAt = typeof begun === 'string' ? new Date(begun) : createdAt;
  return { projectId, cause: { reason: 'import', jobId: id }, startedAt, keepsLeft: input['keepsLeft'] === true };
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
  /** Ids of existing contacts whose data has changed. */
  changed: texts,
};

/**
 * The ids of the topics that a file names, by their keys.
 * @throws ImportFileError that names a key without a topic
 */
export async function findImportedTopics(em: Em, projectId: string, keys: string[]): Promise<Map<string, string>> {
  return findTopicIds(em, projectId, keys).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    const missing = error.errors?.map(({ field }) => `"${field.replace('topics.', '')}"`).join(', ');
    throw new ImportFileError(
      `The file names topics that do not exist: ${missing}. Create them first; for a column that is about something else, send map=<column>:data.<key>`,
    );
  });
}

/** The statement that records the consent of the new contacts of `upserted`. */
function newConsents({ projectId, cause }: ImportSource, { first, last }: ContactBatch): SqlFragment {
  if (cause.reason === 'import') {
    const batch = { projectId, jobId: cause.jobId, first, last };
    return importedConsentsInsert(batch, sql`select id, subscribed from upserted where is_new`);
  }
  const data = json(causeData(cause));
  return createdConsentsInsert(projectId, sql`select id, ${data}::jsonb from upserted where is_new and subscribed`);
}

/** The data of an existing contact with that of its row. */
function mergedData(removed: ContactBatch['removed']): SqlFragment {
  if (Object.keys(removed).length === 0) return sql`(contact.data || excluded.data)`;
  return sql`((contact.data - array(select jsonb_array_elements_text(${json(removed)}::jsonb -> contact.email)))
    || excluded.data)`;
}

/** Stores the contacts of a batch, and what proves the consent of new ones, in one statement. */
function upsert(em: Em, source: ImportSource, batch: ContactBatch, onConflict: SqlFragment) {
  const { projectId, startedAt, isReported = false } = source;
  const isExisting = sql`not is_new and u.id is not null`;
  // PostgreSQL counts the rows, because returning them all would take a third of the time.
  return queryOne(
    em,
    sql`
      with imported as materialized (
        select id::uuid, email, subscribed::boolean, "left"::boolean, data::jsonb
        from unnest(${joinSql(
          batch.lines.map((text) => sql`string_to_array(${text}, chr(10), '')`),
          ', ',
        )}) as n ${BATCH_COLUMNS}
      ), upserted as (
        insert into contact (id, project_id, email, subscribed, opted_out_at, data, created_at, updated_at)
        select id, ${projectId}, email, coalesce(subscribed, true), case when "left" then now() end, data, now(), now()
        from imported where ${dataFits(sql`data`)}
        ${onConflict}
        returning id, email, subscribed, opted_out_at, bounced_email_id, updated_at, (xmax = 0) as is_new
      ), consents as (${newConsents(source, batch)})
      select count(*) filter (where is_new) as created,
        coalesce(array_agg(i.email) filter (where u.id is null), '{}') as refused,
        coalesce(array_agg(u.id) filter (where not is_new and i.subscribed and not u.subscribed
          and (u.opted_out_at is null or u.opted_out_at < coalesce(${startedAt}::timestamptz, 'infinity'))), '{}') as "toSubscribe",
        coalesce(array_agg(u.id) filter (where not is_new and not i.subscribed
          and (u.subscribed or u.bounced_email_id is not null)), '{}') as "toUnsubscribe",
        coalesce(array_agg(u.id) filter (where ${isReported}::boolean and ${isExisting}
          and u.updated_at = now()::timestamptz(3)), '{}') as changed
      from imported i left join upserted u on u.email = i.email`,
    UPSERTED,
  );
}

/** What becomes of a contact that exists. */
function updateExisting({ removed }: ContactBatch): SqlFragment {
  const merged = mergedData(removed);
  const optedOutAt = sql`
    coalesce(contact.opted_out_at, case when not contact.subscribed then excluded.opted_out_at end)`;
  return sql`
    on conflict (project_id, email) do update set data = ${merged}, opted_out_at = ${optedOutAt},
        updated_at = case when ${merged} = contact.data then contact.updated_at else now() end
      where ${dataFits(merged)}`;
}

/**
 * Stores the contacts of a batch. An insert that need not ask whether each of them exists takes three quarters of the time,
 * so it is tried first where they are expected to be new.
 */
async function storeContacts(em: Em, source: ImportSource, batch: ContactBatch) {
  const exists = (error: unknown): boolean => isUniqueViolation(error, 'contact_project_id_email_key');
  const stored = source.isForNew && (await inSavepoint(em, () => upsert(em, source, batch, sql``), exists));
  return stored || upsert(em, source, batch, updateExisting(batch));
}

/**
 * Creates or updates one contact per row, in the caller's transaction. New contacts are subscribed unless the row says
 * otherwise; those who have left have opted out by their own act. A change of an existing contact's subscription
 * records its event.
 * @param topicIds the topics that the rows name, by their keys
 * @returns the numbers of rows that created or updated a contact, and the refused rows; a second row with an address
 *   counts as an update
 */
export async function importContacts(
  em: Em,
  source: ImportSource,
  batch: ContactBatch,
  topicIds: ReadonlyMap<string, string> = new Map(),
): Promise<ImportedCounts> {
  const { projectId } = source;
  const { rows, choices } = batch;
  const addresses = rows.map(({ email }) => email);
  await respell(em, projectId, addresses);
  const upserted = await storeContacts(em, source, batch);
  const { created = 0, refused: refusedEmails = [] } = upserted ?? {};
  for (const email of refusedEmails) choices.delete(email);
  const changed = new Set(upserted?.changed);
  const erasedCount = created === 0 ? 0 : await settleReturnedContacts(em, source, batch);
  const chosen = await findChosen(em, projectId, choices);
  for (const id of await subscribeImported(em, source, upserted, chosen)) changed.add(id);
  const unchanged = new Set(refusedEmails);
  const refused = unchanged.size === 0 ? [] : rows.filter((row) => unchanged.has(row.email));
  for (const id of await chooseImported(em, source, batch, chosen, topicIds)) changed.add(id);
  return {
    createdCount: created - erasedCount,
    updatedCount: rows.length - created - refused.length,
    refused,
    erasedCount,
    changed,
  };
}

/** The rows that say more than a subscription and data, by the ids of their contacts. */
type ChosenRows = ReadonlyMap<string, ImportedContact>;

async function findChosen(em: Em, projectId: string, choices: ContactBatch['choices']): Promise<ChosenRows> {
  if (choices.size === 0) return new Map();
  const contacts = await query(
    em,
    sql`select id, email from contact where project_id = ${projectId} and email = any(${[...choices.keys()]}::text[])`,
    pick(tables.contact, 'id', 'email'),
  );
  return new Map(
    contacts.flatMap(({ id, email }): [string, ImportedContact][] => {
      const row = choices.get(email);
      return row ? [[id, row]] : [];
    }),
  );
}

/** Subscribes and unsubscribes existing contacts. @returns the ids of those that changed */
async function subscribeImported(
  em: Em,
  { projectId, cause }: ImportSource,
  upserted: { toSubscribe: string[]; toUnsubscribe: string[] } | undefined,
  chosen: ChosenRows,
): Promise<string[]> {
  const causeOf = (id: string) => ({ cause: leavingCause(cause, chosen.get(id)) });
  const set = async (ids: string[] = [], isSubscribed: boolean): Promise<string[]> =>
    ids.length === 0 ? [] : setSubscribed(em, projectId, ids, isSubscribed, causeOf);
  return [...(await set(upserted?.toSubscribe, true)), ...(await set(upserted?.toUnsubscribe, false))];
}

/** The cause with what another tool knows of why somebody left there. */
function leavingCause(cause: SubscriptionCause, row: ImportedContact | undefined): SubscriptionCause {
  return cause.reason === 'import' && row?.left ? { ...cause, ...row.left } : cause;
}

/**
 * Stores what rows say of topics and tracking, and why people have left elsewhere. A yes is as good as one in the
 * column `subscribed`: it joins a topic that the contact has left, too, unless such topics stay left.
 * @returns the ids of contacts that changed
 */
async function chooseImported(
  em: Em,
  { projectId, cause, keepsLeft = false }: ImportSource,
  { first, last }: ContactBatch,
  chosen: ChosenRows,
  topicIds: ReadonlyMap<string, string>,
): Promise<string[]> {
  const rows = [...chosen];
  const changes = rows.flatMap(([id, { topics = {} }]) => changesOf(id, topics, topicIds));
  const changed = (await changeTopics(em, projectId, changes, cause, { keepsLeft })).map(({ contactId }) => contactId);
  for (const isAllowed of [true, false]) {
    const ids = rows.flatMap(([id, { trackingAllowed }]) => (trackingAllowed === isAllowed ? [id] : []));
    changed.push(...(await setTrackingAllowed(em, projectId, ids, isAllowed, { cause })));
  }
  const restored = rows.flatMap(([id, row]) => (row.restored ? { id, ...row.restored } : []));
  if (cause.reason === 'import') await restoreChoices(em, projectId, cause.jobId, restored);
  const left = rows.filter(([id, row]) => row.left && id >= first && id <= last);
  await recordConsents(
    em,
    projectId,
    left.map(([contactId, row]) => ({ contactId, state: 'unsubscribed', cause: leavingCause(cause, row) })),
  );
  const suppressed = rows.flatMap(([, { email: address, left: why }]) => {
    const reason = why && SUPPRESSED_FOR[why.because];
    return reason ? [{ address, reason, words: `Imported: ${why.because} elsewhere ${why.leftAt ?? ''}`.trim() }] : [];
  });
  if (suppressed.length > 0) await suppressAddresses(em, projectId, suppressed);
  return changed;
}

/**
 * Checks the contacts that this transaction has created with the address of an erased contact. If the erasure was after
 * the upload of the file, they are removed again. Otherwise they become successors of the erased contacts. This is a
 * statement of its own, so that it sees deletions for which the upsert had to wait. Hashing the addresses takes a sixth of
 * the time of an import, so a project without erased contacts is spared that.
 * @returns how many were removed
 */
async function settleReturnedContacts(
  em: Em,
  { projectId, startedAt }: ImportSource,
  { first, last }: ContactBatch,
): Promise<number> {
  return queryCount(
    em,
    sql`
      with returned as materialized (
        select c.id, max(x.erased_at) >= coalesce(${startedAt}::timestamptz, 'infinity') as is_erased, array_agg(x.contact_id) as erased_ids
        from contact c cross join ${ADDRESS_HASH_KEY}
        join erased_contact x on x.project_id = c.project_id and x.address_hash = ${addressHash(sql`c.project_id`, sql`c.email`)}
        where c.project_id = ${projectId} and c.id between ${first} and ${last}
          and exists (select from erased_contact where project_id = ${projectId})
        group by c.id
      ),
      removed as (delete from contact c using returned r where c.id = r.id and r.is_erased returning 1),
      noted as (
        update erased_contact x set successor_id = r.id from returned r
        where x.contact_id = any(r.erased_ids) and not r.is_erased
      )
      select count(*) from removed`,
  );
}
