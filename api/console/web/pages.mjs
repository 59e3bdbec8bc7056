import { withQuery } from './api.mjs';
import { html } from './html.mjs';
import { Component } from './lib/preact.mjs';
import { Load } from './load.mjs';

/**
 * Shows a list page by page. A list with cursors knows only its next page, so the cursors of the pages before are kept.
 * @typedef {{
 *   path: string,
 *   every?: number,
 *   children: (data: any, tools: { reload: () => void }) => any,
 * }} PagesProps
 * @extends {Component<PagesProps, { path: string, before: string[], cursor: string }>}
 */
export class Pages extends Component {
  /** @param {PagesProps} props */
  constructor(props) {
    super(props);
    this.state = { path: props.path, before: [], cursor: '' };
  }

  /** @param {PagesProps} props @param {{ path: string }} state */
  static getDerivedStateFromProps(props, state) {
    return props.path === state.path ? null : { path: props.path, before: [], cursor: '' };
  }

  /** The cursor of the next page, or its number where pages are numbered; empty on the last page. @param {any} data */
  next(data) {
    if ('totalPages' in data) return data.page < data.totalPages ? String(data.page + 1) : '';
    return data.hasMore ? data.cursor : '';
  }

  /** @param {string} cursor */
  showOlder(cursor) {
    this.setState(({ before, cursor: current }) => ({ before: [...before, current], cursor }));
  }

  showNewer() {
    this.setState(({ before }) => ({ before: before.slice(0, -1), cursor: before.at(-1) ?? '' }));
  }

  /** @param {any} data */
  buttons(data) {
    const next = this.next(data);
    const { before } = this.state;
    if (next === '' && before.length === 0) return null;
    return html`<nav class="steps" aria-label="Pages">
      <button type="button" disabled=${before.length === 0} onClick=${() => this.showNewer()}>Newer</button>
      <span>Page ${before.length + 1}</span>
      <button type="button" disabled=${next === ''} onClick=${() => this.showOlder(next)}>Older</button>
    </nav>`;
  }

  render() {
    const { path, every, children } = this.props;
    const { cursor } = this.state;
    const isNumbered = path.includes('pageSize=');
    return html`<${Load} path=${withQuery(path, { [isNumbered ? 'page' : 'cursor']: cursor })} every=${every}>
      ${(/** @type {any} */ data, /** @type {any} */ tools) => [children(data, tools), this.buttons(data)]}
    <//>`;
  }
}
