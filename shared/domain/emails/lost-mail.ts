import { OPEN_EMAIL_STATUSES } from '../../pure/emails/email-types.ts';
import type { Em } from '../database/em.ts';
import { query, sql, type SqlFragment, literalList } from '../database/sql.ts';

/** How long an attempt may go on sending after its workflow was ended: it learns of that by its heartbeat, in seconds. */
export const ATTEMPT_ENDS_MS = 60_000;

/** Mails that go into one delivery, as many as the outbox joins. */
const DELIVERY_SIZE = 100;

/**
 * Transactional mail, as `e`, of which nothing has come by `quietMinutes` after it was due, and that does not wait for
 * Temporal in the outbox. One that no delivery has ever claimed may stand in a long queue before a worker; it can be in
 * a delivery that is not named after it, so nobody can tell, and it is given more time.
 */
export function overdueMails(quietMinutes: number): SqlFragment {
  return sql`
    email e where e.delivery_due_at < now() - ${quietMinutes}::int * interval '1 minute'
      and (e.delivery_id is not null or e.delivery_due_at < now() - interval '1 hour')
      and e.status in ${literalList(OPEN_EMAIL_STATUSES)}
      and not exists (select from outbox o where o.kind in ('email', 'automationEmail') and o.subject_id = e.id)`;
}

/** The delivery of a mail `e`: where none has claimed it, the one that would be named after it. */
export const DELIVERY_OF_MAIL = sql`coalesce(e.delivery_id, e.id)`;

export interface LostDelivery {
  id: string;
  /** Whether an attempt that was under way when it was lost has surely ended. */
  isSettled: boolean;
}

/**
 * Gives the overdue mails of lost deliveries to new ones, which no other delivery, should it be alive after all, can
 * claim from: a mail is sent by one of them. What an attempt may have on the wire just now is left for later. The
 * batches are fixed here, so the outbox gets them as if they had been claimed and not yet started.
 */
export async function deliverAnew(em: Em, deliveries: LostDelivery[], quietMinutes: number): Promise<void> {
  const settled = deliveries.filter((delivery) => delivery.isSettled).map((delivery) => delivery.id);
  await query(
    em,
    sql`
      with lost as (
        select e.id, e.project_id, e.execution_id is not null as is_automated from ${overdueMails(quietMinutes)}
          and ${DELIVERY_OF_MAIL} = any(${deliveries.map((delivery) => delivery.id)}::uuid[])
          and (e.status = 'PENDING' or ${DELIVERY_OF_MAIL} = any(${settled}::uuid[]))
        for update of e
      ),
      placed as (
        select *, (row_number() over (partition by project_id, is_automated order by id) - 1) / ${DELIVERY_SIZE}::int as place from lost
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
      from moved`,
  );
}
