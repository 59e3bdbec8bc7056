import { html } from './html.mjs';
import { Component } from './lib/preact.mjs';
import { Trouble } from './load.mjs';

/**
 * A form with a button that saves what is given, and shows the outcome beside it. `save` gets the values and returns the
 * text to show. With `clears`, the fields are empty again afterwards.
 * @typedef {{ label?: string, clears?: boolean, save: (given: FormData) => Promise<string>, children?: any }} FormProps
 * @extends {Component<FormProps, { isBusy?: boolean, error?: unknown, said?: string }>}
 */
export class Form extends Component {
  /** @param {SubmitEvent} event */
  submit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    this.setState({ isBusy: true, error: undefined, said: undefined });
    try {
      const said = await this.props.save(new FormData(form));
      if (this.props.clears) form.reset();
      this.setState({ isBusy: false, said });
    } catch (error) {
      this.setState({ isBusy: false, error });
    }
  };

  render() {
    const { children, label = 'Save' } = this.props;
    const { isBusy, error, said } = this.state;
    return html`<form class="settings" onSubmit=${this.submit}>
      ${children}
      <p>
        <button class="main" type="submit" disabled=${isBusy}>${isBusy ? 'Saving…' : label}</button>
        <span role="status">${said}</span>
      </p>
      ${error !== undefined && html`<${Trouble} error=${error} />`}
    </form>`;
  }
}
