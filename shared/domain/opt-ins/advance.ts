import type { OptInOutcome } from '../../pure/workflow-contracts.ts';
import { optInState } from '../../database/constants.ts';
import { query, sql, inTransaction, type Em } from '../../database/sql.ts';
import {
  findConfirmationSource,
  queueConfirmation,
  takeConfirmation,
  type ConfirmationDeps,
} from './confirmation-mail.ts';
import { isMissingSomething, lockOptIn, recordMissing, settingsOf, type OptIn } from './opt-in.ts';

/** When a project that may send from no address is looked at again. */
const NO_SENDER_MS = 10 * 60_000;

/**
 * Does what an opt-in has to do at a time: queues the confirmation that was asked for, or the reminder, or ends the
 * opt-in. Each of it is done once, however often and simultaneously this is called. While the project may send from no
 * address, the email stays due.
 */
export async function advanceOptIn(em: Em, id: string, asOf: Date, deps: ConfirmationDeps): Promise<OptInOutcome> {
  return inTransaction(em, async (tx) => {
    const optIn = await lockOptIn(tx, id);
    if (!optIn) return { kind: 'ended', state: 'deleted' };
    if (optIn.state !== 'pending') return { kind: 'ended', state: optIn.state };
    if (optIn.expiresAt <= asOf) {
      await expireOptIn(tx, optIn);
      return { kind: 'ended', state: 'expired' };
    }
    const isReminderDue = optIn.remindAt !== null && optIn.remindAt <= asOf;
    let mails = 0;
    if (isMissingSomething(optIn) && (optIn.isMailWanted || isReminderDue)) {
      const source = await findConfirmationSource(tx, optIn.projectId, settingsOf(optIn.settings));
      if (!source) return { kind: 'waits', untilMs: asOf.getTime() + NO_SENDER_MS };
      if (await takeConfirmation(tx, optIn.projectId, optIn.email)) {
        await queueConfirmation(tx, optIn, source, !optIn.isMailWanted, deps);
        mails = 1;
      }
    }
    const remindAt = isReminderDue ? null : optIn.remindAt;
    const dueAt = remindAt ?? optIn.expiresAt;
    await query(
      tx,
      sql`
        update opt_in set mails = mails + ${mails}::smallint, is_mail_wanted = false, remind_at = ${remindAt}, due_at = ${dueAt}
        where id = ${id}`,
    );
    return { kind: 'waits', untilMs: dueAt.getTime() };
  });
}

/**
 * Ends an opt-in that nobody confirmed. A contact that it has created stays pending, and is deleted after a while;
 * another one is what it was before.
 */
export async function expireOptIn(tx: Em, optIn: OptIn): Promise<void> {
  await query(
    tx,
    sql`update opt_in set state = ${optInState.expired}, is_mail_wanted = false, data = '{}' where id = ${optIn.id}`,
  );
  if (!optIn.isFirst) {
    await query(tx, sql`update contact set is_pending = false where id = ${optIn.contactId} and is_pending`);
  }
  await recordMissing(tx, optIn, 'expired');
}
