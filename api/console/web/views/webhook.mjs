import { doing, withQuery } from '../api.mjs';
import { count, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, Facts, Notice, PageHead, Section, Tabs } from '../parts/basics.mjs';
import { Code } from '../parts/code.mjs';
import { Action, Menu } from '../parts/dialog.mjs';
import { List } from '../parts/list.mjs';
import { Load } from '../parts/load.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { goTo, linkTo } from '../route.mjs';
import { eventsOf } from './webhooks.mjs';

/** @typedef {import('../api-types.ts').Webhook} Webhook */
/** @typedef {import('../api-types.ts').Delivery} Delivery */
/** @typedef {import('../api-types.ts').FoundDelivery} FoundDelivery */

const STATUSES = ['', 'FAILED', 'RETRYING', 'DELIVERED'];
/** @type {import('../parts/table.mjs').Column[]} */
export const DELIVERY_COLUMNS = [
  { label: 'Event', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Answer' },
  { label: 'Attempts', kind: 'num' },
  { label: 'When', kind: 'time' },
];

/** @param {{ webhook: Webhook, onChange: () => void }} props */
function Actions({ webhook: { id, url, enabled }, onChange }) {
  const path = `/webhooks/${id}`;
  const toggle = enabled ? 'Disable' : 'Enable';
  return html`<${Action}
      needs="POST /webhooks/:id/test"
      label="Send a test"
      text="A test event goes to the endpoint, whatever events it takes."
      run=${doing(['POST', `${path}/test`, {}], 'A test is on its way', onChange)}
    />
    <${Menu} label="More">
      <${Action}
        key=${toggle}
        needs="PATCH /webhooks/:id"
        label=${toggle}
        text=${enabled ? 'It is sent nothing until it is enabled; events are kept.' : 'It is sent what waits, and all that follows.'}
        run=${doing(['PATCH', path, { enabled: !enabled }], `${toggle}d`, onChange)}
      />
      <${Action}
        needs="DELETE /webhooks/:id"
        label="Delete"
        kind="danger"
        title=${`Delete ${url}`}
        text="It gets no event any more, and the log of its deliveries is gone."
        run=${doing(['DELETE', path], 'Deleted', () => goTo('webhooks'))}
      />
    <//>`;
}

/** One delivery, with what was asked and answered. @param {{ webhook: Webhook, delivery: FoundDelivery, onChange: () => void }} props */
function DeliveryPart({ webhook, delivery, onChange }) {
  const { type, eventId, eventCount, status, statusCode, error, durationMs, attempts, retryAt, contactId } = delivery;
  const { messageId, payload } = delivery;
  const replay = doing(['POST', `/webhooks/${webhook.id}/replay`, { eventId }], 'It is delivered once more', onChange);
  const head = `POST ${webhook.url}\nContent-Type: application/json${messageId === null ? '' : `\nwebhook-id: ${messageId}`}`;
  return html`<section class="card" aria-labelledby="delivery">
    <div class="section-head">
      <h2 id="delivery">${type} <${Pill} state=${status} /></h2>
      <div class="actions">
        <${Action}
          needs="POST /webhooks/:id/replay"
          label="Replay"
          title="Replay from this event"
          text="This event and all after it are delivered once more, in their order."
          run=${replay}
        />
        <a class="button plain" href=${linkTo('webhooks', webhook.id)}>Close</a>
      </div>
    </div>
    <${Facts}
      rows=${[
        [
          'Answer',
          statusCode ? `${statusCode}${durationMs === null ? '' : `, after ${count(durationMs)} ms`}` : 'None',
        ],
        ['Why', error],
        ['Attempts', attempts],
        ['Next attempt', retryAt && html`<${Time} at=${retryAt} />`],
        ['Events', eventCount > 1 && eventCount],
        ['Contact', contactId && html`<a href=${linkTo('contacts', contactId)}>Open</a>`],
      ]}
    />
    ${
      payload
        ? html`<${Code}
            label=${eventCount > 1 ? 'First event of the request' : 'Request'}
            samples=${{ Request: `${head}\n\n${JSON.stringify(payload, null, 2)}` }}
            wraps
          />`
        : html`<p class="muted">The event is not kept any more</p>`
    }
  </section>`;
}

/** What was it sent, and what did it answer? @param {import('../main.mjs').ViewProps} props */
export function WebhookView({ route: { id, query } }) {
  const path = `/webhooks/${encodeURIComponent(id)}`;
  const status = query.get('status') ?? '';
  const chosen = query.get('delivery');
  const tabs = STATUSES.map((key) => ({
    key,
    label: key === '' ? 'All' : wordOf(key),
    href: linkTo('webhooks', id, { status: key }),
  }));
  return html`<${Load} path=${path} isPage every=${15}>
    ${(/** @type {Webhook} */ webhook, /** @type {any} */ { reload }) => html`
      <${PageHead}
        title=${webhook.url}
        pill=${html`<${Pill} state=${webhook.status.toUpperCase()} />`}
        facts=${html`${eventsOf(webhook)}${webhook.description && ` · ${webhook.description}`}`}
        actions=${html`<${Actions} webhook=${webhook} onChange=${reload} />`}
      />
      ${
        (webhook.failingSince || webhook.disabledReason) &&
        html`<${Notice} isBad>
          ${webhook.disabledReason ?? 'It has accepted nothing'}${webhook.failingSince && html` since <${Time} at=${webhook.failingSince} isFull />`}.
          ${webhook.retryAt && html` Next attempt <${Time} at=${webhook.retryAt} />.`}
        <//>`
      }
      ${
        chosen &&
        html`<${Load} path=${`${path}/deliveries/${encodeURIComponent(chosen)}`} rows=${3}>
          ${(/** @type {FoundDelivery} */ delivery, /** @type {any} */ { reload: again }) =>
            html`<${DeliveryPart} webhook=${webhook} delivery=${delivery} onChange=${again} />`}
        <//>`
      }
      <${Section} title="Deliveries">
        <${Tabs} label="State of the deliveries" tabs=${tabs} current=${status} />
        <${List}
          path=${withQuery(`${path}/deliveries`, { status, limit: 50 })}
          every=${10}
          label="Deliveries, newest first"
          columns=${DELIVERY_COLUMNS}
          rows=${(/** @type {any} */ { deliveries }) =>
            deliveries.map((/** @type {Delivery} */ one) => ({
              key: one.id,
              href: linkTo('webhooks', id, { status, delivery: one.id }),
              cells: [
                one.type,
                one.status,
                one.error ?? (one.statusCode ? `${one.statusCode} in ${count(one.durationMs ?? 0)} ms` : ''),
                String(one.attempts),
                one.updatedAt,
              ],
            }))}
          empty=${html`<${Empty} title="No delivery" text="Events of the project show up here when they are sent" icon="link" guide="webhooks" />`}
        />
      <//>
    `}
  <//>`;
}
