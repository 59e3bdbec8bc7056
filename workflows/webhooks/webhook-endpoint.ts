import {
  condition,
  continueAsNew,
  defineSignal,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { WEBHOOK_WOKEN_SIGNAL, type WebhookEndpointInput } from '../../shared/pure/workflow-contracts.ts';
import { eventWebhooks, slowEventWebhooks } from '../proxies.ts';

export const webhookWokenSignal = defineSignal(WEBHOOK_WOKEN_SIGNAL);

/** The rounds of one run. A round is about ten events, so the history stays far below the limits of Temporal. */
const ROUNDS_MAX = 200;
/** The idle time after which the workflow ends. The next event starts it again. */
const IDLE_MS_MAX = 10 * 60_000;

/**
 * Delivers the outstanding events of one endpoint, turn after turn. Then it sleeps until it is woken or its next retry
 * is due. Its history contains turns, never events.
 */
export async function webhookEndpoint({ endpointId, isTroubled: wasTroubled }: WebhookEndpointInput): Promise<void> {
  let wakes = 0;
  let isTroubled = wasTroubled ?? false;
  setHandler(webhookWokenSignal, () => {
    wakes++;
  });
  for (let round = 0; round < ROUNDS_MAX && !workflowInfo().continueAsNewSuggested; round++) {
    const seen = wakes;
    const activities = isTroubled ? slowEventWebhooks : eventWebhooks;
    const outcome = await activities.deliverWebhooks({ endpointId });
    if (outcome.kind === 'gone') return;
    isTroubled = outcome.isTroubled;
    if (outcome.kind === 'more' || wakes !== seen) continue;
    const { inMs } = outcome;
    setCurrentDetails(inMs === null ? 'Everything is delivered.' : 'Waits for the next retry.');
    const isWoken = await condition(() => wakes !== seen, Math.max(inMs ?? IDLE_MS_MAX, 1), { summary: 'asleep' });
    if (!isWoken && inMs === null) return;
  }
  await continueAsNew<typeof webhookEndpoint>({ endpointId, isTroubled });
}
