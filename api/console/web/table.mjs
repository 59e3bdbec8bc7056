import { html } from './html.mjs';

/**
 * A table, which becomes a list of cards on narrow screens; the roles keep it a table for screen readers.
 * @param {{ caption: string, columns: string[], rows: any[][], empty: string }} props a row is the content of its cells
 */
export function Table({ caption, columns, rows, empty }) {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  return html`<table role="table">
    <caption>
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (cells) =>
          html`<tr role="row">
            ${cells.map((cell, n) => html`<td role="cell" data-label=${columns[n]}>${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** A list of names with their values. @param {{ rows: [name: string, value: any][] }} props */
export function Facts({ rows }) {
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}
