import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';

const SHOWN_MS = 6_000;
/** @typedef {{ id: number, text: string, undo?: () => Promise<unknown> }} Toast */

/** Says what was done. @param {string} text @param {() => Promise<unknown>} [undo] where it can be undone */
export function toast(text, undo) {
  dispatchEvent(new CustomEvent('everpost-toast', { detail: { text, undo } }));
}

/** What was done lately. @extends {Component<{}, { toasts: Toast[] }>} */
export class Toasts extends Component {
  state = { toasts: /** @type {Toast[]} */ ([]) };
  last = 0;

  componentDidMount() {
    addEventListener('everpost-toast', this.add);
  }

  componentWillUnmount() {
    removeEventListener('everpost-toast', this.add);
  }

  add = (/** @type {any} */ { detail }) => {
    const id = (this.last += 1);
    this.setState(({ toasts }) => ({ toasts: [...toasts.slice(-2), { id, ...detail }] }));
    setTimeout(() => this.remove(id), SHOWN_MS);
  };

  /** @param {number} id */
  remove(id) {
    this.setState(({ toasts }) => ({ toasts: toasts.filter((one) => one.id !== id) }));
  }

  /** @param {Toast} of */
  async undo({ id, undo }) {
    this.remove(id);
    try {
      await undo?.();
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error));
    }
  }

  render() {
    return html`<div class="toasts" role="status">
      ${this.state.toasts.map(
        (one) =>
          html`<p key=${one.id} class="toast">
            ${one.text}
            ${one.undo && html`<button type="button" class="plain" onClick=${() => this.undo(one)}>Undo</button>`}
          </p>`,
      )}
    </div>`;
  }
}
