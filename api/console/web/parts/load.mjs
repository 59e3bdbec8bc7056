import { ApiError, read } from '../api.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Skeleton } from './basics.mjs';
import { Icon } from './icon.mjs';

/** How soon a page that could not be read is asked for again by itself. */
const UNREACHABLE_RETRY_SECONDS = 5;

/** What a failure means, beyond the words of the API. @param {ApiError} error */
function meaningOf({ status }) {
  if (status === 403) return 'Sign in with a key that may do this; the menu of the project shows the role of this one';
  if (status === 0) return 'What you see may be old';
  return '';
}

/**
 * What failed, what it means, and what to do. `isHeading` when it stands in place of a whole page, whose heading it is.
 * @param {{ error: unknown, isHeading?: boolean, onRetry?: () => void }} props
 */
export function Trouble({ error, isHeading = false, onRetry }) {
  const known =
    error instanceof ApiError ? error : new ApiError({ message: `This page has a fault: ${String(error)}` });
  const { message, suggestion, faults, code, requestId } = known;
  const advice = [meaningOf(known), suggestion].filter((text) => text !== '').join('. ');
  return html`<div class="trouble" role="alert">
    <${Icon} name=${known.status === 403 ? 'lock-closed' : 'exclamation-triangle'} />
    <div>
      ${isHeading ? html`<h1>${message}</h1>` : html`<p><strong>${message}</strong></p>`}
      ${advice && html`<p>${advice}.</p>`}
      ${
        faults.length > 0 &&
        html`<ul>
          ${faults.slice(0, 10).map((fault) => html`<li>${fault.field}: ${fault.message}</li>`)}
        </ul>`
      }
      ${code && html`<p class="muted">${code}, request <code>${requestId}</code></p>`}
      ${onRetry && html`<button type="button" onClick=${onRetry}>Retry</button>`}
    </div>
  </div>`;
}

/** Tells all that is shown to load again: after another key, or a connection that came back. */
export function reloadAll() {
  dispatchEvent(new Event('everpost-reload'));
}

/**
 * Loads a path, and again after `every` seconds while the page is visible. The base of all that shows data.
 * @typedef {{ path: string, every?: number | ((data: any) => number), [more: string]: any }} LoadingProps
 * @typedef {{ data?: any, error?: unknown, loadedPath?: string, isMore?: boolean }} LoadingState
 * @extends {Component<LoadingProps, LoadingState>}
 */
export class Loading extends Component {
  /** @type {AbortController | undefined} */
  running;
  /** @type {number | undefined} */
  timer;
  reload = () => void this.load();

  componentDidMount() {
    document.addEventListener('visibilitychange', this.onVisible);
    addEventListener('everpost-reload', this.reload);
    void this.load();
  }

  /** @param {{ path: string }} before */
  componentDidUpdate(before) {
    if (before.path !== this.props.path) void this.load();
  }

  componentWillUnmount() {
    document.removeEventListener('visibilitychange', this.onVisible);
    removeEventListener('everpost-reload', this.reload);
    this.running?.abort();
    clearTimeout(this.timer);
  }

  onVisible = () => {
    if (!document.hidden && this.seconds(this.state.data) > 0) void this.load();
  };

  /** When to load again. @param {any} data what is shown, or about to be */
  seconds(data) {
    const { every = 0 } = this.props;
    if (typeof every === 'number') return every;
    return data === undefined ? 0 : every(data);
  }

  /** Reads the data; parts of a list override it. @param {AbortSignal} signal @returns {Promise<any>} */
  fetch(signal) {
    return read(this.props.path, { signal });
  }

  /** @returns {any} */
  render() {
    return null;
  }

  async load() {
    this.running?.abort();
    clearTimeout(this.timer);
    const { path } = this.props;
    const running = (this.running = new AbortController());
    let { data } = this.state;
    let retry = 0;
    try {
      data = await this.fetch(running.signal);
      if (!running.signal.aborted) this.setState({ data, error: undefined, loadedPath: path });
    } catch (error) {
      // The browser may say that it is online before it is.
      if (error instanceof ApiError && error.status === 0) retry = UNREACHABLE_RETRY_SECONDS;
      if (!running.signal.aborted)
        this.setState({ error, ...(this.state.loadedPath !== path && { data: undefined, loadedPath: path }) });
    }
    if (running.signal.aborted) return;
    const seconds = this.seconds(data) || retry;
    if (seconds > 0 && !document.hidden) this.timer = window.setTimeout(this.reload, seconds * 1_000);
  }
}

/**
 * Loads a path and shows the data, the shape of what comes (`shape`, `rows`), or the error; `isPage` when that is the
 * whole page. `missing` stands in place of a record that does not exist. Its child gets the data and a function that loads again.
 */
export class Load extends Loading {
  render() {
    const { data, error, loadedPath } = this.state;
    const { path, isPage = false, shape = isPage ? 'page' : 'table', rows, missing, children } = this.props;
    const isOld = loadedPath !== path;
    if (missing && !isOld && error instanceof ApiError && error.status === 404) return missing;
    if (!isOld && error !== undefined && data === undefined)
      return html`<${Trouble} error=${error} isHeading=${isPage} onRetry=${this.reload} />`;
    if (data === undefined) return html`<${Skeleton} shape=${shape} rows=${rows} />`;
    return html`<div class="loaded" aria-busy=${isOld ? 'true' : undefined}>
      ${error !== undefined && html`<${Trouble} error=${error} onRetry=${this.reload} />`}
      ${/** @type {any} */ (children)(data, { reload: this.reload })}
    </div>`;
  }
}

/**
 * Loads several paths at once, as `Load` does. What the key may not see is undefined.
 */
export class LoadAll extends Loading {
  /** @param {AbortSignal} signal */
  async fetch(signal) {
    const refused = (/** @type {unknown} */ error) => {
      if (error instanceof ApiError && error.status === 403) return undefined;
      throw error;
    };
    const entries = Object.entries(this.props.paths);
    const found = await Promise.all(entries.map(([, path]) => read(path, { signal }).catch(refused)));
    return Object.fromEntries(entries.map(([name], n) => [name, found[n]]));
  }

  render() {
    return Load.prototype.render.call(this);
  }
}
