import { call } from '../api.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Empty, PageHead } from '../parts/basics.mjs';
import { Code } from '../parts/code.mjs';
import { Action, Dialog } from '../parts/dialog.mjs';
import { Field } from '../parts/form.mjs';
import { List } from '../parts/list.mjs';
import { linkTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').Webhook} Webhook */

/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'URL', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Events' },
  { label: 'Created', kind: 'time' },
];

/** The patterns of the events that it takes. @param {Webhook} webhook */
export const eventsOf = ({ events }) => (events.includes('*') ? 'All events' : html`<code>${events.join(' ')}</code>`);

/** @param {Webhook} webhook */
const row = (webhook) => ({
  key: webhook.id,
  href: linkTo('webhooks', webhook.id),
  cells: [webhook.url, webhook.status.toUpperCase(), eventsOf(webhook), webhook.createdAt],
});

/** Shows a secret once. @param {{ title: string, secret: string, onClose: () => void }} props */
export function SecretDialog({ title, secret, onClose }) {
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <p>It is shown only now: keep it where your program reads it.</p>
    <${Code} label=${title} samples=${{ Secret: secret }} wraps />
    <form method="dialog" class="choices"><button class="primary">Close</button></form>
  <//>`;
}

/** Who is told about events, and does it work? @extends {Component<{}, { secret?: string }>} */
export class WebhooksView extends Component {
  /** @param {FormData} given */
  add = async (given) => {
    const events = String(given.get('events'))
      .split(/[\s,]+/)
      .filter(Boolean);
    const { secret } = await call('POST', '/webhooks', { body: { url: given.get('url'), events } });
    this.setState({ secret });
    dispatchEvent(new Event('everpost-reload'));
    return 'Added';
  };

  render() {
    const { secret } = this.state;
    const add = html`<${Action} needs="POST /webhooks" label="Add webhook" kind="primary" run=${this.add}>
      <${Field} name="url" label="URL" type="url" placeholder="https://example.com/everpost" required />
      <${Field} name="events" label="Events" value="*" hint="Names, such as email.* order.paid" required />
    <//>`;
    return html`<${PageHead} title="Webhooks" actions=${add} />
      <${List}
        path="/webhooks"
        every=${15}
        label="Webhooks, newest first"
        columns=${COLUMNS}
        rows=${(/** @type {Webhook[]} */ webhooks) => webhooks.map(row)}
        empty=${html`<${Empty} title="No webhook yet" text="A webhook tells your program what happens, with retries" icon="link" guide="webhooks" />`}
      />
      ${secret && html`<${SecretDialog} title="Secret of the webhook" secret=${secret} onClose=${() => this.setState({ secret: undefined })} />`}`;
  }
}
