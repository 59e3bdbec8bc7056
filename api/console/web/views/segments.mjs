import { count } from '../format.mjs';
import { html } from '../html.mjs';
import { Empty, PageHead } from '../parts/basics.mjs';
import { List } from '../parts/list.mjs';
import { Pill, wordOf } from '../parts/pill.mjs';
import { linkTo } from '../route.mjs';

/** @typedef {import('../api-types.ts').Segment} Segment */

/** @type {import('../parts/table.mjs').Column[]} */
const COLUMNS = [
  { label: 'Name', kind: 'main' },
  { label: 'State', kind: 'pill' },
  { label: 'Kind' },
  { label: 'Contacts', kind: 'num' },
  { label: 'Changed', kind: 'time' },
];

/** @param {Segment} segment */
export const kindOf = ({ type, trackMembership }) => `${wordOf(type)}${trackMembership ? ', tracked' : ''}`;

/** @param {Segment} segment */
const row = ({ id, name, memberCount, computeError, updatedAt, ...kind }) => ({
  key: id,
  href: linkTo('segments', id),
  cells: [
    name,
    html`<${Pill} state=${computeError ? 'FAILED' : 'OK'} word=${computeError ? 'Failed' : 'OK'} />`,
    computeError?.message ?? kindOf(/** @type {any} */ (kind)),
    count(memberCount),
    updatedAt,
  ],
});

/** Which groups of contacts are there, and how large? */
export function SegmentsView() {
  return html`<${PageHead} title="Segments" />
    <${List}
      path="/segments"
      label="Segments, newest first"
      columns=${COLUMNS}
      rows=${(/** @type {Segment[]} */ segments) => segments.map(row)}
      empty=${html`<${Empty} title="No segment yet" text="A segment is a group of contacts, by a rule or by name" icon="funnel" guide="guides/segments" />`}
    />`;
}
