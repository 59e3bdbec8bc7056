import {
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { CONTACTS_DELETED_SIGNAL, type ErasureInput } from '../../shared/pure/workflow-contracts.ts';
import { chunked } from '../proxies.ts';

export const contactsDeletedSignal = defineSignal(CONTACTS_DELETED_SIGNAL);

/** The rounds of one run. A round is about ten events, so the history stays far below the limits of Temporal. */
const ROUNDS_MAX = 100;

/**
 * Erases the remaining data of the deleted contacts of a project. First it erases all due data. After a pause it erases
 * rows of transactions that were under way during a deletion. It ends when nothing is left.
 */
export async function erasure(input: ErasureInput): Promise<void> {
  let deletions = 0;
  setHandler(contactsDeletedSignal, () => {
    deletions++;
  });
  for (let round = 0; round < ROUNDS_MAX && !workflowInfo().continueAsNewSuggested; round++) {
    const seen = deletions;
    const { contacts, nextInMs } = await chunked.eraseContacts(input);
    if (nextInMs === null && deletions === seen) return;
    if (nextInMs === null) continue;
    setCurrentDetails(`Looks again for what **${contacts}** deletions may have left behind.`);
    await condition(() => deletions !== seen, nextInMs, { summary: 'look again' });
  }
  await continueAsNew<typeof erasure>(input);
}
