import { AppError } from '../../pure/app-error.ts';
import { optInState } from '../../database/constants.ts';
import { query, sql, inSavepoint, inTransaction, type Em } from '../../database/sql.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import { evidenceOf, recordConsents, wordingId } from '../consent/records.ts';
import { setPause } from '../contacts/contact-choices.ts';
import { patchContact, setSubscribed } from '../contacts/contacts.ts';
import { changeTopics } from '../topics/topic-choices.ts';
import { isExpired, lockOptIn, type OptIn } from './opt-in.ts';

/**
 * Stores what a form says of a contact. What the contact has no room for is left out, so that neither the answer to the
 * form nor the confirmation depends on what was stored before.
 */
export async function applyFormData(
  tx: Em,
  { projectId, contactId, locale }: Pick<OptIn, 'projectId' | 'contactId' | 'locale'>,
  { language, data }: Pick<OptIn, 'language' | 'data'>,
): Promise<void> {
  const patch = { ...(language !== null && locale === null && { locale: language }), ...data };
  if (Object.keys(patch).length === 0) return;
  await inSavepoint(
    tx,
    () => patchContact(tx, projectId, contactId, { data: patch }, { reason: 'form' }),
    (error) => error instanceof AppError && error.code === 'VALIDATION_ERROR',
  );
}

/**
 * Confirms an opt-in: the contact is subscribed, to all marketing and to the topics. Another call changes nothing, even
 * when the contact has left since. One that has ended is not confirmed.
 * @param wordingOf the words of the page that the person has answered
 * @returns the opt-in as it is now; undefined when it, or its contact, no longer exists
 */
export async function confirmOptIn(
  em: Em,
  id: string,
  clientAddress: string | undefined,
  wordingOf: (optIn: OptIn) => string,
): Promise<OptIn | undefined> {
  return inTransaction(em, async (tx) => {
    const optIn = await lockOptIn(tx, id);
    if (!optIn || optIn.state !== 'pending' || isExpired(optIn)) return optIn;
    const { projectId, contactId, topics } = optIn;
    await query(
      tx,
      sql`
        update opt_in set state = ${optInState.confirmed}, confirmed_at = now(), is_mail_wanted = false, data = '{}'
        where id = ${id}`,
    );
    await applyFormData(tx, optIn, optIn);
    const cause = { reason: 'confirmation' } as const;
    const proof = {
      ...evidenceOf(clientAddress, optIn.clientAddresses),
      wordingId: await wordingId(tx, wordingOf(optIn)),
    };
    await setSubscribed(tx, projectId, [contactId], true, () => ({ cause, evidence: proof }));
    await setPause(tx, projectId, contactId, null, { cause, evidence: proof });
    const choices = topics.map((topic) => ({ contactId, topicId: topic.id, subscribed: true }));
    const changed = new Set((await changeTopics(tx, projectId, choices, cause, proof)).map(({ topicId }) => topicId));
    // A topic that the contact has by default waited, too, and its record must not end as pending.
    const others = topics.filter(({ id: topicId }) => !changed.has(topicId));
    const confirmed = { contactId, state: 'subscribed', cause, evidence: proof } as const;
    await recordConsents(
      tx,
      projectId,
      others.map(({ id: topicId }) => ({ ...confirmed, topicId })),
    );
    await addToOutbox(tx, 'optIn', projectId, [id]);
    return { ...optIn, state: 'confirmed', subscribed: true };
  });
}
