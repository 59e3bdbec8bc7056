import { withQuery } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Pages } from '../pages.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').Suppression} Suppression */
/** @typedef {import('../api-types.ts').SuppressionList} SuppressionList */

const REASONS = { '': 'all', HARD_BOUNCE: 'hard bounces', COMPLAINT: 'complaints', MANUAL: 'by hand' };
const COLUMNS = ['Address', 'Reason', 'Words', 'Since', 'Came from'];

/** @param {Suppression} suppression */
const row = ({ email, reason, words, createdAt, emailId }) => [
  email === null ? 'erased' : html`<a href=${linkTo('address', email)}>${email}</a>`,
  reason.toLowerCase().replaceAll('_', ' '),
  words ?? '',
  html`<${Time} at=${createdAt} />`,
  emailId ? html`<a href=${linkTo('emails', emailId)}>this email</a>` : '',
];

/**
 * Addresses that get no email, with links to the pages that can allow it again.
 * @param {import('../main.mjs').ViewProps} props
 */
export function SuppressionsView({ route: { query } }) {
  const reason = query.get('reason') ?? '';
  return html`<h1>Suppressions</h1>
    <nav class="states" aria-label="Reason">
      ${Object.entries(REASONS).map(
        ([value, label]) =>
          html`<a
            href=${linkTo('suppressions', '', { reason: value })}
            aria-current=${value === reason ? 'true' : undefined}
            >${label}</a
          >`,
      )}
    </nav>
    <${Pages} path=${withQuery('/suppressions', { reason, limit: 50 })}>
      ${(/** @type {SuppressionList} */ { suppressions, hasMore }) => {
        const empty = hasMore ? 'None in this part of the list: go on with “Older”.' : 'No address is suppressed.';
        return html`<${Table}
          caption="Addresses that get no email, newest first"
          columns=${COLUMNS}
          rows=${suppressions.map(row)}
          empty=${empty}
        />`;
      }}
    <//>`;
}
