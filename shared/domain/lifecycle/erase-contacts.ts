import { ACTIVE_EXECUTION_STATUSES } from '../../pure/automations/automation-status.ts';
import { ADDRESS_HASH_KEY, addressHash } from '../suppressions/address-hash.ts';
import { cancelExecutions } from '../automations/cancel-executions.ts';
import { emailStatus, jobKind, jobState } from '../../database/constants.ts';
import { literalList, query, queryCount, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, nullable, number, tables, texts, type RowOf } from '../../database/tables.ts';
import { hasKeyWithoutContact, wentWithoutContact } from '../emails/by-address.ts';

/** Contacts, and rows of each kind, that one transaction erases; it takes about a second at most. */
const CONTACTS_MAX = 100;
const EMAILS_MAX = 500;
const EVENTS_MAX = 5_000;
const EXECUTIONS_MAX = 500;

/** What may be an address in a text of JSON. */
const ADDRESSES = String.raw`[^\s<>()\[\],;:"\\|=]+@[^\s<>()\[\],;:"\\|=/?@]+`;

/** Pauses before the data of a contact is searched for again, because open transactions may still write some. */
const SECOND_SEARCH_SECONDS = 5;
const SEARCH_SECONDS_MAX = 300;

/** A deleted contact that may still have data. */
const ERASED_CONTACT = {
  id: tables.erasedContact.contactId,
  /** Null once its emails have been found. */
  address: tables.erasedContact.address,
  /**
   * Whether all transactions that were open when the contact was deleted have ended, so that this search is the last.
   */
  isSettled: boolean,
};
type ErasedContact = RowOf<typeof ERASED_CONTACT>;

export interface ErasureProgress {
  /** Contacts that this call has worked on; none are due when it is 0. */
  contacts: number;
  /** Rows that were removed or cleared. */
  rows: number;
}

/**
 * Erases one part of the data of each contact that was just deleted; for ordinary contacts it is all data. `eraseNext`
 * erases the rest, and searches again.
 */
export async function eraseAtOnce(em: Em, projectId: string, contactIds: string[]): Promise<void> {
  for (let start = 0; start < contactIds.length; start += CONTACTS_MAX) {
    await erasePart(em, projectId, contactIds.slice(start, start + CONTACTS_MAX));
  }
}

/**
 * Erases the next part of the data of deleted contacts of a project that are due, in one transaction. A contact is due
 * again until every transaction that was open when it was deleted, and every import that was queued before, has ended.
 * So rows that these still wrote are erased as well. Safe to run concurrently.
 */
export async function eraseNext(em: Em, projectId: string): Promise<ErasureProgress> {
  return erasePart(em, projectId);
}

async function erasePart(em: Em, projectId: string, contactIds?: string[]): Promise<ErasureProgress> {
  return inTransaction(em, async (tx) => {
    const contacts = await takeDue(tx, projectId, contactIds);
    if (contacts.length === 0) return { contacts: 0, rows: 0 };
    const ids = contacts.map((contact) => contact.id);
    const { count: executions, emailIds } = await eraseExecutions(tx, ids);
    const emails = await eraseEmails(tx, projectId, contacts);
    await eraseEmailsToOthers(tx, emailIds);
    // Events come after emails: a transaction that records an event of an email locks the email, and now finds it
    // erased.
    const events = await eraseEvents(tx, ids);
    const isDone = executions < EXECUTIONS_MAX && emails < EMAILS_MAX && events < EVENTS_MAX;
    // Reading all imports of the project takes long, so it is left to `eraseNext`, which has many contacts at once.
    if (isDone && contactIds === undefined) await eraseImportErrors(tx, projectId, ids);
    if (isDone) await finishSearch(tx, projectId, contacts);
    return { contacts: contacts.length, rows: executions + emails + events };
  });
}

/** How many milliseconds remain until a deleted contact of the project is due; undefined when no contact is left. */
export async function findNextErasure(em: Em, projectId: string): Promise<number | undefined> {
  const row = await queryOne(
    em,
    sql`
      select extract(epoch from min(due_at) - clock_timestamp())::float8 * 1000 as wait
      from erased_contact where project_id = ${projectId} and due_at is not null`,
    { wait: nullable(number) },
  );
  return row?.wait === null || row === undefined ? undefined : Math.max(row.wait, 0);
}

async function takeDue(tx: Em, projectId: string, contactIds: string[] | undefined): Promise<ErasedContact[]> {
  const which =
    contactIds === undefined ? sql`x.due_at <= clock_timestamp()` : sql`x.contact_id = any(${contactIds}::uuid[])`;
  return query(
    tx,
    sql`
      with open as materialized (
        select (
          select min(xact_start) from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
        ) as oldest, (
          select min(created_at) from job
          where project_id = ${projectId} and kind = ${jobKind.IMPORT} and state in (${jobState.waiting}, ${jobState.active})
        ) as oldest_import
      )
      select x.contact_id as id, x.address,
        x.began_at is not null and (o.oldest > x.began_at) is not false
          and (o.oldest_import > x.erased_at) is not false as "isSettled"
      from erased_contact x cross join open o
      where x.project_id = ${projectId} and x.due_at is not null and ${which}
      order by x.due_at limit ${CONTACTS_MAX} for update of x skip locked`,
    ERASED_CONTACT,
  );
}

/**
 * Clears executions, except for their ids, states and times, and cancels those that are active.
 * @returns how many, and the emails that their steps have queued
 */
async function eraseExecutions(tx: Em, contactIds: string[]): Promise<{ count: number; emailIds: string[] }> {
  const executions = await query(
    tx,
    sql`
      select id, status in ${literalList(ACTIVE_EXECUTION_STATUSES)} as "isActive" from automation_execution
      where contact_id = any(${contactIds}::uuid[]) and not is_stripped
      order by id limit ${EXECUTIONS_MAX} for update`,
    { id: tables.automationExecution.id, isActive: boolean },
  );
  if (executions.length === 0) return { count: 0, emailIds: [] };
  const active = executions.filter((execution) => execution.isActive).map((execution) => execution.id);
  if (active.length > 0) await cancelExecutions(tx, active, 'contact deleted');
  const ids = executions.map((execution) => execution.id);
  const queued = await queryOne(
    tx,
    sql`
      with steps as (
        delete from step_execution where execution_id = any(${ids}::uuid[]) returning output ->> 'emailId' as email_id
      ),
      waits as (delete from event_wait where execution_id = any(${ids}::uuid[])),
      failures as (delete from former_failure where execution_id = any(${ids}::uuid[])),
      stripped as (
        update automation_execution set context = '{}', is_stripped = true,
          exit_reason = case when exit_reason = 'contact deleted' then exit_reason end
        where id = any(${ids}::uuid[])
      )
      select array_agg(email_id) filter (where email_id is not null) as "emailIds" from steps`,
    { emailIds: nullable(texts) },
  );
  return { count: executions.length, emailIds: queued?.emailIds ?? [] };
}

/**
 * Clears emails of the contacts, and emails without a contact, such as test sends, to their present and former
 * addresses, unless another contact has the former one. Queued emails are cancelled; recipients of a campaign are
 * skipped when their page is sent. The result of an email that is being sent finds the email without an address and
 * stores no text.
 */
async function eraseEmails(tx: Em, projectId: string, contacts: ErasedContact[]): Promise<number> {
  const ids = contacts.map((contact) => contact.id);
  const cleared = await queryOne(
    tx,
    sql`
      with candidate as (
        select id, contact_id as owner_id from email where contact_id = any(${ids}::uuid[])
        union all
        select e.id, d.contact_id
        from unnest(${ids}::uuid[], ${contacts.map((contact) => contact.address)}::text[]) as d (contact_id, address)
        join email e on ${wentWithoutContact(projectId, sql`d.address`)}
        union all
        select e.id, f.contact_id
        from former_address f join erased_contact x using (contact_id) cross join ${ADDRESS_HASH_KEY}
        join email e on ${hasKeyWithoutContact(projectId, sql`f.address_key`)} and e.created_at <= x.erased_at
          and f.address_hash = ${addressHash(sql`e.project_id`, sql`e.to_address`)}
        where f.contact_id = any(${ids}::uuid[])
          and not exists (select from contact c where c.project_id = e.project_id and c.email = e.to_address)
        limit ${EMAILS_MAX}
      ),
      target as materialized (
        select e.id, e.to_address, c.owner_id, e.campaign_id is null and e.status = ${emailStatus.PENDING} as is_queued
        from email e join candidate c on c.id = e.id order by e.id for no key update of e
      ),
      cleared as (
        update email e set to_address = null, subject = null, error = null, attempts = null,
          refusal = e.refusal - 'server', contact_id = null, erased_contact_id = t.owner_id,
          status = case when t.is_queued then ${emailStatus.CANCELLED} else e.status end,
          delivery_due_at = case when t.is_queued then null else e.delivery_due_at end
        from target t where e.id = t.id
      ),
      content as (
        delete from email_content c using target t where c.email_id = t.id returning c.attachment_set_id as id
      ),
      suppressed as (
        update suppression s set email = null, words = null from target t cross join ${ADDRESS_HASH_KEY}
        where s.project_id = ${projectId} and s.email is not null
          and s.address_hash = ${addressHash(sql`s.project_id`, sql`t.to_address`)}
      )
      select (select array_agg(id) from target) as ids,
        (select array_agg(distinct id) from content where id is not null) as sets`,
    { ids: nullable(texts), sets: nullable(texts) },
  );
  if (!cleared?.ids) return 0;
  await query(tx, sql`delete from event where contact_id is null and email_id = any(${cleared.ids}::uuid[])`);
  if (cleared.sets) {
    await query(
      tx,
      sql`
        delete from attachment a where set_id = any(${cleared.sets}::uuid[])
          and not exists (select from email_content c where c.attachment_set_id = a.set_id)`,
    );
  }
  return cleared.ids.length;
}

/**
 * Clears what emails say that executions of the contacts have sent to other addresses, such as a note to a colleague,
 * because it was rendered with the data of the contacts. Their recipients stay. An email that was not sent yet is
 * cancelled: one that is being sent finds no content if it has to be tried again.
 */
async function eraseEmailsToOthers(tx: Em, emailIds: string[]): Promise<void> {
  if (emailIds.length === 0) return;
  await query(
    tx,
    sql`
      with target as materialized (
        select id, contact_id, status = ${emailStatus.PENDING} as is_queued from email
        where id = any(${emailIds}::uuid[]) and to_address is not null order by id for no key update
      ),
      cleared as (
        update email e set subject = null,
          status = case when t.is_queued then ${emailStatus.CANCELLED} else e.status end,
          delivery_due_at = case when t.is_queued then null else e.delivery_due_at end
        from target t where e.id = t.id
      ),
      content as (delete from email_content c using target t where c.email_id = t.id),
      known as (
        update event v set data = v.data - 'subject' from target t
        where v.contact_id = t.contact_id and v.name like 'email.%' and v.email_id = t.id
      )
      update event v set data = v.data - 'subject' from target t
      where t.contact_id is null and v.contact_id is null and v.email_id = t.id`,
  );
}

async function eraseEvents(tx: Em, contactIds: string[]): Promise<number> {
  return queryCount(
    tx,
    sql`
      with memberships as (delete from segment_member where contact_id = any(${contactIds}::uuid[])),
      choices as (delete from topic_subscription where contact_id = any(${contactIds}::uuid[])),
      refusals as (delete from automation_refusal where contact_id = any(${contactIds}::uuid[])),
      deliveries as (delete from webhook_delivery where contact_id = any(${contactIds}::uuid[])),
      consents as (delete from consent_record where contact_id = any(${contactIds}::uuid[])),
      opt_ins as (delete from opt_in where contact_id = any(${contactIds}::uuid[])),
      gone as (
        delete from event where id in (
          select id from event where contact_id = any(${contactIds}::uuid[]) limit ${EVENTS_MAX}
        ) returning 1
      )
      select count(*) from gone`,
  );
}

/**
 * Clears the addresses of contacts of which nothing more was found, and sets when to search again, unless settled. The
 * hashes of former addresses are needed until the last search.
 */
async function finishSearch(tx: Em, projectId: string, contacts: ErasedContact[]): Promise<void> {
  const ids = contacts.map((contact) => contact.id);
  const settled = contacts.filter((contact) => contact.isSettled).map((contact) => contact.id);
  await query(
    tx,
    sql`
      update suppression s set email = null, words = null from erased_contact x
      where x.contact_id = any(${ids}::uuid[]) and s.project_id = ${projectId} and s.address_hash = x.address_hash
        and s.email is not null`,
  );
  await query(tx, sql`delete from former_address where contact_id = any(${settled}::uuid[])`);
  await query(
    tx,
    sql`
      update erased_contact x set address = null, began_at = coalesce(x.began_at, clock_timestamp()),
        successor_id = coalesce(
          (select c.id from contact c where c.project_id = ${projectId} and c.email = x.address), x.successor_id),
        due_at = case when x.contact_id <> all(${settled}::uuid[]) then clock_timestamp() + least(
          greatest(
            clock_timestamp() - coalesce(x.began_at, clock_timestamp()), ${SECOND_SEARCH_SECONDS}::int * interval '1 second'),
          ${SEARCH_SECONDS_MAX}::int * interval '1 second') end
      where x.contact_id = any(${ids}::uuid[])`,
  );
}

/**
 * Clears the errors of imports, which list the refused rows, where they contain an address of the contacts. A refused
 * cell may have more than the address, such as a name, so each part of the error that looks like an address is compared.
 */
async function eraseImportErrors(tx: Em, projectId: string, ids: string[]): Promise<void> {
  await query(
    tx,
    sql`
      with erased as (
        select address_hash from erased_contact where contact_id = any(${ids}::uuid[])
        union
        select address_hash from former_address where contact_id = any(${ids}::uuid[])
      ),
      named as (
        select distinct j.id, e.n from job j cross join ${ADDRESS_HASH_KEY}
        cross join jsonb_array_elements(j.errors) with ordinality as e (error, n)
        cross join regexp_matches(lower(e.error::text), ${ADDRESSES}, 'g') as m (words)
        where j.project_id = ${projectId} and j.kind = ${jobKind.IMPORT} and j.errors <> '[]'
          and ${addressHash(sql`j.project_id`, sql`btrim(m.words[1], '''.')`)} in (select address_hash from erased)
      )
      update job j set errors = (
        select jsonb_agg(case when exists (select from named m where m.id = j.id and m.n = e.n)
          then e.error || '{"email": null, "error": "The contact was deleted"}' else e.error end order by e.n)
        from jsonb_array_elements(j.errors) with ordinality as e (error, n)
      )
      where j.id in (select id from named)`,
  );
}
