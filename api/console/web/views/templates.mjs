import { withQuery } from '../api.mjs';
import { html } from '../html.mjs';
import { Empty, filtersOf, PageHead } from '../parts/basics.mjs';
import { List } from '../parts/list.mjs';
import { linkTo } from '../route.mjs';

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
  cells: [name, type, html`<bdi>${subject}</bdi>`, from, updatedAt],
});

/** Which texts are there? @param {import('../main.mjs').ViewProps} props */
export function TemplatesView({ route }) {
  const { values, isFiltered, chips } = filtersOf(route, [{ name: 'search', label: 'Name' }]);
  return html`<${PageHead} title="Templates" />
    ${chips}
    <${List}
      path=${withQuery('/templates', { pageSize: 50, ...values })}
      label="Templates"
      columns=${COLUMNS}
      rows=${(/** @type {any} */ { data }) => data.map(row)}
      empty=${html`<${Empty} title=${isFiltered ? 'No template fits' : 'No template yet'} text="A template is an email with placeholders" icon="document-text" guide="guides/templates" />`}
    />`;
}
