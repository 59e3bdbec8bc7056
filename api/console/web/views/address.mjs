import { withQuery } from '../api.mjs';
import { html } from '../html.mjs';
import { Pages } from '../pages.mjs';
import { EmailTable } from './email-table.mjs';
import { AddressStanding } from './address-standing.mjs';

/** @typedef {import('../api-types.ts').EmailList} EmailList */

/**
 * One address: whether it may get email, and what became of its emails.
 * @param {import('../main.mjs').ViewProps} props
 */
export function AddressView({ route: { id } }) {
  return html`<h1>${id}</h1>
    <${AddressStanding} address=${id} onChange=${() => undefined} />
    <${Pages} path=${withQuery('/emails', { address: id, limit: 20 })}>
      ${(/** @type {EmailList} */ { emails, hasMore }) =>
        html`<${EmailTable} emails=${emails} hasMore=${hasMore} isOfOne caption=${`Emails to ${id}, newest first`} />`}
    <//>`;
}
