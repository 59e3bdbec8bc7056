import { html } from '../html.mjs';
import { Component, createRef } from '../lib/preact.mjs';

const ADDRESS = '/console/frame';

/**
 * Shows the HTML of an email in a frame that has an origin of its own, loads nothing from anywhere, and runs nothing
 * that the email brings (../frame.js).
 * @extends {Component<{ content: string, label: string }>}
 */
export class Frame extends Component {
  element = createRef();
  fill = () => this.element.current?.contentWindow?.postMessage(this.props.content, '*');

  /** @param {{ content: string }} before */
  componentDidUpdate(before) {
    // A frame that was filled takes nothing more: it is loaded again, and filled then.
    if (before.content !== this.props.content && this.element.current) this.element.current.src = ADDRESS;
  }

  render() {
    return html`<iframe
      ref=${this.element}
      class="preview"
      src=${ADDRESS}
      title=${this.props.label}
      sandbox="allow-scripts"
      onLoad=${this.fill}
    ></iframe>`;
  }
}
