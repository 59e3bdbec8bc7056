import { createWebhookSecrets } from '../../shared/domain/projects/webhook-secrets.ts';
import {
  closeEndpoint,
  disableEndpoint,
  findParked,
  openEndpoint,
  type OpenEndpoint,
} from '../../shared/domain/webhooks/delivery-state.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import { createWebhookClient } from '../../shared/platform/webhook/webhook-client.ts';
import type { WebhookDeliveryOutcome, WebhookEndpointInput } from '../../shared/pure/workflow-contracts.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { LaneOptions } from './send-lanes.ts';
import { createPageDelivery, createParkedEventsDelivery, type PageResult } from './deliver-page.ts';

/** After this time an endpoint leaves its slot to others, and comes again. */
const TURN_MS = 20_000;
/** An endpoint is woken no sooner than this after it got everything, or matched no event. */
const REST_MS = 500;
const UNWANTED_REST_MS = 5_000;
const PARKED_HEADS = 200;
const PAGE_ROWS_FIRST = 50;
const PAGE_ROWS_MAX = 1_000;
/** A page that takes longer than this is followed by a smaller one, and one that takes far less by a larger one. */
const PAGE_MS = 4_000;
const DAY_MS = 24 * 60 * 60_000;

/** Activities that send events to the endpoints which take them. */
export function createWebhookActivities(deps: ActivityDeps) {
  const em = () => deps.orm.em.fork();
  const secrets = createWebhookSecrets(appSecretsOf(deps.config));
  const client = createWebhookClient({
    allowPrivateNetworks: deps.config.WEBHOOK_ALLOW_PRIVATE_NETWORKS,
    dnsServers: deps.config.DNS_SERVERS,
  });
  const deliverPage = createPageDelivery(deps);
  const deliverParked = createParkedEventsDelivery(deps);

  async function disableHopeless(endpoint: OpenEndpoint, isGone: boolean): Promise<boolean> {
    const { failingSince, id } = endpoint;
    const days = deps.config.WEBHOOK_DISABLE_DAYS;
    const isHopeless = failingSince !== null && Date.now() - failingSince.getTime() > days * DAY_MS;
    if (!isGone && !isHopeless) return false;
    const reason = isGone ? 'it answered 410 Gone' : `it took nothing for ${days} ${days === 1 ? 'day' : 'days'}`;
    await disableEndpoint(em(), endpoint, reason);
    deps.logger.warn({ webhookId: id, projectId: endpoint.projectId, reason }, 'a webhook endpoint was disabled');
    return true;
  }

  /** One turn of an endpoint: page after page until nothing is due, it fails, or its time is over. */
  async function takeTurn(
    endpointId: string,
    send: (endpoint: OpenEndpoint) => LaneOptions['send'],
    signal: AbortSignal,
    advance: () => void,
  ): Promise<WebhookDeliveryOutcome> {
    const startedAt = performance.now();
    let [rows, isSlow, seen, sent] = [PAGE_ROWS_FIRST, false, 0, 0];
    for (;;) {
      signal.throwIfAborted();
      const endpoint = await openEndpoint(em(), endpointId);
      if (!endpoint) return { kind: 'gone' };
      const isTroubled = endpoint.failures > 0 || isSlow;
      if (!endpoint.isEnabled) return { kind: 'idle', inMs: null, isTroubled };
      if (endpoint.waitMs > 0) return { kind: 'idle', inMs: Math.ceil(endpoint.waitMs), isTroubled };
      const parked = await findParked(em(), endpointId, PARKED_HEADS);
      const isOver = (): boolean => signal.aborted || performance.now() - startedAt > TURN_MS;
      const options = { send: send(endpoint), isOver };
      const pageAt = performance.now();
      const result: PageResult =
        parked.due.length > 0
          ? await deliverParked(endpoint, parked.due, options)
          : await deliverPage(endpoint, { rows, parked: parked.count }, options);
      advance();
      if (result.isGone || result.hasFailed) {
        if (await disableHopeless(endpoint, result.isGone)) return { kind: 'idle', inMs: null, isTroubled: true };
      }
      const pageMs = performance.now() - pageAt;
      isSlow = pageMs > PAGE_MS;
      rows = isSlow ? Math.max(10, rows >> 1) : Math.min(PAGE_ROWS_MAX, pageMs < PAGE_MS / 4 ? rows * 2 : rows);
      seen += result.seen;
      sent += result.sent;
      if (result.seen === 0) {
        await closeEndpoint(em(), endpointId, seen > 0 && sent === 0 ? UNWANTED_REST_MS : REST_MS);
        return { kind: 'idle', inMs: parked.nextInMs, isTroubled };
      }
      if (isOver()) return { kind: 'more', isTroubled: isSlow || result.hasFailed };
    }
  }

  return {
    /**
     * Delivers the outstanding events to an endpoint, for some seconds at most. Requests that an attempt has not recorded
     * are sent again by the next one, under the same `webhook-id`.
     */
    async deliverWebhooks({ endpointId }: WebhookEndpointInput): Promise<WebhookDeliveryOutcome> {
      const session = client.open();
      const send = (endpoint: OpenEndpoint): LaneOptions['send'] => {
        const opened = endpoint.secrets.map((stored) => secrets.open(stored, endpoint.id));
        return ({ id, body }) =>
          session.send({
            ...{ url: endpoint.url, method: 'POST', id, body, secrets: opened, followsRedirects: false },
            headers: { 'user-agent': 'Everpost', accept: '*/*', 'content-type': 'application/json' },
          });
      };
      try {
        return await withHeartbeat(deps, (signal, advance) => takeTurn(endpointId, send, signal, advance));
      } finally {
        await session.close();
      }
    },
  };
}
