import { messageIdOf, payloadOf, type HookEvent } from '../../shared/domain/webhooks/hook-events.ts';
import { LIMITS } from '../../shared/pure/limits.ts';

/** The body of one request to an endpoint. */
export interface HookMessage {
  /** The same for every attempt and every replay of these events at this endpoint. */
  id: string;
  body: string;
  events: HookEvent[];
}

/**
 * Creates the message of one event in the form of the Standard Webhooks specification: `type`, `timestamp` and `data`.
 */
export function singleMessage(endpointId: string, event: HookEvent): HookMessage {
  return { id: messageIdOf(endpointId, [event]), body: JSON.stringify(payloadOf(event)), events: [event] };
}

/** Creates messages of up to `size` events each, in their order. Their `data` is the list of the single payloads. */
export function batchMessages(endpointId: string, events: readonly HookEvent[], size: number): HookMessage[] {
  const messages: HookMessage[] = [];
  let batch: HookEvent[] = [];
  let payloads: string[] = [];
  let bytes = 0;
  const flush = (): void => {
    const [first] = batch;
    if (!first) return;
    const head = `{"type":"batch","timestamp":${JSON.stringify(first.happenedAt.toISOString())},"data":[`;
    messages.push({ id: messageIdOf(endpointId, batch), body: `${head}${payloads.join(',')}]}`, events: batch });
    batch = [];
    payloads = [];
    bytes = 0;
  };
  for (const event of events) {
    const payload = JSON.stringify(payloadOf(event));
    const added = Buffer.byteLength(payload);
    if (batch.length >= size || bytes + added > LIMITS.webhookBodyBytes) flush();
    batch.push(event);
    payloads.push(payload);
    bytes += added;
  }
  flush();
  return messages;
}
