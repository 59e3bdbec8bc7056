import { read, withQuery } from '../api.mjs';
import { html } from '../html.mjs';
import { Skeleton } from './basics.mjs';
import { Loading, Trouble } from './load.mjs';
import { Table } from './table.mjs';

/** The cursor of the next page, or its number where pages are numbered; empty on the last page. @param {any} data */
function nextOf(data) {
  if (Array.isArray(data)) return '';
  if ('totalPages' in data) return data.page < data.totalPages ? String(data.page + 1) : '';
  return data.hasMore ? data.cursor : '';
}

/**
 * A list that grows by "Load more". `rows` makes rows from the data of a page, and gets a function that loads again.
 * What was loaded stays while the first page is loaded again.
 */
export class List extends Loading {
  /** @param {AbortSignal} signal */
  async fetch(signal) {
    const { data = [], loadedPath } = this.state;
    const first = await read(this.props.path, { signal });
    return loadedPath === this.props.path ? [first, ...data.slice(1)] : [first];
  }

  more = async () => {
    const { path } = this.props;
    const { data } = this.state;
    const next = nextOf(data.at(-1));
    this.setState({ isMore: true });
    try {
      const page = await read(withQuery(path, { [path.includes('pageSize=') ? 'page' : 'cursor']: next }), {});
      if (this.state.loadedPath === path) this.setState({ data: [...data, page], error: undefined });
    } catch (error) {
      this.setState({ error });
    }
    this.setState({ isMore: false });
  };

  footer() {
    const { data, isMore } = this.state;
    if (nextOf(data.at(-1)) === '') return null;
    return html`<p class="more">
      <button type="button" disabled=${isMore} onClick=${this.more}>${isMore ? 'Loading…' : 'Load more'}</button>
    </p>`;
  }

  render() {
    const { path, label, columns, rows, empty } = this.props;
    const { data, error, loadedPath } = this.state;
    const isOld = loadedPath !== path;
    if (data === undefined) {
      if (error !== undefined && !isOld) return html`<${Trouble} error=${error} onRetry=${this.reload} />`;
      return html`<${Skeleton} />`;
    }
    /** @type {Map<string, import('./table.mjs').Row>} */
    const shown = new Map(
      data.flatMap((/** @type {any} */ page) =>
        rows(page, { reload: this.reload }).map((/** @type {any} */ row) => [row.key, row]),
      ),
    );
    const hasMore = nextOf(data.at(-1)) !== '';
    return html`
      ${error !== undefined && html`<${Trouble} error=${error} onRetry=${this.reload} />`}
      ${
        shown.size === 0 && !hasMore
          ? empty
          : html`<${Table} label=${label} columns=${columns} rows=${[...shown.values()]} isBusy=${isOld} />`
      }
      ${this.footer()}
    `;
  }
}
