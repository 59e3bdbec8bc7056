import { randomBytes, randomInt } from 'node:crypto';
import { NIL, v7 as uuidV7 } from 'uuid';
import { respell } from '../suppressions/spellings.ts';
import { suppressAddresses } from '../suppressions/suppression-lists.ts';
import type { SuppressionReason } from '../suppressions/suppressions.ts';
import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';
import { joinSql, json, query, queryCount, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { number, pick, tables, texts } from '../../database/tables.ts';
import { causeData, type LeftElsewhere, type SubscriptionCause } from '../../pure/events/subscription-reasons.ts';
import { AppError } from '../../pure/app-error.ts';
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

/** Who is suppressed because of what another tool knows. */
const SUPPRESSED_FOR: Partial<Record<LeftElsewhere['because'], SuppressionReason>> = {
  bounced: 'HARD_BOUNCE',
  complained: 'COMPLAINT',
  blocked: 'MANUAL',
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
  return {
    ...later,
    subscribed: later.subscribed ?? earlier.subscribed,
    hasLeft: later.hasLeft ?? earlier.hasLeft,
    topics: { ...earlier.topics, ...later.topics },
    trackingAllowed: later.trackingAllowed ?? earlier.trackingAllowed,
    // Who is suppressed stays so, whatever else is known of them.
    left: earlier.left && SUPPRESSED_FOR[earlier.left.because] ? earlier.left : (later.left ?? earlier.left),
    restored: later.restored ?? earlier.restored,
    removed: [...(earlier.removed ?? []), ...(later.removed ?? [])],
    data: mergeData(without(earlier.data, later.removed), later.data),
  };
}

function mergeData(earlier: string, later: string): string {
  if (earlier === '{}') return later;
  // When a key occurs twice in a text, jsonb keeps the last value.
  return later === '{}' ? earlier : `${earlier.slice(0, -1)},${later.slice(1)}`;
}

/** A JSON object without some of its keys. */
function without(data: string, keys: readonly string[] = []): string {
  if (keys.length === 0) return data;
  const entries = Object.entries(JSON.parse(data) as object);
  return JSON.stringify(Object.fromEntries(entries.filter(([key]) => !keys.includes(key))));
}

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

/** Rows that are prepared for PostgreSQL. */
export interface ContactBatch {
  rows: ImportedContact[];
  /** The addresses whose rows say more than a subscription and data: topics, tracking, or why somebody left. */
  choices: Map<string, ImportedContact>;
  /** The keys of the data that are deleted, by address. */
  removed: Record<string, string[]>;
  /** A text for each of `BATCH_COLUMNS`, with one line for each address. */
  lines: string[];
  /** The ids of the first and the last address; those of all others are between them, and no others are. */
  first: string;
  last: string;
}

const BATCH_COLUMNS = sql`(id, email, subscribed, "left", data)`;

const UUID_BYTES = 16;
/** Where the counters of ids begin, so that imports of the same moment do not use the same ones. */
const SEQ_START_MAX = 2 ** 29;

/**
 * Prepares rows for `importContacts`. It needs no transaction, so it can run while another batch is stored. Lines take
 * PostgreSQL half the time of JSON; no address, and no JSON text, has a line end in it. One call for all random numbers
 * takes a twentieth of the time of a call for each id.
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
  const choosing = merged.filter(({ topics, trackingAllowed, left, restored }) =>
    [topics, trackingAllowed, left, restored].some((said) => said !== undefined),
  );
  return {
    rows,
    choices: new Map(choosing.map((row) => [row.email, row])),
    removed: Object.fromEntries(merged.flatMap(({ email, removed }) => (removed?.length ? [[email, removed]] : []))),
    lines: [
      ids,
      merged.map(({ email }) => email),
      merged.map(({ subscribed }) => subscribed),
      merged.map(({ hasLeft }) => hasLeft),
      merged.map(({ data }) => data),
    ].map((values) => values.join('\n')),
    first: ids[0] ?? NIL,
    last: ids.at(-1) ?? NIL,
  };
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
  const { projectId, startedAt, isReported = false } = source;
  const { rows, choices } = batch;
  const addresses = rows.map(({ email }) => email);
  await respell(em, projectId, addresses);
  const merged = mergedData(batch.removed);
  const optedOutAt = sql`
    coalesce(contact.opted_out_at, case when not contact.subscribed then excluded.opted_out_at end)`;
  const isExisting = sql`not is_new and u.id is not null`;
  // PostgreSQL counts the rows, because returning them all would take a third of the time.
  const upserted = await queryOne(
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
        on conflict (project_id, email) do update set data = ${merged}, opted_out_at = ${optedOutAt},
            updated_at = case when ${merged} = contact.data then contact.updated_at else now() end
          where ${dataFits(merged)}
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
  const { created = 0, refused: refusedEmails = [] } = upserted ?? {};
  for (const email of refusedEmails) choices.delete(email);
  const changed = new Set(upserted?.changed);
  const erasedCount = created === 0 ? 0 : await settleReturnedContacts(em, projectId, startedAt);
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
async function settleReturnedContacts(em: Em, projectId: string, queuedAt: Date | null): Promise<number> {
  return queryCount(
    em,
    sql`
      with returned as materialized (
        select c.id, max(x.erased_at) >= coalesce(${queuedAt}::timestamptz, 'infinity') as is_erased, array_agg(x.contact_id) as erased_ids
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
  );
}
