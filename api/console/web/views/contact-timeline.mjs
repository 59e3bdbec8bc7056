import { withQuery } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, Timeline } from '../parts/basics.mjs';
import { List } from '../parts/list.mjs';
import { wordOf } from '../parts/pill.mjs';
import { linkTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').ActivityPage['data'][number]} Activity */

const DATA_SHOWN = 300;

/** @param {string} type */
function hueOf(type) {
  if (/bounced|complaint|failed|suppressed|refused/.test(type)) return 'bad';
  if (/unsubscribed|paused/.test(type)) return 'wait';
  return /delivered|opened|clicked|subscribed|completed/.test(type) ? 'good' : 'quiet';
}

/** What a word of the feed is in full: "Email delivered". @param {Activity} activity */
function wordOfActivity({ type, metadata }) {
  const name = metadata['eventName'] ?? metadata['name'];
  if (type === 'event.triggered') return String(name ?? 'Event');
  const [subject = '', verb = ''] = type.split('.');
  return `${wordOf(subject === 'workflow' ? 'automation' : subject)} ${verb}`;
}

/** The data of an event, without its name. @param {Record<string, unknown>} data */
function eventData(data) {
  return JSON.stringify({ ...data, eventName: undefined }).slice(0, DATA_SHOWN);
}

/** @param {Activity} activity */
function detailOf({ type, metadata }) {
  const { emailId, workflowId, executionId, campaignId, subject, workflowName, campaignName, link, url, ...data } =
    /** @type {Record<string, any>} */ (metadata);
  const parts = [
    emailId && html`<a href=${linkTo('emails', emailId)}><bdi>${subject ?? 'The email'}</bdi></a>`,
    workflowId &&
      html`<a href=${linkTo('automations', workflowId, { execution: executionId })}
        ><bdi>${workflowName ?? 'The execution'}</bdi></a
      >`,
    campaignId &&
      !emailId &&
      html`<a href=${linkTo('campaigns', campaignId)}><bdi>${campaignName ?? 'The campaign'}</bdi></a>`,
    (link ?? url) && html`<span>${link ?? url}</span>`,
    type === 'event.triggered' && Object.keys(data).length > 1 && html`<code>${eventData(data)}</code>`,
  ].filter(Boolean);
  return parts.length > 0 && parts.map((part) => html`<p>${part}</p>`);
}

/**
 * Events, emails and executions of a contact, the newest first. It grows as a list does.
 */
class TimelineList extends List {
  render() {
    const { data } = this.state;
    if (data === undefined || data.every((/** @type {any} */ page) => page.data.length === 0)) return super.render();
    const entries = data
      .flatMap((/** @type {any} */ page) => page.data)
      .map((/** @type {Activity} */ activity) => ({
        key: `${activity.type} ${activity.id}`,
        at: html`<${Time} at=${activity.timestamp} />`,
        word: wordOfActivity(activity),
        hue: hueOf(activity.type),
        detail: detailOf(activity),
      }));
    return html`<${Timeline} label="Events, emails and executions, newest first" entries=${entries} />${this.footer()}`;
  }
}

/** What happened to a contact. @param {{ contactId: string }} props */
export function ContactTimeline({ contactId }) {
  return html`<${TimelineList}
    path=${withQuery('/activity', { contactId, limit: 50 })}
    label="Timeline"
    columns=${[]}
    rows=${() => []}
    empty=${html`<${Empty} title="Nothing happened yet" text="Events, emails and executions of this contact show up here" icon="clock" />`}
  />`;
}
