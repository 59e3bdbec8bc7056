import { Time } from '../format.mjs';
import { html } from '../html.mjs';
import { Pill } from './pill.mjs';

/**
 * A column. `main` names the row, `pill` is its state, `num` a number, `time` a moment, `mono` an id or a name of programs; others are texts.
 * States and moments are given as the API has them; a moment may be null.
 * Columns that are `wide` are left out on a phone, `sparse` ones while no row has anything in them.
 * @typedef {{ label: string, kind?: 'main' | 'pill' | 'num' | 'time' | 'mono' | 'text' | 'act', wide?: boolean, sparse?: boolean }} Column
 */
/** A row; with `href` all of it is a link. @typedef {{ key: string, href?: string, cells: any[] }} Row */

const MOMENT = /^\d{4}-\d\d-\d\dT/;

/** What a cell shows. @param {Column['kind']} kind @param {any} cell */
function contentOf(kind, cell) {
  if (kind === 'pill' && typeof cell === 'string' && cell !== '') return html`<${Pill} state=${cell} />`;
  if (kind === 'time' && (cell === null || MOMENT.test(cell))) return html`<${Time} at=${cell} />`;
  return kind === 'main' ? html`<bdi>${cell}</bdi>` : cell;
}

/** @param {{ row: Row, columns: (Column & { at: number })[] }} props */
function TableRow({ row: { href, cells }, columns }) {
  return html`<tr role="row" class=${href ? 'linked' : undefined}>
    ${columns.map(({ at, label, kind = 'text', wide }) => {
      const cell = cells[at];
      const content = contentOf(kind, cell);
      const isText = typeof cell === 'string' && (content === cell || kind === 'main');
      return html`<td
        role="cell"
        class="${kind}${wide ? ' wide' : ''}"
        title=${isText ? cell : undefined}
        data-label=${kind === 'num' || kind === 'time' ? label : undefined}
      >
        ${href && kind === 'main' ? html`<a class="row-link" href=${href}>${content}</a>` : content}
      </td>`;
    })}
  </tr>`;
}

/**
 * A table whose rows are links. On a phone each row has two lines; the roles keep it a table for screen readers.
 * @param {{ label: string, columns: Column[], rows: Row[], isBusy?: boolean }} props
 */
export function Table({ label, columns, rows, isBusy = false }) {
  const shown = columns
    .map((column, at) => ({ ...column, at }))
    .filter(({ at, sparse }) => !sparse || rows.some(({ cells }) => cells[at] !== '' && cells[at] !== '–'));
  return html`<table role="table" aria-label=${label} aria-busy=${isBusy ? 'true' : undefined}>
    <thead role="rowgroup">
      <tr role="row">
        ${shown.map(
          ({ label: name, kind = 'text', wide }) =>
            html`<th role="columnheader" scope="col" class="${kind}${wide ? ' wide' : ''}">
              ${name === '' ? html`<span class="hidden">Actions</span>` : name}
            </th>`,
        )}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map((row) => html`<${TableRow} key=${row.key} row=${row} columns=${shown} />`)}
    </tbody>
  </table>`;
}
