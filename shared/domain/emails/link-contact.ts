import type { Brand } from '../../pure/brand.ts';
import type { Language } from '../../pure/languages/languages.ts';
import { queryOne, sql, type Em } from '../../database/sql.ts';
import { boolean, date, jsonAs, nullable, tables, text, type RowOf } from '../../database/tables.ts';
import { BRAND } from '../projects/brand.ts';

/** The contact and the email that a link belongs to. */
export interface LinkOwner {
  contactId: string;
  emailId: string;
}

const LINK_CONTACT = {
  id: text,
  projectId: text,
  email: text,
  subscribed: boolean,
  data: jsonAs<Record<string, unknown>>(),
  brand: jsonAs<Brand>(),
  clientAddresses: tables.project.clientAddresses,
};
export type LinkContact = RowOf<typeof LINK_CONTACT>;

/**
 * The contact that a link belongs to. If it was deleted and created again under another id, its successor is found, so
 * that unsubscribing still works. A link in an email without a contact leads to the contact who has the address now.
 */
export async function findLinkContact(em: Em, { contactId, emailId }: LinkOwner): Promise<LinkContact | undefined> {
  return queryOne(
    em,
    sql`
      with found as (
        select id, project_id, email, subscribed, data from contact where id = ${contactId}
        union all
        select c.id, c.project_id, c.email, c.subscribed, c.data
        from (
          select successor_id as id from erased_contact where contact_id = ${contactId}
          union all
          select x.successor_id from email e join erased_contact x on x.contact_id = e.erased_contact_id
          where e.id = ${emailId}
          union all
          select c.id from email e join contact c on c.project_id = e.project_id and c.email = e.to_address
          where e.id = ${emailId}
        ) successor join contact c on c.id = successor.id
        where not exists (select from contact where id = ${contactId})
        limit 1
      )
      select c.id, c.project_id as "projectId", c.email, c.subscribed, c.data, ${BRAND} as brand,
        p.client_addresses as "clientAddresses"
      from found c join project p on p.id = c.project_id`,
    LINK_CONTACT,
  );
}

/** A topic that the pages offer to a contact. */
export interface OfferedTopic {
  id: string;
  name: string;
  description: string | null;
  /** Whether the contact gets it as long as it is subscribed: by its choice, or by default. */
  isOn: boolean;
  /** Whether the email with the link is about it. */
  isOfEmail: boolean;
}

const READER_CHOICES = {
  subscribed: boolean,
  /** The end of a pause that has not ended yet. */
  pausedUntil: nullable(date),
  trackingAllowed: nullable(boolean),
  /** The mode of the project; CONSENTED asks contacts first. */
  tracking: tables.project.tracking,
  /**
   * The public topics, those that the contact has chosen, and the one that the email is about. An email that is no
   * longer stored, or whose topic was deleted, is about no topic.
   */
  topics: jsonAs<OfferedTopic[]>(),
};
export type ReaderChoices = RowOf<typeof READER_CHOICES>;

/** What a contact has chosen, as the pages behind the links of an email show it in a language. */
export async function readChoices(
  em: Em,
  contact: Pick<LinkContact, 'id'>,
  emailId: string,
  language: Language = 'en',
): Promise<ReaderChoices> {
  const choices = await queryOne(
    em,
    sql`
      select c.subscribed, case when c.paused_until > now() then c.paused_until end as "pausedUntil",
        c.tracking_allowed as "trackingAllowed", p.tracking,
        array_to_json(array(
          select json_build_object(
            'id', t.id, 'name', coalesce(t.texts #>> ${[language, 'name']}::text[], t.name),
            'description', coalesce(t.texts #>> ${[language, 'description']}::text[], t.description),
            'isOn', coalesce(s.subscribed, t.default_subscription = 'opt_in'), 'isOfEmail', t.id is not distinct from m.topic_id)
          from topic t left join topic_subscription s on s.topic_id = t.id and s.contact_id = c.id
          where t.project_id = c.project_id and (t.visibility = 'public' or s.subscribed or t.id = m.topic_id)
          order by t.created_at, t.id
        )) as topics
      from contact c join project p on p.id = c.project_id
      left join lateral (
        select coalesce(e.topic_id, a.topic_id) as topic_id from email e left join campaign a on a.id = e.campaign_id
        where e.id = ${emailId}
      ) m on true
      where c.id = ${contact.id}`,
    READER_CHOICES,
  );
  if (!choices) throw new Error('the contact was deleted while its choices were read');
  return choices;
}
