import { call, withQuery } from '../api.mjs';
import { html } from '../html.mjs';
import { Empty, filtersOf, PageHead } from '../parts/basics.mjs';
import { Action } from '../parts/dialog.mjs';
import { Field } from '../parts/form.mjs';
import { List } from '../parts/list.mjs';
import { goTo, linkTo } from '../route.mjs';
import { wordsOf } from './emails.mjs';
import { Lift } from './standing.mjs';

/** @typedef {import('../api-types.ts').Suppression} Suppression */

const REASONS = ['HARD_BOUNCE', 'COMPLAINT', 'MANUAL'];
/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Address', kind: 'main' },
  { label: 'Reason', kind: 'pill' },
  { label: 'Words' },
  { label: 'Since', kind: 'time' },
  { label: '', kind: 'act' },
];

/** @param {Suppression} suppression @param {() => void} onChange */
const row = ({ email, reason, words, createdAt }, onChange) => ({
  key: `${email} ${createdAt}`,
  ...(email !== null && { href: linkTo('address', email) }),
  cells: [
    email ?? 'Erased',
    reason,
    words ?? '',
    createdAt,
    email === null ? '' : html`<${Lift} address=${email} onChange=${onChange} />`,
  ],
});

/** Who gets no email, and why? @param {import('../main.mjs').ViewProps} props */
export function SuppressionsView({ route }) {
  const { values, isFiltered, chips } = filtersOf(route, [
    { name: 'address', label: 'Address' },
    { name: 'reason', label: 'Reason', options: wordsOf(REASONS) },
  ]);
  const add = async (/** @type {FormData} */ given) => {
    const address = String(given.get('address') ?? '').trim();
    await call('POST', '/suppressions', { body: { addresses: [address] } });
    goTo('suppressions', '', { address });
    return `${address} gets no email any more`;
  };
  return html`<${PageHead}
      title="Suppressions"
      facts="Addresses that get no email of any kind"
      actions=${html`<${Action} needs="POST /suppressions" label="Suppress" title="Suppress an address" run=${add}><${Field} name="address" label="Address" type="email" required /><//>`}
    />
    ${chips}
    <${List}
      path=${withQuery('/suppressions', { ...values, limit: 50 })}
      label="Suppressed addresses, newest first"
      columns=${COLUMNS}
      rows=${(/** @type {any} */ { suppressions }, /** @type {any} */ { reload }) => suppressions.map((/** @type {Suppression} */ one) => row(one, reload))}
      empty=${html`<${Empty} title=${isFiltered ? 'No suppression fits' : 'No address is suppressed'} text="Hard bounces and complaints suppress an address" icon="no-symbol" guide="guides/bounces" />`}
    />`;
}
