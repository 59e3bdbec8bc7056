import { uuidV7 } from '../../platform/uuid.ts';
import { AppError } from '../../pure/app-error.ts';
import { readDataPatch, type DataPatch } from '../../pure/contacts/custom-data.ts';
import { storedJson, throwDataTooLarge } from './contact-data-limit.ts';
import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';
import { respell } from '../suppressions/spellings.ts';
import { isUniqueViolation } from '../../database/database-errors.ts';
import { causeData, type ExecutionCause, type SubscriptionCause } from '../../pure/events/subscription-reasons.ts';
import { createdConsentsInsert } from '../consent/records.ts';
import { recordSubscriptionEvents, type SubscriptionChange } from '../events/events.ts';
import { recordedEvents } from '../events/recorded-events.ts';
import {
  columnsOf,
  joinSql,
  json,
  lockTimeoutSelect,
  query,
  queryOne,
  queryPrepared,
  sql,
  inTransaction,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { boolean, nullable, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { IN_LOCK_ORDER } from './contact-locks.ts';
import { setPause } from './contact-choices.ts';
import { ContactEntity, type Contact } from './contact.entity.ts';
import { fieldTypesInsert, noteFieldTypes } from './contact-fields.ts';
import { successorUpdate } from './successors.ts';

export interface ContactUpsert {
  projectId: string;
  /** Normalised addresses, each once. */
  emails: string[];
  /** The subscription of new contacts when `subscribed` is not given. */
  subscribedDefault: boolean;
  /** The subscription to set. A change of an existing contact records an event. */
  subscribed?: boolean;
  /** What sets it. */
  cause: SubscriptionCause;
  data?: Record<string, unknown>;
}

export const RETURNED = {
  ...pick(tables.contact, 'id', 'projectId', 'email', 'subscribed', 'optedOutAt', 'isPending', 'pausedUntil', 'data'),
  ...pick(tables.contact, 'trackingAllowed', 'createdAt', 'updatedAt'),
};
export const RETURNED_COLUMNS = columnsOf(RETURNED);
const UPSERTED_CONTACT = {
  ...RETURNED,
  isNew: boolean,
  /** Whether a hard bounce ended the subscription, and it was not set since. */
  isBounced: boolean,
  /** The event that was recorded with the contact, and its time. */
  eventId: nullable(tables.event.id),
  eventAt: nullable(tables.event.createdAt),
};
export type UpsertedContact = RowOf<typeof UPSERTED_CONTACT>;

/** The patched JSON column. It is one expression, so concurrent patches of different keys are both kept. */
function patchedData(column: SqlFragment, stored: string, removed: string[]): SqlFragment {
  return sql`(${column} - ${removed}::text[]) || ${stored}::jsonb`;
}

/**
 * Subscribes or unsubscribes contacts, and records an event for each that changes. The compare-and-set makes concurrent
 * equal requests record one event. A bounce that is undone later does not change the new subscription.
 * @param cause what changed them, or what changed each, with what proves that its owner wanted it
 * @returns the ids of the contacts that changed
 */
export async function setSubscribed(
  em: Em,
  projectId: string,
  ids: string[],
  subscribed: boolean,
  cause: SubscriptionCause | ((contactId: string) => Omit<SubscriptionChange, 'contactId'>),
): Promise<string[]> {
  const flipped = await query(
    em,
    sql`
      with held as materialized (
        select id, subscribed from contact
        where project_id = ${projectId} and id = any(${ids}::uuid[])
          and (subscribed <> ${subscribed} or bounced_email_id is not null)
        ${IN_LOCK_ORDER} for no key update
      ),
      changed as (
        update contact c set subscribed = ${subscribed}, bounced_email_id = null, updated_at = now(),
          is_pending = c.is_pending and not ${subscribed}::boolean,
          opted_out_at = case when ${subscribed}::boolean then null else now() end
        from held h where c.id = h.id
      )
      select id from held where subscribed <> ${subscribed}`,
    { id: tables.contact.id },
  );
  const causeOf = typeof cause === 'function' ? cause : () => ({ cause });
  const changed = flipped.map(({ id }) => ({ contactId: id, ...causeOf(id) }));
  await recordSubscriptionEvents(em, projectId, changed, subscribed);
  return flipped.map(({ id }) => id);
}

/**
 * Ends the subscriptions of contacts after a hard bounce, and stores the id of the email that bounced.
 * @returns the ids of the contacts that were subscribed
 */
export async function endBouncedSubscriptions(
  em: Em,
  projectId: string,
  bounced: readonly { emailId: string; contactId: string }[],
): Promise<string[]> {
  if (bounced.length === 0) return [];
  const ended = await query(
    em,
    sql`
      with bounced as (
        select distinct on (contact_id) contact_id, email_id
        from unnest(${bounced.map((row) => row.contactId)}::uuid[], ${bounced.map((row) => row.emailId)}::uuid[])
          as b (contact_id, email_id)
        order by contact_id, email_id
      ),
      held as materialized (
        select id from contact where project_id = ${projectId} and subscribed and id in (select contact_id from bounced)
        ${IN_LOCK_ORDER} for no key update
      )
      update contact c set subscribed = false, opted_out_at = now(), bounced_email_id = b.email_id, updated_at = now()
      from held h join bounced b on b.contact_id = h.id where c.id = h.id
      returning c.id, b.email_id as "emailId"`,
    { id: tables.contact.id, emailId: text },
  );
  const changed = ended.map(({ id, emailId }) => ({
    contactId: id,
    cause: { reason: 'hard_bounce', emailId } as const,
  }));
  await recordSubscriptionEvents(em, projectId, changed, false);
  return ended.map(({ id }) => id);
}

/**
 * Creates or updates contacts by address, all with the same data. With `subscribed`, the caller must open a
 * transaction, because there may be two statements; otherwise there is only one.
 * @returns the contacts in the order of `emails`
 * @throws AppError VALIDATION_ERROR when a contact would have too much data
 */
export async function upsertContacts(em: Em, input: ContactUpsert): Promise<UpsertedContact[]> {
  const patch = readDataPatch(input.data);
  const { projectId, subscribed, subscribedDefault, cause } = input;
  const rows = input.emails.map((email) => ({ email, subscribed, subscribedDefault, patch, cause }));
  return upsertContactRows(em, projectId, rows);
}

/** One contact to create or update. */
export interface ContactRow {
  /** The id of a new contact, if it is known before. */
  id?: string;
  /** A normalised address. */
  email: string;
  /** The subscription to set. A change of an existing contact records an event. */
  subscribed?: boolean | undefined;
  /** Whether a contact that has opted out stays so, whatever `subscribed` says. */
  keepsOptOut?: boolean;
  /** The subscription of a new contact when `subscribed` is not given. */
  subscribedDefault: boolean;
  /** What sets the subscription; rows with the same cause share one object. */
  cause: SubscriptionCause;
  patch: DataPatch;
  event?: { id: string; name: string; data: Record<string, unknown> };
}

/**
 * Creates or updates contacts by address, and records their events, in one statement. If a row has `subscribed`, there
 * may be a second statement, and the caller must open a transaction.
 * @param rows each address once
 * @param lockMs the longest wait for a lock until the end of the transaction; by default the limit of the session
 * @returns the contacts in the order of `rows`
 * @throws AppError VALIDATION_ERROR when a contact would have too much data
 */
export async function upsertContactRows(
  em: Em,
  projectId: string,
  rows: readonly ContactRow[],
  lockMs?: number,
): Promise<UpsertedContact[]> {
  await respell(
    em,
    projectId,
    rows.map(({ email }) => email),
  );
  const upserted = await queryPrepared(
    em,
    sql`
      with ${upsertParts(projectId, rows, lockMs)}
      select u.*, r.id as "eventId", r.created_at as "eventAt"
      from upserted u left join recorded r on r.contact_id = u.id`,
    UPSERTED_CONTACT,
  ).catch(throwDataTooLarge);
  const byEmail = new Map(upserted.map((row) => [row.email, row]));
  await applySubscriptions(em, projectId, rows, byEmail);
  return rows.flatMap((row) => byEmail.get(row.email) ?? []);
}

/** The common table expressions of `upsertContactRows`: `lock_limit`, the contacts `upserted`, their events `recorded`. */
function upsertParts(projectId: string, rows: readonly ContactRow[], lockMs?: number): SqlFragment {
  // Sorted like `IN_LOCK_ORDER`.
  const sorted = [...rows].sort((left, right) => (left.email < right.email ? -1 : 1));
  const patches = [...new Set(sorted.map((row) => row.patch))];
  const fieldTypes = fieldTypesInsert(projectId, mergedFields(patches));
  const noted = fieldTypes ? sql`noted as (${fieldTypes}),` : sql``;
  const mayConsent = rows.some(({ subscribed, subscribedDefault }) => subscribed ?? subscribedDefault);
  const consents = mayConsent ? sql`consents as (${newConsents(projectId, sorted)}),` : sql``;
  return sql`
    lock_limit as materialized (${lockTimeoutSelect(lockMs)}),
    upserted as (${upsertStatement(projectId, sorted, patches)}),
    ${rowEvents(projectId, sorted)},
    ${consents}
    ${noted}
    returned as (${successorUpdate(projectId, sql`(select * from upserted where "isNew") n`)})`;
}

/** All stored keys, each with its value from the first patch that has it. */
function mergedFields(patches: readonly DataPatch[]): Record<string, unknown> {
  const merged = Object.create(null) as Record<string, unknown>;
  return Object.assign(merged, ...patches.map(({ stored }) => stored).reverse()) as Record<string, unknown>;
}

/**
 * The insert of `upsertContactRows`. Rows refer to patches by index, because many recipients of a request may share a
 * large patch.
 */
function upsertStatement(projectId: string, rows: readonly ContactRow[], patches: readonly DataPatch[]): SqlFragment {
  const indexOf = new Map(patches.map((patch, index) => [patch, index]));
  const patchIndexes = rows.map((row) => indexOf.get(row.patch) ?? 0);
  const removing = rows.filter((row) => row.patch.removed.length > 0);
  const patchIndexByEmail = Object.fromEntries(removing.map((row) => [row.email, indexOf.get(row.patch)]));
  const removed = removing.length > 0 ? patches.map((patch) => patch.removed) : [];
  return sql`
    insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
    select n.id, ${projectId}, n.email, n.subscribed, (${patches.map(storedJson)}::jsonb[])[n.patch_index + 1], now(), now()
    from lock_limit, unnest(
      ${rows.map(({ id }) => id ?? uuidV7())}::uuid[], ${rows.map((row) => row.email)}::text[],
      ${rows.map((row) => row.subscribed ?? row.subscribedDefault)}::boolean[], ${patchIndexes}::int[]
    ) as n (id, email, subscribed, patch_index)
    on conflict (project_id, email) do update
      set data = (contact.data - array(
          select jsonb_array_elements_text(
            ${json(removed)}::jsonb -> (${json(patchIndexByEmail)}::jsonb ->> contact.email)::int)
        )) || excluded.data, updated_at = now()
    returning ${RETURNED_COLUMNS}, (xmax = 0) as "isNew", bounced_email_id is not null as "isBounced"`;
}

/** The CTE `recorded` of `upsertContactRows`, which records the events of rows. */
function rowEvents(projectId: string, rows: readonly ContactRow[]): SqlFragment {
  const events = rows.flatMap(({ email, event }) => (event ? [{ email, ...event }] : []));
  if (events.length === 0) {
    return sql`
      recorded as (select null::uuid as id, null::uuid as contact_id, null::timestamptz as created_at where false)`;
  }
  return recordedEvents(sql`
    select n.id, ${projectId}::uuid, u.id, null::uuid, n.name, n.data, now()
    from unnest(
      ${events.map((event) => event.id)}::uuid[], ${events.map((event) => event.email)}::text[],
      ${events.map((event) => event.name)}::text[], ${events.map((event) => json(event.data))}::jsonb[]
    ) as n (id, email, name, data) join upserted u on u.email = n.email`);
}

/** The CTE of `upsertContactRows` that records the consent of new contacts. */
function newConsents(projectId: string, rows: readonly ContactRow[]): SqlFragment {
  return createdConsentsInsert(
    projectId,
    sql`
      select u.id, n.cause
      from unnest(${rows.map(({ email }) => email)}::text[], ${rows.map(({ cause }) => json(causeData(cause)))}::jsonb[])
        as n (email, cause) join upserted u on u.email = n.email
      where u."isNew" and u.subscribed`,
  );
}

/** Subscribes or unsubscribes existing contacts as their rows say, and updates `byEmail`. */
async function applySubscriptions(
  em: Em,
  projectId: string,
  rows: readonly ContactRow[],
  byEmail: ReadonlyMap<string, UpsertedContact>,
): Promise<void> {
  const asking = rows.filter(({ subscribed }) => subscribed !== undefined);
  const kinds = [...new Set(asking.map(({ cause }) => cause))].flatMap((cause) => [
    { cause, subscribed: true },
    { cause, subscribed: false },
  ]);
  for (const { cause, subscribed } of kinds) {
    const contacts = asking
      .filter((row) => row.subscribed === subscribed && row.cause === cause)
      .flatMap((row) => {
        const contact = byEmail.get(row.email);
        return !contact || (row.keepsOptOut && contact.optedOutAt !== null) ? [] : contact;
      })
      .filter((contact) => !contact.isNew && (contact.subscribed !== subscribed || contact.isBounced));
    if (contacts.length === 0) continue;
    const ids = contacts.map((contact) => contact.id);
    const flipped = new Set(await setSubscribed(em, projectId, ids, subscribed, cause));
    for (const contact of contacts) {
      contact.subscribed = subscribed;
      contact.isPending &&= !subscribed;
      if (flipped.has(contact.id)) contact.optedOutAt = subscribed ? null : new Date();
    }
  }
}

/** Loads a contact. @throws AppError CONTACT_NOT_FOUND */
export async function findContact(em: Em, projectId: string, contactId: string): Promise<Contact> {
  const contact = await em.findOne(ContactEntity, { id: contactId, projectId });
  if (!contact) throw new AppError('CONTACT_NOT_FOUND');
  return contact;
}

export interface ContactPatch {
  email?: string;
  subscribed?: boolean;
  /** The end of a pause of all marketing; null ends one now. */
  pausedUntil?: Date | null;
  data?: Record<string, unknown>;
}

/**
 * Stores the depth of the chain of automations in which a contact was changed. Later consequences of the change, such
 * as entering a segment, continue the chain.
 */
function chainDepthChange({ depth }: ExecutionCause): SqlFragment {
  return sql`
    changed_depth = greatest(${depth}::smallint,
      case when changed_depth_at > now() - interval '1 hour' then changed_depth end),
    changed_depth_at = now()`;
}

/**
 * Changes a contact. All changes are made, or none.
 * @throws AppError CONTACT_NOT_FOUND, CONFLICT when another contact has the address, VALIDATION_ERROR for too much data
 */
export async function patchContact(
  em: Em,
  projectId: string,
  contactId: string,
  patch: ContactPatch,
  cause: SubscriptionCause,
): Promise<Contact> {
  return inTransaction(em, async (tx) => {
    const data = readDataPatch(patch.data);
    if (patch.email !== undefined) {
      await respell(tx, projectId, [patch.email]);
      await clearOldSuppressedAddress(tx, projectId, contactId, patch.email);
    }
    const changes = [sql`updated_at = now()`];
    if (patch.email !== undefined) changes.push(sql`email = ${patch.email}`);
    if (patch.data) changes.push(sql`data = ${patchedData(sql`data`, storedJson(data), data.removed)}`);
    if (cause.reason === 'workflow') changes.push(chainDepthChange(cause));
    const updated = await queryOne(
      tx,
      sql`update contact set ${joinSql(changes, ', ')} where project_id = ${projectId} and id = ${contactId} returning id`,
      { id: tables.contact.id },
    ).catch((error: unknown) => {
      if (!isUniqueViolation(error, 'contact_project_id_email_key')) return throwDataTooLarge(error);
      throw new AppError('CONFLICT', {
        message: 'Another contact in this project has this email address',
        details: { field: 'email' },
      });
    });
    if (!updated) throw new AppError('CONTACT_NOT_FOUND');
    if (patch.email !== undefined) {
      const created = sql`(select ${contactId}::uuid as id, ${patch.email}::text as email) n`;
      await query(tx, successorUpdate(projectId, created));
    }
    await noteFieldTypes(tx, projectId, data.stored);
    if (patch.subscribed !== undefined) await setSubscribed(tx, projectId, [contactId], patch.subscribed, cause);
    if (patch.pausedUntil !== undefined) await setPause(tx, projectId, contactId, patch.pausedUntil, { cause });
    return findContact(tx, projectId, contactId);
  });
}

/** If a contact gets another address, removes the old address from its suppression, which keeps the hash. */
async function clearOldSuppressedAddress(
  em: Em,
  projectId: string,
  contactId: string,
  newAddress: string,
): Promise<void> {
  await query(
    em,
    sql`
      update suppression s set email = null, words = null from contact c cross join ${ADDRESS_HASH_KEY}
      where c.project_id = ${projectId} and c.id = ${contactId} and c.email <> ${newAddress}
        and s.project_id = c.project_id and s.address_hash = ${addressHash(sql`c.project_id`, sql`c.email`)}`,
  );
}
