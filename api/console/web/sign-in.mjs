import { html } from './html.mjs';
import { Component } from './lib/preact.mjs';
import { Trouble } from './parts/load.mjs';

/**
 * Asks for the secret key, which stays in the memory of this page.
 * @extends {Component<{ onKey: (key: string) => Promise<void> }, { error?: unknown, isBusy?: boolean }>}
 */
export class KeyForm extends Component {
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
    return html`<form onSubmit=${this.submit}>
      <div class="field">
        <label for="key">Secret key</label>
        <input
          id="key"
          name="key"
          type="password"
          required
          autofocus
          autocomplete="off"
          spellcheck="false"
          placeholder="sk_…"
        />
        <p class="label">It stays in the memory of this page; closing the page forgets it</p>
      </div>
      ${error !== undefined && html`<${Trouble} error=${error} />`}
      <button class="primary" type="submit" disabled=${isBusy}>${isBusy ? 'Signing in…' : 'Sign in'}</button>
    </form>`;
  }
}

/** The page before the console. @param {{ onKey: (key: string) => Promise<void>, icon: string }} props */
export function SignIn({ onKey, icon }) {
  return html`<main class="entrance">
    <p class="brand"><img src=${icon} alt="" /><span>Everpost</span></p>
    <div class="card">
      <h1>Sign in to ${location.host}</h1>
      <p class="muted">with a secret key of the project</p>
      <${KeyForm} onKey=${onKey} />
    </div>
    <details class="entrance-help">
      <summary>Where do I find a key?</summary>
      <p>
        <code>npm start</code> prints one, and keeps it in <code>.everpost/local.json</code>. Others come from the page
        Keys, or from <code>everpost key create</code>. See <a href="/docs/keys">the guide to keys</a>.
      </p>
    </details>
  </main>`;
}
