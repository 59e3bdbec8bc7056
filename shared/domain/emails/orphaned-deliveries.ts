import { OPEN_EMAIL_STATUSES } from '../../pure/emails/email-types.ts';
import { emailStatus } from '../../database/constants.ts';
import { query, sql, literalList, type SqlFragment, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { HELD_REASONS } from './held-mail.ts';

/** How long an attempt may go on sending after its workflow ended. It learns of the end by its heartbeat. */
export const ATTEMPT_ENDS_MS = 60_000;

/** Emails of one delivery, as many as the outbox puts into a batch. */
const DELIVERY_SIZE = 100;

/**
 * Transactional emails `e` that have no result `quietSeconds` after they were due and do not wait in the outbox, but for
 * those of disabled projects. An
 * email that no delivery has claimed may belong to a delivery that waits for a worker and has another id. That cannot
 * be looked up, so such an email is given more time, unless `isComplete`.
 */
export function overdueEmails(quietSeconds: number, isComplete: boolean): SqlFragment {
  return sql`
    email e where e.delivery_due_at < now() - ${quietSeconds}::int * interval '1 second'
      and (${isComplete} or e.delivery_id is not null or e.delivery_due_at < now() - interval '1 hour')
      and e.status in ${literalList(OPEN_EMAIL_STATUSES)}
      and exists (select from project p where p.id = e.project_id and not p.disabled)
      and not exists (select from outbox o where o.kind in ('email', 'automationEmail', 'scheduledEmail') and o.subject_id = e.id)`;
}

/**
 * The id of the delivery of an email `e`; if no delivery has claimed it, the id of the delivery that it would begin.
 */
export const DELIVERY_OF_EMAIL = sql`coalesce(e.delivery_id, e.id)`;

export interface OrphanedDelivery {
  id: string;
  /** Whether an attempt that was under way when the delivery was lost has certainly ended. */
  isSettled: boolean;
}

/**
 * Gives the due emails of lost deliveries to new ones. Only the new delivery can claim them, so an email is sent by one
 * delivery even if the old one is still alive. Emails that an attempt may be sending are left for a later call.
 */
export async function redeliver(em: Em, deliveries: OrphanedDelivery[]): Promise<void> {
  const settled = deliveries.filter((delivery) => delivery.isSettled).map((delivery) => delivery.id);
  await redeliverThose(
    em,
    sql`
      ${overdueEmails(0, true)} and ${DELIVERY_OF_EMAIL} = any(${deliveries.map((delivery) => delivery.id)}::uuid[])
        and (e.status = ${emailStatus.PENDING} or ${DELIVERY_OF_EMAIL} = any(${settled}::uuid[]))`,
  );
}

/** As `redeliver`, for all due emails. All deliveries are lost, and no attempt is under way. @returns how many */
export async function redeliverAll(em: Em): Promise<number> {
  return redeliverThose(em, overdueEmails(0, true));
}

/** Transactional emails that wait for a reason which may have ended. */
interface HeldEmails {
  /** Only those of one project. */
  projectId: string | undefined;
  /** Only those of deliveries with an id before this one, so that none is redelivered a second time. */
  before: string;
  limit: number;
}

/** Gives held emails to new deliveries; the old ones find nothing to do when they go on. @returns how many */
export async function redeliverHeld(em: Em, { projectId, before, limit }: HeldEmails): Promise<number> {
  const held = sql`
    email e where e.delivery_due_at > now() and e.status = ${emailStatus.PENDING}
      and e.wait_reason = any(${[...HELD_REASONS]}::text[]) and ${DELIVERY_OF_EMAIL} < ${before}::uuid
      and (${projectId ?? null}::uuid is null or e.project_id = ${projectId ?? null}::uuid)
      and exists (select from project p where p.id = e.project_id and not p.disabled)
    order by e.delivery_due_at limit ${limit}::int`;
  return redeliverThose(em, held);
}

/**
 * Gives the emails of a project that wait for its speed to new deliveries, as `redeliverHeld` does. Those of deliveries
 * that wait for a worker go with them. @returns how many
 */
export async function redeliverDue(em: Em, { projectId, before, limit }: HeldEmails): Promise<number> {
  const due = sql`
    ${overdueEmails(0, true)} and e.project_id = ${projectId ?? null}::uuid and e.status = ${emailStatus.PENDING}
      and ${DELIVERY_OF_EMAIL} < ${before}::uuid
    order by e.delivery_due_at limit ${limit}::int`;
  return redeliverThose(em, due);
}

/**
 * The batches are formed here, so the outbox rows look like rows that were claimed and not yet started.
 * @param lost a table of emails `e` with its conditions
 */
async function redeliverThose(em: Em, lost: SqlFragment): Promise<number> {
  const rows = await query(
    em,
    sql`
      with lost as (
        select e.id, e.project_id, e.execution_id is not null as is_automated from ${lost}
        for update of e
      ),
      placed as (
        select *, (row_number() over (partition by project_id, is_automated order by id) - 1) / ${DELIVERY_SIZE}::int as place
        from lost
      ),
      delivery as (
        select project_id, is_automated, place, everpost_uuid_v7() as id from placed
        group by project_id, is_automated, place
      ),
      moved as (
        update email e set delivery_id = d.id, delivery_due_at = now(), retry_at = null
        from placed p join delivery d using (project_id, is_automated, place) where e.id = p.id
        returning e.id, e.project_id, d.id as delivery_id, d.is_automated
      )
      insert into outbox (id, project_id, kind, subject_id, batch_id)
      select everpost_uuid_v7(), project_id, case when is_automated then 'automationEmail' else 'email' end, id, delivery_id
      from moved returning id`,
    { id: tables.outbox.id },
  );
  return rows.length;
}
