import { withQuery } from './api.mjs';
import { html } from './html.mjs';
import { Component } from './lib/preact.mjs';
import { Load } from './load.mjs';

/**
 * A list, one page at a time. Lists with cursors know the next page only, so the ones before are remembered; a page that
 * was looked through in vain says so, and where to go on.
 * @typedef {{
 *   path: string,
 *   every?: number,
 *   children: (data: any, tools: { reload: () => void }) => any,
 * }} PagesProps
 * @extends {Component<PagesProps, { of: string, before: string[], cursor: string }>}
 */
export class Pages extends Component {
  /** @param {PagesProps} props */
  constructor(props) {
    super(props);
    this.state = { of: props.path, before: [], cursor: '' };
  }

  /** @param {PagesProps} props @param {{ of: string }} state */
  static getDerivedStateFromProps(props, state) {
    return props.path === state.of ? null : { of: props.path, before: [], cursor: '' };
  }

  /** @param {any} data the cursor of the next page; the next number where pages are numbered */
  next(data) {
    if ('totalPages' in data) return data.page < data.totalPages ? String(data.page + 1) : '';
    return data.hasMore ? data.cursor : '';
  }

  /** @param {string} cursor */
  forth(cursor) {
    this.setState(({ before, cursor: left }) => ({ before: [...before, left], cursor }));
  }

  back() {
    this.setState(({ before }) => ({ before: before.slice(0, -1), cursor: before.at(-1) ?? '' }));
  }

  /** @param {any} data */
  steps(data) {
    const next = this.next(data);
    const { before } = this.state;
    if (next === '' && before.length === 0) return null;
    return html`<nav class="steps" aria-label="Pages">
      <button type="button" disabled=${before.length === 0} onClick=${() => this.back()}>Newer</button>
      <span>Page ${before.length + 1}</span>
      <button type="button" disabled=${next === ''} onClick=${() => this.forth(next)}>Older</button>
    </nav>`;
  }

  render() {
    const { path, every, children } = this.props;
    const { cursor } = this.state;
    const isNumbered = path.includes('pageSize=');
    return html`<${Load} path=${withQuery(path, { [isNumbered ? 'page' : 'cursor']: cursor })} every=${every}>
      ${(/** @type {any} */ data, /** @type {any} */ tools) => [children(data, tools), this.steps(data)]}
    <//>`;
  }
}
