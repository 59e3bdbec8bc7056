import {
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { OPT_IN_CHANGED_SIGNAL, type OptInInput } from '../../shared/pure/workflow-contracts.ts';
import { database } from '../proxies.ts';

export const optInChangedSignal = defineSignal(OPT_IN_CHANGED_SIGNAL);

/**
 * Waits for the confirmation of a subscription. The row says what is due: the confirmation, a reminder, or the end. A
 * signal says that the row has changed: more was asked for, or the person has confirmed.
 * @returns how it ended, for operators
 */
export async function optIn(input: OptInInput): Promise<string> {
  let changes = 0;
  setHandler(optInChangedSignal, () => {
    changes++;
  });
  while (!workflowInfo().continueAsNewSuggested) {
    const seen = changes;
    const outcome = await database.advanceOptIn({ ...input, asOfMs: Date.now() });
    if (outcome.kind === 'ended') return outcome.state;
    setCurrentDetails('Waits for the person to confirm.');
    const waitMs = Math.max(outcome.untilMs - Date.now(), 1);
    await condition(() => changes !== seen, waitMs, { summary: 'until the reminder or the end' });
  }
  return continueAsNew<typeof optIn>(input);
}
