import { html } from '../html.mjs';
import paths from '../lib/icons.mjs';

/** An icon beside words that say the same. @param {{ name: string }} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" stroke-linecap="round" stroke-linejoin="round">
    ${paths[name]?.map((path) => html`<path d=${path} />`)}
  </svg>`;
}
