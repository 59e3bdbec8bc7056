import { call, offersEndpoint } from '../api.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Trouble } from '../load.mjs';

/**
 * Shows an answer of any shape as names, values and lists.
 * @param {{ value: unknown }} props
 */
function Anything({ value }) {
  if (Array.isArray(value)) {
    return html`<ul>
      ${value.slice(0, 50).map((item) => html`<li><${Anything} value=${item} /></li>`)}
    </ul>`;
  }
  if (typeof value !== 'object' || value === null) return html`${String(value ?? 'none')}`;
  return html`<dl>
    ${Object.entries(value).map(
      ([name, item]) =>
        html`<dt>${name}</dt>
          <dd><${Anything} value=${item} /></dd>`,
    )}
  </dl>`;
}

/**
 * Checks a campaign before it is sent, where the API has that endpoint.
 * @extends {Component<{ id: string }, { isOffered?: boolean, isBusy?: boolean, found?: unknown, error?: unknown }>}
 */
export class Check extends Component {
  get path() {
    return `/campaigns/${this.props.id}/check`;
  }

  async componentDidMount() {
    this.setState({ isOffered: await offersEndpoint('POST', this.path) });
  }

  check = async () => {
    this.setState({ isBusy: true, error: undefined });
    try {
      this.setState({ found: await call('POST', this.path, { body: {} }), isBusy: false });
    } catch (error) {
      this.setState({ error, isBusy: false });
    }
  };

  render() {
    const { isOffered, isBusy, found, error } = this.state;
    if (!isOffered) return null;
    return html`<section class="card" aria-label="Before sending">
      <h2>Before sending</h2>
      <button type="button" disabled=${isBusy} onClick=${this.check}>${isBusy ? 'Looking…' : 'Check it'}</button>
      ${error !== undefined && html`<${Trouble} error=${error} />`}
      <div role="status">${found !== undefined && html`<${Anything} value=${found} />`}</div>
    </section>`;
  }
}
