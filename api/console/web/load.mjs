import { ApiError, read } from './api.mjs';
import { html } from './html.mjs';
import { Component } from './lib/preact.mjs';

/**
 * An error of the API with its suggestion. `isHeading` when it stands in place of a whole page, whose heading it is.
 * @param {{ error: unknown, isHeading?: boolean, onRetry?: () => void }} props
 */
export function Trouble({ error, isHeading = false, onRetry }) {
  const { message, suggestion, faults, code, requestId } =
    error instanceof ApiError ? error : new ApiError({ message: `This page has a fault: ${String(error)}` });
  return html`<div class="trouble" role="alert">
    ${isHeading ? html`<h1>${message}</h1>` : html`<p><strong>${message}</strong></p>`}
    ${suggestion && html`<p>${suggestion}.</p>`}
    ${
      faults.length > 0 &&
      html`<ul>
        ${faults.slice(0, 10).map((fault) => html`<li>${fault.field}: ${fault.message}</li>`)}
      </ul>`
    }
    ${code && html`<p class="quiet">${code}, request ${requestId}</p>`}
    ${onRetry && html`<button type="button" onClick=${onRetry}>Try again</button>`}
  </div>`;
}

/**
 * Loads a path and shows the data, a loading note, or the error; `isPage` when that is the whole page. With `every` above zero, loads again after that many
 * seconds while the page is visible.
 * @typedef {{
 *   path: string,
 *   isPage?: boolean,
 *   every?: number | ((data: any) => number),
 *   children: (data: any, tools: { reload: () => void }) => any,
 * }} LoadProps
 * @extends {Component<LoadProps, { data?: any, error?: unknown, loadedPath?: string }>}
 */
export class Load extends Component {
  /** @type {AbortController | undefined} */
  running;
  /** @type {number | undefined} */
  timer;
  reload = () => void this.load();

  componentDidMount() {
    document.addEventListener('visibilitychange', this.onVisible);
    void this.load();
  }

  /** @param {LoadProps} before */
  componentDidUpdate(before) {
    if (before.path !== this.props.path) void this.load();
  }

  componentWillUnmount() {
    document.removeEventListener('visibilitychange', this.onVisible);
    this.running?.abort();
    clearTimeout(this.timer);
  }

  onVisible = () => {
    if (!document.hidden && this.seconds() > 0) void this.load();
  };

  seconds() {
    const { every = 0 } = this.props;
    if (typeof every === 'number') return every;
    return this.state.data === undefined ? 0 : every(this.state.data);
  }

  async load() {
    this.running?.abort();
    clearTimeout(this.timer);
    const { path } = this.props;
    const running = (this.running = new AbortController());
    try {
      const data = await read(path, { signal: running.signal });
      if (!running.signal.aborted) this.setState({ data, error: undefined, loadedPath: path });
    } catch (error) {
      if (!running.signal.aborted)
        this.setState({ error, ...(this.state.loadedPath !== path && { data: undefined, loadedPath: path }) });
    }
    if (running.signal.aborted) return;
    const seconds = this.seconds();
    if (seconds > 0 && !document.hidden) this.timer = window.setTimeout(this.reload, seconds * 1_000);
  }

  render() {
    const { data, error, loadedPath } = this.state;
    const isOld = loadedPath !== this.props.path;
    if (!isOld && error !== undefined && data === undefined)
      return html`<${Trouble} error=${error} isHeading=${this.props.isPage} onRetry=${this.reload} />`;
    if (isOld && data === undefined) return html`<p class="loading" role="status">Loading…</p>`;
    return html`<div aria-busy=${isOld ? 'true' : undefined}>
      ${error !== undefined && html`<${Trouble} error=${error} onRetry=${this.reload} />`}
      ${this.props.children(data, { reload: this.reload })}
    </div>`;
  }
}
