import { createWebhookSecrets } from '../../shared/domain/projects/webhook-secrets.ts';
import type { OpenEndpoint } from '../../shared/domain/webhooks/delivery-state.ts';
import { appSecretsOf } from '../../shared/platform/sealed-values.ts';
import { createWebhookClient, webhookClientOptions } from '../../shared/platform/webhook/webhook-client.ts';
import type { WebhookDeliveryOutcome, WebhookEndpointInput } from '../../shared/pure/workflow-contracts.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeat } from '../../shared/durable/attempts/heartbeat.ts';
import { createEndpointTurns } from './endpoint-turn.ts';
import type { LaneOptions } from './send-lanes.ts';

/** Activities that send events to webhook endpoints. */
export function createWebhookActivities(deps: ActivityDeps) {
  const secrets = createWebhookSecrets(appSecretsOf(deps.config));
  const client = createWebhookClient(webhookClientOptions(deps.config));
  const takeTurn = createEndpointTurns(deps);

  return {
    /**
     * Delivers the outstanding events of an endpoint, for some seconds at most. Requests that an attempt did not record
     * are sent again by the next one, with the same `webhook-id`.
     */
    async deliverWebhooks({ endpointId }: WebhookEndpointInput): Promise<WebhookDeliveryOutcome> {
      const session = client.open();
      const sendTo = (endpoint: OpenEndpoint): LaneOptions['send'] => {
        const opened = endpoint.secrets.map((stored) => secrets.open(stored, endpoint.id));
        return ({ id, body }) =>
          session.send({
            url: endpoint.url,
            method: 'POST',
            id,
            body,
            secrets: opened,
            followsRedirects: false,
            headers: { 'user-agent': 'Everpost', accept: '*/*', 'content-type': 'application/json' },
          });
      };
      try {
        return await withHeartbeat(deps, (signal, advance) => takeTurn({ endpointId, sendTo, signal, advance }));
      } finally {
        await session.close();
      }
    },
  };
}
