import { State, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').Email} Email */

/** Emails of a list. @param {{ emails: Email[], caption: string, hasMore: boolean, isOfOne?: boolean }} props */
export function EmailTable({ emails, caption, hasMore, isOfOne = false }) {
  const empty = hasMore ? 'None among the emails that were searched: go on with “Older”.' : 'There is no such email.';
  /** @param {Email} email */
  const row = ({ id, to, subject, status, error, createdAt }) => [
    html`<a href=${linkTo('emails', id)}>${subject || 'No subject'}</a>`,
    ...(isOfOne
      ? []
      : [to === null ? html`<span class="quiet">erased</span>` : html`<a href=${linkTo('address', to)}>${to}</a>`]),
    html`<${State} state=${status} />`,
    error ?? '',
    html`<${Time} at=${createdAt} />`,
  ];
  const columns = ['Subject', ...(isOfOne ? [] : ['To']), 'State', 'Words', 'Queued'];
  return html`<${Table} caption=${caption} columns=${columns} rows=${emails.map(row)} empty=${empty} />`;
}
