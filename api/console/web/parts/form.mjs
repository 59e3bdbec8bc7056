import { may } from '../api.mjs';
import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Trouble } from './load.mjs';
import { toast } from './toast.mjs';

/**
 * A form with a button that saves what is given. `save` gets the values and returns the text of the toast. With
 * `clears`, the fields are empty again afterwards. A key that may not call the operation it `needs` sees the values only.
 * @typedef {{ needs?: string, label?: string, clears?: boolean, save: (given: FormData) => Promise<string>, children?: any }} FormProps
 * @extends {Component<FormProps, { isBusy?: boolean, error?: unknown }>}
 */
export class Form extends Component {
  /** @param {SubmitEvent} event */
  submit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    this.setState({ isBusy: true, error: undefined });
    try {
      const said = await this.props.save(new FormData(form));
      if (this.props.clears) form.reset();
      this.setState({ isBusy: false });
      toast(said);
    } catch (error) {
      this.setState({ isBusy: false, error });
    }
  };

  render() {
    const { needs, children, label = 'Save' } = this.props;
    const { isBusy, error } = this.state;
    if (!may(needs)) return html`<fieldset class="form" disabled>${children}</fieldset>`;
    return html`<form class="form" onSubmit=${this.submit}>
      ${children} ${error !== undefined && html`<${Trouble} error=${error} />`}
      <p><button class="primary" type="submit" disabled=${isBusy}>${isBusy ? 'Saving…' : label}</button></p>
    </form>`;
  }
}

/**
 * A field with its label. With options it is a choice.
 * @param {{ name: string, label: string, value?: string | null, options?: Record<string, string>, hint?: string, rows?:
 *   number, of?: string, [more: string]: any }} props
 */
export function Field({ name, label, value, options, hint, rows, of = '', ...more }) {
  const id = of ? `${name}-${of}` : name;
  const common = { id, name, ...more };
  let field = html`<input ...${common} defaultValue=${value ?? ''} />`;
  if (rows) field = html`<textarea ...${common} rows=${rows} defaultValue=${value ?? ''}></textarea>`;
  if (options)
    field = html`<select ...${common}>
      ${Object.entries(options).map(([key, word]) => html`<option value=${key} selected=${key === (value ?? '')}>${word}</option>`)}
    </select>`;
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${field} ${hint && html`<p class="label">${hint}</p>`}
  </div>`;
}
