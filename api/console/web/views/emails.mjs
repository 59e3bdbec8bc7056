import { withQuery } from '../api.mjs';
import { inWords } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, filtersOf, PageHead } from '../parts/basics.mjs';
import { List } from '../parts/list.mjs';
import { wordOf } from '../parts/pill.mjs';
import { linkTo } from '../route.mjs';
import { FirstEmail } from './first-email.mjs';

/** @typedef {import('../api-types.ts').Email} Email */
/** @typedef {import('../api-types.ts').EmailList} EmailList */

const STATUSES = [
  'BOUNCED',
  'FAILED',
  'COMPLAINED',
  'SUPPRESSED',
  'SKIPPED',
  'CANCELLED',
  'PENDING',
  'SENDING',
  'SENT',
  'DELIVERED',
  'OPENED',
  'CLICKED',
];
const TYPES = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'];
/** Filters that only links set. */
const LINKED = { campaignId: 'Campaign', templateId: 'Template', workflowId: 'Automation', contactId: 'Contact' };
/** @param {string[]} states */
export const wordsOf = (states) => Object.fromEntries(states.map((state) => [state, wordOf(state)]));

/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'To', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Subject' },
  { label: 'Why', wide: true },
  { label: 'Queued', kind: 'time' },
];

/** @param {Email} email */
const row = ({ id, to, subject, status, error, createdAt }) => ({
  key: id,
  href: linkTo('emails', id),
  cells: [
    to ?? 'Erased',
    status,
    html`<bdi title=${subject}>${subject || 'No subject'}</bdi>`,
    inWords(error),
    createdAt,
  ],
});

/** A list of emails. @param {{ values: Record<string, string | undefined>, empty?: any }} props */
export function EmailList({ values, empty }) {
  return html`<${List}
    path=${withQuery('/emails', { ...values, limit: 50 })}
    label="Emails, newest first"
    columns=${COLUMNS}
    rows=${(/** @type {any} */ { emails }) => emails.map(row)}
    empty=${empty ?? html`<${Empty} title="No email yet" icon="envelope" />`}
  />`;
}

/** What became of it? @param {import('../main.mjs').ViewProps} props */
export function EmailsView({ route, project }) {
  const linked = Object.entries(LINKED).filter(([name]) => route.query.get(name));
  const { values, isFiltered, chips } = filtersOf(route, [
    { name: 'address', label: 'Address' },
    { name: 'status', label: 'State', options: wordsOf(STATUSES) },
    { name: 'type', label: 'Type', options: wordsOf(TYPES) },
    { name: 'tag', label: 'Tag' },
    { name: 'since', label: 'From', type: 'date' },
    { name: 'until', label: 'To', type: 'date' },
    ...linked.map(([name, label]) => ({ name, label })),
  ]);
  const empty = isFiltered
    ? html`<${Empty} title="No email fits" text="Change or clear the filters" icon="envelope" />`
    : html`<${FirstEmail} project=${project} title="No email yet" text="Send the first one" />`;
  return html`<${PageHead} title="Emails" />
    ${chips}
    <${EmailList} values=${values} empty=${empty} />`;
}
