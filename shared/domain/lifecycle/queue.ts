import { campaignStatus, emailStatus, executionStatus, jobState, optInState } from '../../database/constants.ts';
import { limitStatements, joinSql, query, sql, inTransaction, type SqlFragment, type Em } from '../../database/sql.ts';
import { nullable, number, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { HELD_REASONS } from '../emails/held-mail.ts';
import { withoutAddresses, WORDS_LENGTH_MAX } from '../campaigns/recipients.ts';

/** What waits in one project, by kind. */
const WAITING_ITEMS = {
  projectId: text,
  project: tables.project.name,
  /** A kind of the outbox, `email`, `scheduled campaign`, `campaign recipient`, `execution`, `confirmation` or a kind of job. */
  kind: text,
  rows: number,
  /** How long the oldest item has been due; null when all of them are due later. */
  oldestSeconds: nullable(number),
  /** Why the items wait, if that is known. */
  reason: nullable(text),
};
export type WaitingItems = RowOf<typeof WAITING_ITEMS>;

/** A provider to which sending by a relay is paused or slowed down. */
const RELAY_TROUBLE = pick(tables.providerHealth, 'relay', 'provider', 'state');
export type RelayTrouble = RowOf<typeof RELAY_TROUBLE>;

/** The longest wait of an operator: there may be millions of rows. */
const STATEMENT_MS = 30_000;
const ITEMS_MAX = 1_000;

/**
 * Recipients of a campaign `c` without an outcome. Its counter of bounces also has recipients that are counted as sent.
 */
const RECIPIENTS_LEFT = sql`
  c.total_recipients - c.sent_count - c.failed_count - c.skipped_count - c.suppressed_count - (
    select count(*) from email e where e.campaign_id = c.id and e.trouble = ${emailStatus.BOUNCED} and e.sent_at is null)`;

/** Why something waits that is due and not in the outbox. */
const NO_WORKER = sql`'waits for a worker, or Temporal has lost it (everpost reconcile --now)'`;

const HELD_WORDS: Record<(typeof HELD_REASONS)[number], string> = {
  'no source': 'wait for a source of their pool (everpost source list)',
  'traffic rule': 'wait for a traffic rule (everpost shaping show <provider>)',
  'warm-up': 'wait because a source warms up (everpost warm-up show)',
};

/** How many emails wait for each of these reasons; null for none. */
const HELD_COUNTS = HELD_REASONS.map(
  (reason) => sql`nullif(count(*) filter (where wait_reason = ${reason}), 0) || ${` ${HELD_WORDS[reason]}`}::text`,
);

/** How many emails were deferred, with the words of one of them, in which no address is shown; null for none. */
const DEFERRED = sql`
  nullif(count(*) filter (where wait_reason = 'deferred'), 0) || ' deferred' || coalesce(', such as: ' ||
    ${withoutAddresses(sql`left(max(error) filter (where wait_reason = 'deferred'), ${WORDS_LENGTH_MAX}::int)`)}, '')`;

/** The words of a hold that has not ended long ago. */
function wordsOf(hold: SqlFragment): SqlFragment {
  return sql`
    case when (${hold} ->> 'until')::timestamptz > now() - interval '1 minute'
      then coalesce(${hold} ->> 'words', ${hold} ->> 'reason') end`;
}

/** A select of what waits, by project and kind: in all projects, or in one. */
function waitingItems(projectId: string | null): SqlFragment {
  const ofProject = projectId === null ? sql`true` : sql`project_id = ${projectId}`;
  return sql`
    select project_id, 'start of ' || kind, count(*), min(available_at),
      case when bool_or(last_error is not null) then 'Temporal has not taken it yet' end
    from outbox where ${ofProject} group by 1, 2
    union all
    select project_id, 'email', count(*), min(delivery_due_at),
      nullif(concat_ws(', ', coalesce(
        case when count(held_at) > 0 then count(held_at) || ' held for a provider' end,
        nullif(concat_ws(', ', ${joinSql(HELD_COUNTS, ', ')}), ''),
        (select ${wordsOf(sql`holds -> 'transactional'`)} from project_permit h where h.project_id = email.project_id)
      ), ${DEFERRED}), '')
    from email where delivery_due_at is not null and (scheduled_at is null or scheduled_at <= now()) and ${ofProject} group by 1
    union all
    select project_id, 'scheduled email', count(*), min(scheduled_at), null from email
    where scheduled_at > now() and status = ${emailStatus.PENDING} and ${ofProject} group by 1
    union all
    select project_id, 'campaign recipient', sum(greatest(0, ${RECIPIENTS_LEFT})),
      min(coalesce(resend_as_of, audience_as_of, updated_at)),
      case when bool_or(paused_at is not null) then 'a campaign is paused' else max(${wordsOf(sql`waiting`)}) end
    from campaign c where status = ${campaignStatus.SENDING} and ${ofProject} group by 1
    union all
    select project_id, 'scheduled campaign', count(*), min(scheduled_for), ${NO_WORKER}
    from campaign where status = ${campaignStatus.SCHEDULED} and scheduled_for <= now() and ${ofProject} group by 1
    union all
    select project_id, 'execution', count(*), min(resume_at), ${NO_WORKER}
    from automation_execution where status = ${executionStatus.WAITING} and resume_at <= now() and ${ofProject} group by 1
    union all
    select project_id, 'job ' || kind, count(*), min(created_at), null
    from job where state in (${jobState.waiting}, ${jobState.active}) and ${ofProject} group by 1, 2
    union all
    select project_id, 'confirmation', count(*), min(due_at), case
      when exists (select from sender_domain d where d.project_id = o.project_id and d.verified) then ${NO_WORKER}
      else 'the project has no verified sender domain' end
    from opt_in o where state = ${optInState.pending} and due_at <= now() and ${ofProject} group by 1`;
}

/**
 * Lists what waits, by project and kind, the oldest first.
 * @param projectId all projects when null
 * @throws the driver's error when the statement takes longer than `statementMs`
 */
export async function listWaiting(
  em: Em,
  projectId: string | null,
  statementMs = STATEMENT_MS,
): Promise<WaitingItems[]> {
  return inTransaction(em, async (tx) => {
    await limitStatements(tx, statementMs);
    return query(
      tx,
      sql`
        with item (project_id, kind, rows, since, reason) as (${waitingItems(projectId)})
        select i.project_id as "projectId", p.name as project, i.kind, i.rows::int as rows,
          case when i.since <= now() then extract(epoch from now() - i.since)::float8 end as "oldestSeconds",
          case when p.disabled then 'the project is disabled' else i.reason end as reason
        from item i join project p on p.id = i.project_id
        where i.rows > 0 order by 5 desc nulls last, 2, 3 limit ${ITEMS_MAX}`,
      WAITING_ITEMS,
    );
  });
}

/** The providers that relays have trouble with. */
export async function listRelayTroubles(em: Em): Promise<RelayTrouble[]> {
  return query(
    em,
    sql`select relay, provider, state from provider_health order by relay, provider limit ${ITEMS_MAX}`,
    RELAY_TROUBLE,
  );
}
