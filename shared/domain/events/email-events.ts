import { sql, type SqlFragment } from '../../database/sql.ts';
import { recordedEvents } from './recorded-events.ts';

/** Values that a statement knows for all its emails, so it does not look them up. */
export interface EmailHeading {
  from: string;
  /** The subject of emails that have none of their own. */
  subject: string | null;
}

interface EmailEvents {
  /** A table or common table expression with the columns of `email`; the other fragments refer to its rows as `m`. */
  emails: SqlFragment;
  id?: SqlFragment;
  name: SqlFragment;
  /** The data that only this event has, as JSON; that of all email events is added to it. */
  details: SqlFragment;
  /** When it happened; now when left out. */
  at?: SqlFragment;
  where: SqlFragment;
  /** When left out, the statement reads both values: from the email or else from its campaign. */
  heading?: EmailHeading | undefined;
  onConflict?: SqlFragment;
}

/**
 * The common table expressions that record events of emails; see `recordedEvents`. An email whose contact was erased
 * has no address any more, so it gets no events.
 */
export function recordedEmailEvents(events: EmailEvents): SqlFragment {
  const { emails, id = sql`everpost_uuid_v7()`, name, details, at = sql`now()`, where, heading } = events;
  const from = heading ? sql`${heading.from}::text` : sql`coalesce(b.from_address, c.from_address)`;
  const subject = heading ? sql`coalesce(m.subject, ${heading.subject}::text)` : sql`coalesce(m.subject, c.subject)`;
  const joins = heading
    ? sql``
    : sql`left join campaign c on c.id = m.campaign_id left join email_content b on b.email_id = m.id`;
  // Emails of campaigns have no tags.
  const tags = heading ? sql`'{}'::jsonb` : sql`jsonb_strip_nulls(jsonb_build_object('tags', m.tags))`;
  return recordedEvents(
    sql`
      select ${id}, m.project_id, m.contact_id, m.id, ${name},
        jsonb_build_object(
          'emailId', m.id, 'subject', ${subject}, 'from', ${from}, 'to', m.to_address,
          'campaignId', m.campaign_id, 'templateId', m.template_id, 'workflowId', m.automation_id
        ) || ${tags} || ${details}, ${at}
      from ${emails} m ${joins}
      where m.to_address is not null and ${where}`,
    events.onConflict,
  );
}
