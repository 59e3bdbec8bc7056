import { columnsOf, query, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { jsonAs, pick, tables, text, type RowOf } from '../../database/tables.ts';
import type { Contact } from '../contacts/contact.entity.ts';

/** Rows that one statement reads. */
const PAGE = 100;

/** The text of an email as far as it is stored; undefined where it was never stored or is no longer. */
export async function storedContentOf(em: Em, emailId: string): Promise<{ html: string; text: string } | undefined> {
  const [content] = await query(
    em,
    sql`select html, body_text as text from email_content where email_id = ${emailId}`,
    { html: text, text },
  );
  return content;
}

/** The executions of a contact with their automations, oldest first, page by page. */
export async function* executionsOf(em: Em, contactId: string): AsyncGenerator<{ id: string; automationId: string }[]> {
  for (let after: string | null = null; ;) {
    const page: { id: string; automationId: string }[] = await query(
      em.fork(),
      sql`
        select x.id, x.automation_id as "automationId" from automation_execution x
          join automation a on a.id = x.automation_id
        where x.contact_id = ${contactId} and (${after}::uuid is null or x.id > ${after}::uuid)
        order by x.id limit ${PAGE}`,
      pick(tables.automationExecution, 'id', 'automationId'),
    );
    if (page.length > 0) yield page;
    after = page.at(-1)?.id ?? null;
    if (page.length < PAGE) return;
  }
}

const EVENT = pick(tables.event, 'id', 'projectId', 'contactId', 'emailId', 'name', 'data', 'createdAt');

/** The events of a contact by their names, page by page. By time alone, each page would have to read all of them. */
export async function* eventsOf(em: Em, contactId: string): AsyncGenerator<RowOf<typeof EVENT>[]> {
  for (let after: SqlFragment | undefined = sql`true`; after;) {
    const page: RowOf<typeof EVENT>[] = await query(
      em.fork(),
      sql`
        select ${columnsOf(EVENT, 'e')} from event e where e.contact_id = ${contactId} and ${after}
        order by e.name, e.created_at, e.id limit ${PAGE}`,
      EVENT,
    );
    if (page.length > 0) yield page;
    const last = page.at(PAGE - 1);
    after =
      last && sql`(e.name, e.created_at, e.id) > (${last.name}, ${last.createdAt}::timestamptz, ${last.id}::uuid)`;
  }
}

const BELONGINGS = {
  segments: jsonAs<{ id: string; name: string; since: string | null }[]>(),
  formerAddresses: jsonAs<string[]>(),
  optIns: jsonAs<Record<string, unknown>[]>(),
};

/** Stored memberships, addresses that email went to before, and requests to subscribe of a contact. */
export async function belongingsOf(em: Em, { id, email }: Pick<Contact, 'id' | 'email'>) {
  const [found] = await query(
    em,
    sql`
      select coalesce((select json_agg(json_build_object('id', s.id, 'name', s.name) order by s.name)
          from segment_member m join segment s on s.id = m.segment_id where m.contact_id = ${id}), '[]') as segments,
        coalesce((select json_agg(a.to_address order by a.to_address) from (
          select distinct to_address from email where contact_id = ${id} and to_address <> ${email}) a), '[]')
          as "formerAddresses",
        coalesce((select json_agg(json_build_object('id', o.id, 'topicIds', o.topic_ids, 'state', o.state,
          'language', o.language, 'clientAddress', o.client_address, 'wording', w.content, 'createdAt', o.created_at,
          'confirmedAt', o.confirmed_at, 'expiresAt', o.expires_at) order by o.created_at)
          from opt_in o left join wording w on w.id = o.wording_id where o.contact_id = ${id}), '[]') as "optIns"`,
    BELONGINGS,
  );
  return found;
}
