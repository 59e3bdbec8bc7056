import { html } from '../html.mjs';
import { Component } from '../lib/preact.mjs';
import { Icon } from './icon.mjs';
import { toast } from './toast.mjs';

/**
 * A button that copies a text to the clipboard.
 * @param {{ text: string, what: string, word?: string }} props
 */
export function Copy({ text, what, word }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast(`Copied ${what}`);
    } catch {
      toast('The browser does not allow it: select the text and copy it');
    }
  };
  return html`<button type="button" class="plain copy" aria-label="Copy ${what}" title="Copy" onClick=${copy}>
    <${Icon} name="clipboard" />${word}
  </button>`;
}

/** An id or a key to copy. @param {{ text: string, what?: string }} props */
export function KeyText({ text, what = 'the id' }) {
  return html`<span class="key"><code title=${text}>${text}</code><${Copy} text=${text} what=${what} /></span>`;
}

/** Strings, comments, options and numbers, numbers last. */
const TOKENS =
  /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|((?:^|\s)(?:#|\/\/).*|<!--[^]*?-->)|(<\/?[a-z][\w-]*|\/?>|\b(?:const|import|from|await|async|new|return|export|curl|def|print|true|false|null|None)\b|(?<=\s)--?[a-zA-Z][\w-]*)|(\b\d+(?:\.\d+)?\b)/g;
const KINDS = ['string', 'comment', 'word', 'number'];
/** Longer texts are shown plainly. */
const HIGHLIGHTED_MAX = 20_000;

/** @param {string} text */
function highlighted(text) {
  if (text.length > HIGHLIGHTED_MAX) return [text];
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(TOKENS)) {
    parts.push(text.slice(end, found.index));
    const kind = KINDS[found.slice(1).findIndex((group) => group !== undefined)];
    parts.push(html`<span class="t-${kind}">${found[0]}</span>`);
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}

/** The language that was chosen last. */
let chosen = '';

/**
 * A text to copy, in several languages if there are several.
 * @typedef {{ samples: Record<string, string>, label?: string, wraps?: boolean }} CodeProps
 * @extends {Component<CodeProps, { language: string }>}
 */
export class Code extends Component {
  state = { language: chosen };

  /** @param {string} language */
  choose(language) {
    chosen = language;
    this.setState({ language });
  }

  render() {
    const { samples, label = 'Code', wraps } = this.props;
    const languages = Object.keys(samples);
    const language = languages.includes(this.state.language) ? this.state.language : (languages[0] ?? '');
    const text = samples[language] ?? '';
    return html`<div class="code" role="group" aria-label=${label}>
      <div class="code-head">
        ${
          languages.length > 1
            ? languages.map(
                (one) =>
                  html`<button
                    type="button"
                    class="plain"
                    aria-pressed=${String(one === language)}
                    onClick=${() => this.choose(one)}
                  >
                    ${one}
                  </button>`,
              )
            : html`<span>${language}</span>`
        }
        <${Copy} text=${text} what=${label.toLowerCase()} />
      </div>
      <pre class=${wraps ? 'wraps' : undefined} tabindex="0">${highlighted(text)}</pre>
    </div>`;
  }
}
