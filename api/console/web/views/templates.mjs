import { withQuery } from '../api.mjs';
import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Chips, Empty, PageHead } from '../parts/basics.mjs';
import { List } from '../parts/list.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { filtersOf, linkTo } from '../route.mjs';

/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Name', kind: 'main' },
  { label: 'Type', kind: 'pill' },
  { label: 'Subject' },
  { label: 'From', wide: true },
  { label: 'Changed', kind: 'time' },
];

/** @param {import('../api-types.ts').Template} template */
const row = ({ id, name, type, subject, from, updatedAt }) => ({
  key: id,
  href: linkTo('templates', id),
  cells: [
    name,
    html`<${Pill} state=${type} word=${wordOf(type)} />`,
    html`<bdi>${subject}</bdi>`,
    from,
    html`<${Time} at=${updatedAt} />`,
  ],
});

/** Which texts are there? @param {import('../main.mjs').ViewProps} props */
export function TemplatesView({ route }) {
  const { values, change, clear } = filtersOf(route, ['search']);
  const search = values['search'] ?? '';
  return html`<${PageHead} title="Templates" />
    <${Chips} filters=${[{ name: 'search', label: 'Name', value: search }]} onChange=${change} onClear=${clear} />
    <${List}
      path=${withQuery('/templates', { pageSize: 50, search })}
      label="Templates"
      columns=${COLUMNS}
      rows=${(/** @type {any} */ { data }) => data.map(row)}
      empty=${html`<${Empty} title=${search ? 'No template fits' : 'No template yet'} text="A template is an email with placeholders" icon="document-text" guide="guides/templates" />`}
    />`;
}
