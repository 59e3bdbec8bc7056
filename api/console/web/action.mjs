import { html } from './html.mjs';
import { Component, createRef } from './lib/preact.mjs';
import { offersEndpoint } from './api.mjs';
import { Trouble } from './load.mjs';

/** 128 random bits as hexadecimal digits; `crypto.randomUUID` exists over https only. */
function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((octet) => octet.toString(16).padStart(2, '0')).join('');
}

/**
 * A button that asks for confirmation before it acts, and then shows the outcome beside itself. `run` gets a key that
 * stays the same when it is tried again, and returns the text to show. With `endpoint`, there is no button while the
 * API has no such endpoint.
 * @typedef {{
 *   label: string,
 *   question: string,
 *   kind?: 'danger',
 *   run: (key: string) => Promise<string | undefined>,
 *   children?: any,
 *   endpoint?: [method: string, path: string],
 * }} ActionProps
 * @typedef {{ isOpen?: boolean, isBusy?: boolean, error?: unknown, said?: string, isOffered?: boolean }} ActionState
 * @extends {Component<ActionProps, ActionState>}
 */
export class Action extends Component {
  dialog = createRef();

  componentDidMount() {
    void this.checkEndpoint();
  }

  async checkEndpoint() {
    const { endpoint } = this.props;
    this.setState({ isOffered: endpoint === undefined || (await offersEndpoint(...endpoint)) });
  }

  key = '';

  open = () => {
    this.key = randomKey();
    this.setState({ isOpen: true, error: undefined, said: undefined }, () => this.dialog.current?.showModal());
  };

  /** Closes the dialog, which gives the focus back to the button and then calls `closed`. */
  close = () => this.dialog.current?.close();

  closed = () => this.setState({ isOpen: false });

  run = async () => {
    this.setState({ isBusy: true, error: undefined });
    try {
      const said = (await this.props.run(this.key)) ?? 'Done.';
      this.close();
      this.setState({ isBusy: false, isOpen: false, said });
    } catch (error) {
      this.setState({ isBusy: false, error });
    }
  };

  render() {
    const { label, question, kind, children } = this.props;
    const { isOpen, isBusy, error, said, isOffered } = this.state;
    if (!isOffered) return null;
    return html`<span class="action">
      <button type="button" class=${kind} onClick=${this.open}>${label}</button>
      <span role="status">${said}</span>
      ${
        isOpen &&
        html`<dialog ref=${this.dialog} aria-label=${label} onClose=${this.closed}>
          <p>${question}</p>
          ${children} ${error !== undefined && html`<${Trouble} error=${error} />`}
          <p class="choices">
            <button type="button" class=${kind ?? 'main'} disabled=${isBusy} onClick=${this.run}>
              ${isBusy ? 'Working…' : label}
            </button>
            <button type="button" onClick=${this.close}>Leave it</button>
          </p>
        </dialog>`
      }
    </span>`;
  }
}

/**
 * A button that copies a text to the clipboard.
 * @extends {Component<{ text: string, what: string }, { said?: string }>}
 */
export class Copy extends Component {
  copy = async () => {
    try {
      await navigator.clipboard.writeText(this.props.text);
      this.setState({ said: 'Copied' });
    } catch {
      this.setState({ said: 'The browser does not allow it: select the text and copy it' });
    }
  };

  render() {
    return html`<span class="action">
      <button type="button" class="copy" aria-label="Copy ${this.props.what}" onClick=${this.copy}>Copy</button>
      <span role="status">${this.state.said}</span>
    </span>`;
  }
}
