import { startTestStack, type TestStack } from './stack.ts';
import { createTemporalProcess } from './temporal-process.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

export interface ShortOfHistory {
  stack: TestStack;
  hook: WebhookReceiver;
  stop: () => Promise<void>;
}

/**
 * A stack on a Temporal server of its own, which suggests to continue as new after few events. The default is thousands
 * of events; here a dozen steps make several runs.
 */
export async function startStackShortOfHistory(suggestedAfterEvents: number): Promise<ShortOfHistory> {
  const server = await createTemporalProcess({ 'limit.historyCount.suggestContinueAsNew': suggestedAfterEvents });
  await server.start();
  const stack = await startTestStack({
    temporalServer: server.address,
    config: { WEBHOOK_ALLOWED_NETWORKS: ['127.0.0.1'] },
  });
  const hook = await startWebhookReceiver();
  return {
    stack,
    hook,
    async stop() {
      await hook.close();
      await stack.stop();
      await server.remove();
    },
  };
}
