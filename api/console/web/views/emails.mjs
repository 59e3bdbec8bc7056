import { withQuery } from '../api.mjs';
import { html } from '../html.mjs';
import { Pages } from '../pages.mjs';
import { linkTo } from '../route.mjs';
import { EmailTable } from './email-table.mjs';

/** @typedef {import('../api-types.ts').EmailList} EmailList */

const STATUSES = ['PENDING', 'SENDING', 'SENT', 'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED', 'FAILED'];
const MORE_STATUSES = ['SKIPPED', 'SUPPRESSED', 'CANCELLED'];
const TYPES = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'];
const FILTERS = ['address', 'status', 'type', 'since', 'until', 'campaignId', 'templateId', 'workflowId'];

/** @param {{ name: string, label: string, options: string[], value: string }} props */
function Choice({ name, label, options, value }) {
  return html`<label>
    ${label}
    <select name=${name}>
      <option value="">any</option>
      ${options.map((option) => html`<option value=${option} selected=${option === value}>${option.toLowerCase()}</option>`)}
    </select>
  </label>`;
}

/** All emails of the project, with filters. @param {import('../main.mjs').ViewProps} props */
export function EmailsView({ route: { query } }) {
  const values = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? undefined]));
  /** @param {SubmitEvent} event */
  const filter = (event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const chosen = Object.fromEntries([...form].map(([name, value]) => [name, String(value).trim()]));
    location.hash = linkTo('emails', '', { ...values, ...chosen });
  };
  return html`<h1>Emails</h1>
    <form class="filters" onSubmit=${filter}>
      <label>Address <input name="address" type="search" value=${values['address'] ?? ''} /></label>
      <${Choice}
        name="status"
        label="State"
        options=${[...STATUSES, ...MORE_STATUSES]}
        value=${values['status'] ?? ''}
      />
      <${Choice} name="type" label="Type" options=${TYPES} value=${values['type'] ?? ''} />
      <label>From day <input name="since" type="date" value=${values['since'] ?? ''} /></label>
      <label>To day <input name="until" type="date" value=${values['until'] ?? ''} /></label>
      <button type="submit">Show</button>
    </form>
    <${Pages} path=${withQuery('/emails', { ...values, limit: 50 })}>
      ${(/** @type {EmailList} */ { emails, hasMore }) =>
        html`<${EmailTable} emails=${emails} hasMore=${hasMore} caption="Emails, newest first" />`}
    <//>`;
}
