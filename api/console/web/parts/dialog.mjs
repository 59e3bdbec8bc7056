import { may } from '../api.mjs';
import { html } from '../html.mjs';
import { Component, createRef } from '../lib/preact.mjs';
import { Icon } from './icon.mjs';
import { Trouble } from './load.mjs';
import { toast } from './toast.mjs';

/** 128 random bits as hexadecimal digits; `crypto.randomUUID` exists over https only. */
function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((octet) => octet.toString(16).padStart(2, '0')).join('');
}

/**
 * A dialog over the page. Closing it gives the focus back to where it was.
 * @extends {Component<{ title: string, onClose: () => void, children?: any }>}
 */
export class Dialog extends Component {
  element = createRef();

  componentDidMount() {
    this.element.current?.showModal();
  }

  render() {
    const { title, onClose, children } = this.props;
    return html`<dialog ref=${this.element} aria-label=${title} onClose=${onClose}>
      <h2>${title}</h2>
      ${children}
    </dialog>`;
  }
}

/**
 * A button that says what will happen before it acts. `ask` asks the API for what the dialog says, such as numbers.
 * `run` gets what was typed and a key that stays the same when it is tried again; it returns the text of the toast. Keys
 * that may not call the operation it `needs` do not see it.
 * @typedef {{
 *   needs?: string,
 *   label: string,
 *   title?: string,
 *   text?: any,
 *   ask?: () => Promise<{ text: any, isImpossible?: boolean }>,
 *   kind?: 'danger' | 'primary' | 'plain',
 *   icon?: string,
 *   run: (given: FormData, key: string) => Promise<string | undefined>,
 *   undo?: () => Promise<unknown>,
 *   keepsOpen?: boolean,
 *   children?: any,
 * }} ActionProps
 * @typedef {{ isOpen?: boolean, isBusy?: boolean, error?: unknown, asked?: { text: any, isImpossible?: boolean } }} ActionState
 * @extends {Component<ActionProps, ActionState>}
 */
export class Action extends Component {
  key = '';

  open = async () => {
    this.key = randomKey();
    const { ask } = this.props;
    this.setState({ isOpen: true, error: undefined, asked: undefined });
    if (!ask) return;
    try {
      this.setState({ asked: await ask() });
    } catch (error) {
      this.setState({ error });
    }
  };

  closed = () => this.setState({ isOpen: false });

  /** @param {SubmitEvent} event */
  run = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    this.setState({ isBusy: true, error: undefined });
    try {
      const said = await this.props.run(new FormData(form), this.key);
      form.closest('dialog')?.close();
      this.setState({ isBusy: false });
      if (said) toast(said, this.props.undo);
    } catch (error) {
      this.setState({ isBusy: false, error });
    }
  };

  render() {
    const { needs, label, title = label, text, ask, kind, icon, children } = this.props;
    if (!may(needs)) return null;
    const { isOpen, isBusy, error, asked } = this.state;
    const verb = kind === 'danger' ? 'primary danger' : 'primary';
    return html`<button type="button" class=${kind} onClick=${this.open}>
        ${icon && html`<${Icon} name=${icon} />`}${label}
      </button>
      ${
        isOpen &&
        html`<${Dialog} title=${title} onClose=${this.closed}>
          <form onSubmit=${this.run}>
            ${ask ? html`<p role="status">${asked ? asked.text : 'Counting…'}</p>` : text && html`<p>${text}</p>`}
            ${children} ${error !== undefined && html`<${Trouble} error=${error} />`}
            <p class="choices">
              <button
                type="button"
                onClick=${(/** @type {any} */ { currentTarget }) => currentTarget.closest('dialog').close()}
              >
                Close
              </button>
              <button type="submit" class=${verb} disabled=${isBusy || (ask && (!asked || asked.isImpossible))}>
                ${isBusy ? 'Working…' : label}
              </button>
            </p>
          </form>
        <//>`
      }`;
  }
}

/**
 * Quiet actions behind a button.
 * @extends {Component<{ label: string, button?: any, children?: any, isUp?: boolean }>}
 */
export class Menu extends Component {
  element = createRef();

  componentDidMount() {
    document.addEventListener('click', this.closeOutside);
  }

  componentWillUnmount() {
    document.removeEventListener('click', this.closeOutside);
  }

  /** @param {Event} event */
  closeOutside = ({ target }) => {
    const { current } = this.element;
    if (current?.open && !current.contains(/** @type {Node} */ (target))) current.open = false;
  };

  /** @param {KeyboardEvent} event */
  onKey = (event) => {
    const { current } = this.element;
    if (event.key !== 'Escape' || !current?.open || event.defaultPrevented) return;
    current.open = false;
    current.querySelector('summary')?.focus();
  };

  render() {
    const { label, button, children } = this.props;
    return html`<details class="menu" ref=${this.element} onKeyDown=${this.onKey}>
      <summary class="button ${button ? '' : 'plain'}" aria-label=${button ? undefined : label}>
        ${button ?? html`<${Icon} name="ellipsis-horizontal" />`}
      </summary>
      <div class="menu-items">${children}</div>
    </details>`;
  }
}
