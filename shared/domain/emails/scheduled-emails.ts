import { AppError } from '../../pure/app-error.ts';
import { LIMITS } from '../../pure/limits.ts';
import { emailStatus } from '../../database/constants.ts';
import { assertBelowLimit } from '../../database/row-limit.ts';
import { query, queryOne, sql, inTransaction, type SqlFragment, type Em } from '../../database/sql.ts';
import { tables } from '../../database/tables.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';

/**
 * Checks that a project may schedule further emails.
 * @throws AppError VALIDATION_ERROR while too many wait
 */
export async function assertScheduledLimit(em: Em, projectId: string): Promise<void> {
  await assertBelowLimit(em, {
    rows: sql`
      from email where project_id = ${projectId} and scheduled_at > now() and status = ${emailStatus.PENDING}`,
    limit: LIMITS.scheduledEmailsPerProject,
    field: 'scheduledAt',
    what: 'scheduled emails in a project',
  });
}

/** Starts the deliveries of the emails that wait for their moment. They have ended if the project was put to rest. */
export async function restartScheduled(em: Em, projectId: string): Promise<void> {
  const rows = await query(
    em,
    sql`
      select id from email
      where project_id = ${projectId} and scheduled_at > now() and status = ${emailStatus.PENDING}`,
    { id: tables.email.id },
  );
  const ids = rows.map(({ id }) => id);
  await addToOutbox(em, 'scheduledEmail', projectId, ids);
}

const CHANGED = { status: tables.email.status, scheduledAt: tables.email.scheduledAt };

/** Names a scheduled email. */
interface ScheduledEmail {
  projectId: string;
  emailId: string;
  /** Only if it was sent with this key. */
  keyId: string | undefined;
}

/** @throws AppError RESOURCE_NOT_FOUND, CONFLICT when the email does not wait for its moment any more */
async function changeScheduled(em: Em, named: ScheduledEmail, change: SqlFragment): Promise<void> {
  const { projectId, emailId, keyId } = named;
  const ofKey = keyId === undefined ? sql`` : sql`and key_id = ${keyId}`;
  await inTransaction(em, async (tx) => {
    const email = await queryOne(
      tx,
      sql`
        select status, scheduled_at as "scheduledAt" from email
        where id = ${emailId} and project_id = ${projectId} ${ofKey} for no key update`,
      CHANGED,
    );
    if (!email) throw new AppError('RESOURCE_NOT_FOUND', { message: 'Email not found' });
    const changed = await queryOne(
      tx,
      sql`
        update email set ${change} where id = ${emailId} and status = ${emailStatus.PENDING} and scheduled_at > now()
        returning id`,
      { id: tables.email.id },
    );
    if (changed) {
      await addToOutbox(tx, 'scheduledEmail', projectId, [emailId]);
      return;
    }
    const { status, scheduledAt } = email;
    throw new AppError('CONFLICT', {
      message: scheduledAt
        ? `The email is ${status === 'PENDING' ? 'due' : status} already`
        : 'The email was not scheduled',
      details: { status, scheduledAt: scheduledAt?.toISOString() ?? null },
    });
  });
}

/**
 * Gives a scheduled email another moment; one in the past means now.
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT when it does not wait for its moment any more
 */
export async function rescheduleEmail(em: Em, email: ScheduledEmail, at: Date): Promise<void> {
  const moment = sql`greatest(${at}::timestamptz, now())`;
  await changeScheduled(em, email, sql`scheduled_at = ${moment}, retry_at = ${moment}, delivery_due_at = ${moment}`);
}

/** Cancels a scheduled email for good. @throws AppError RESOURCE_NOT_FOUND, CONFLICT as `rescheduleEmail` */
export async function cancelScheduledEmail(em: Em, email: ScheduledEmail): Promise<void> {
  await changeScheduled(em, email, sql`status = ${emailStatus.CANCELLED}, delivery_due_at = null`);
}
