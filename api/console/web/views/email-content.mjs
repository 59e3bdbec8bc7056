import { may } from '../api.mjs';
import { html } from '../html.mjs';
import { Empty, Facts, Tabs } from '../parts/basics.mjs';
import { Code } from '../parts/code.mjs';
import { Frame } from '../parts/frame.mjs';
import { Load } from '../parts/load.mjs';
import { Table } from '../parts/table.mjs';
import { linkTo } from '../route.mjs';
import { DELIVERY_COLUMNS } from './webhook.mjs';

/** @typedef {import('../api-types.ts').EmailContent} Content */

const TABS = { preview: 'Preview', text: 'Text', source: 'Source', headers: 'Headers', webhooks: 'Webhooks' };

/** The requests that told endpoints about an email. @param {{ id: string }} props */
function Deliveries({ id }) {
  return html`<${Load} path=${`/emails/${id}/deliveries`}>
    ${(/** @type {any} */ { deliveries }) =>
      deliveries.length === 0
        ? html`<${Empty}
            title="No webhook was told"
            text="Endpoints get events of emails from the moment they exist"
            icon="link"
            guide="webhooks"
          />`
        : html`<${Table}
            label="Webhook deliveries"
            columns=${DELIVERY_COLUMNS}
            rows=${deliveries.map((/** @type {any} */ one) => ({
              key: one.id,
              href: linkTo('webhooks', one.webhookId, { delivery: one.id }),
              cells: [
                one.type,
                one.status,
                one.error ?? String(one.statusCode ?? ''),
                String(one.attempts),
                one.updatedAt,
              ],
            }))}
          />`}
  <//>`;
}

/** @param {{ content: Content, tab: string }} props */
function Shown({ content, tab }) {
  const { html: markup, text, source, headers, isExact, attachments } = content;
  if (tab === 'text') return html`<${Code} label="Text" samples=${{ 'text/plain': text }} wraps />`;
  if (tab === 'source') return html`<${Code} label="Source" samples=${{ 'message/rfc822': source }} wraps />`;
  if (tab === 'headers')
    return html`<${Facts} rows=${headers.map(({ name, value }) => [name, html`<code>${value}</code>`])} />`;
  return html`${!isExact && html`<p class="muted">Rendered again with what is known of the contact today</p>`}
    <${Frame} content=${markup} label="The email" />
    <p class="label">
      Pictures from elsewhere are not
      loaded${attachments.length > 0 && `. Attachments: ${attachments.map(({ filename }) => filename).join(', ')}`}
    </p>`;
}

/** What was sent. @param {{ id: string, tab: string }} props */
export function EmailContent({ id, tab }) {
  const tabs = Object.entries(TABS)
    .filter(([key]) => key !== 'webhooks' || may('GET /emails/:id/deliveries'))
    .map(([key, label]) => ({ key, label, href: linkTo('emails', id, { tab: key }) }));
  return html`<section aria-label="What was sent">
    <${Tabs} label="What was sent" tabs=${tabs} current=${tab} />
    ${
      tab === 'webhooks'
        ? html`<${Deliveries} id=${id} />`
        : html`<${Load}
            path=${`/emails/${id}/content`}
            missing=${html`<${Empty} title="The content is not kept any more" text="RETENTION_EMAIL_CONTENT_DAYS says for how long it is kept" icon="envelope" />`}
          >
            ${(/** @type {Content} */ content) => html`<${Shown} content=${content} tab=${tab} />`}
          <//>`
    }
  </section>`;
}
