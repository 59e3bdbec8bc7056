import { sql, type SqlFragment } from '../database/sql.ts';
import { recordedEvents } from './recorded-events.ts';

/** Values that a statement knows for all its emails, so that it need not look them up. */
export interface EmailHeading {
  from: string;
  /** Subject of emails that have none of their own. */
  subject: string | null;
}

interface EmailEvents {
  /** A table or common table expression that has the columns of `email`; the other parts call its rows `m`. */
  emails: SqlFragment;
  id?: SqlFragment;
  name: SqlFragment;
  /** The further data of this event, beyond that of all email events: JSON. */
  details: SqlFragment;
  /** When it happened; now where it is missing. */
  at?: SqlFragment;
  where: SqlFragment;
  /** Missing when it must be read: an email has an author and a subject of its own, or those of its campaign. */
  heading?: EmailHeading | undefined;
  onConflict?: SqlFragment;
}

/**
 * The common table expressions that record events of emails; see `recordedEvents`. An email whose contact was erased has no
 * address any more, and no events.
 */
export function recordedEmailEvents(events: EmailEvents): SqlFragment {
  const { emails, id = sql`everpost_uuid_v7()`, name, details, at = sql`now()`, where, heading } = events;
  const from = heading ? sql`${heading.from}::text` : sql`coalesce(b.from_address, c.from_address)`;
  const subject = heading ? sql`coalesce(m.subject, ${heading.subject}::text)` : sql`coalesce(m.subject, c.subject)`;
  const joins = heading
    ? sql``
    : sql`left join campaign c on c.id = m.campaign_id left join email_content b on b.email_id = m.id`;
  return recordedEvents(
    sql`
      select ${id}, m.project_id, m.contact_id, m.id, ${name},
        jsonb_build_object(
          'emailId', m.id, 'subject', ${subject}, 'from', ${from}, 'to', m.to_address,
          'campaignId', m.campaign_id, 'templateId', m.template_id, 'workflowId', m.automation_id
        ) || ${details}, ${at}
      from ${emails} m ${joins}
      where m.to_address is not null and ${where}`,
    events.onConflict,
  );
}
