import { createHash } from 'node:crypto';
import type { HookEvent } from '../../shared/domain/webhooks/hook-events.ts';
import { LIMITS } from '../../shared/pure/limits.ts';

/** The body of one request to an endpoint. */
export interface HookMessage {
  /** The same for every attempt and every replay of these events at this endpoint. */
  id: string;
  body: string;
  events: HookEvent[];
}

function payloadOf(event: HookEvent) {
  const { id, name, happenedAt, contactId, contactEmail, emailId, data } = event;
  const contact = contactId === null ? null : { id: contactId, email: contactEmail };
  return { type: name, timestamp: happenedAt.toISOString(), data: { id, contact, emailId, data } };
}

function idOf(endpointId: string, events: readonly HookEvent[]): string {
  const hash = createHash('sha256').update(endpointId);
  for (const { at, source, id } of events) hash.update(`|${at}|${source}|${id}`);
  return `msg_${hash.digest('hex').slice(0, 32)}`;
}

/**
 * Creates the message of one event in the form of the Standard Webhooks specification: `type`, `timestamp` and `data`.
 */
export function singleMessage(endpointId: string, event: HookEvent): HookMessage {
  return { id: idOf(endpointId, [event]), body: JSON.stringify(payloadOf(event)), events: [event] };
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
    messages.push({ id: idOf(endpointId, batch), body: `${head}${payloads.join(',')}]}`, events: batch });
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
