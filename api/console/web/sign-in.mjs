import { html } from './html.mjs';
import { Component } from './lib/preact.mjs';
import { Trouble } from './load.mjs';

/**
 * Asks for the secret key, which stays in the memory of this page.
 * @extends {Component<{ onKey: (key: string) => Promise<void> }, { error?: unknown, isBusy?: boolean }>}
 */
export class SignIn extends Component {
  /** @param {SubmitEvent} event */
  submit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const key = String(new FormData(form).get('key') ?? '').trim();
    this.setState({ isBusy: true, error: undefined });
    try {
      await this.props.onKey(key);
    } catch (error) {
      this.setState({ isBusy: false, error });
    }
  };

  render() {
    const { error, isBusy } = this.state;
    return html`<h1>Everpost console</h1>
      <form onSubmit=${this.submit}>
        <label for="key">Secret key of the project</label>
        <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false" placeholder="sk_…" />
        <p class="quiet">It stays in the memory of this page: reloading or closing the page forgets it.</p>
        <button class="main" type="submit" disabled=${isBusy}>${isBusy ? 'Looking…' : 'Open'}</button>
      </form>
      ${error !== undefined && html`<${Trouble} error=${error} />`}`;
  }
}
