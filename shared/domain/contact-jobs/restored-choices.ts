import { isoText, json, query, sql, type Em } from '../../database/sql.ts';
import { LIMITS } from '../../pure/limits.ts';

/** What a row of an exported file says of a contact beside its subscription, topics, tracking and data. */
export interface RestoredChoices {
  /** ISO 8601, as the next one. */
  pausedUntil?: string | undefined;
  leftAt?: string | undefined;
  /** Why the contact was not subscribed where it was exported. */
  reason?: string | undefined;
}

/**
 * Gives contacts of an import the pauses and the reasons that they had where they were exported, with the consent of each.
 * A pause that is over stays so, and what a row does not say stays as it is.
 * @param rows by the ids of the contacts, whose subscriptions are stored already
 */
export async function restoreChoices(
  em: Em,
  projectId: string,
  jobId: string,
  rows: readonly (RestoredChoices & { id: string })[],
): Promise<void> {
  if (rows.length === 0) return;
  await query(
    em,
    sql`
      with held as materialized (
        select c.id, c.subscribed, c.paused_until as was_paused, c.opted_out_at as left_at, w.reason, w."leftAt",
          case when w."pausedUntil" > now()
            then least(w."pausedUntil", now() + ${LIMITS.pauseDays}::int * interval '1 day') end as paused
        from jsonb_to_recordset(${json(rows)}::jsonb) as w
          (id uuid, "pausedUntil" timestamptz(3), "leftAt" timestamptz(3), reason text)
        join contact c on c.project_id = ${projectId} and c.id = w.id
      ),
      changed as (
        update contact c set paused_until = coalesce(h.paused, c.paused_until), opted_out_at = least(h.left_at, h."leftAt")
        from held h where c.id = h.id and (h.paused is not null or h.left_at > h."leftAt")
      )
      insert into consent_record (contact_id, id, project_id, state, cause, details)
      select h.id, everpost_uuid_v7(), ${projectId}, n.state, 'import', jsonb_build_object('jobId', ${jobId}::text) || n.details
      from held h cross join lateral (values
        (case when h.paused is distinct from h.was_paused and h.paused is not null then 'paused' end,
          jsonb_build_object('pausedUntil', ${isoText(sql`h.paused`)})),
        (case when not h.subscribed and h.reason is not null and h.reason is distinct from (
          select coalesce(r.details ->> 'formerReason', r.cause) from consent_record r
          where r.contact_id = h.id and r.topic_id is null and r.state = 'unsubscribed' order by r.id desc limit 1
        ) then 'unsubscribed' end, jsonb_build_object('formerReason', h.reason))
      ) as n (state, details) where n.state is not null`,
  );
}
