import { count, Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Load } from '../load.mjs';
import { linkTo } from '../route.mjs';
import { Table } from '../table.mjs';

/** @typedef {import('../api-types.ts').Segment} Segment */

const COLUMNS = ['Name', 'Kind', 'Contacts', 'Computed', 'Changed'];

/** @param {Segment} segment */
const row = ({ id, name, type, memberCount, trackMembership, computeError, updatedAt }) => [
  html`<a href=${linkTo('segments', id)}>${name}</a>`,
  `${type.toLowerCase()}${trackMembership ? ', tracked' : ''}`,
  count(memberCount),
  computeError ? html`<strong>${computeError.message}</strong> <${Time} at=${computeError.at} />` : 'without fault',
  html`<${Time} at=${updatedAt} />`,
];

/** All segments. */
export function SegmentsView() {
  return html`<h1>Segments</h1>
    <${Load} path="/segments">
      ${(/** @type {Segment[]} */ segments) =>
        html`<${Table}
          caption="Segments, newest first"
          columns=${COLUMNS}
          rows=${segments.map(row)}
          empty="There is no segment yet: POST /segments makes one."
        />`}
    <//>`;
}
