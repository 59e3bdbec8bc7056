import { call } from '../api.mjs';
import { html } from '../html.mjs';
import { Component, createRef } from '../lib/preact.mjs';
import { linkTo } from '../route.mjs';
import { Icon } from './icon.mjs';

/** @typedef {{ kind: string, icon: string, title: string, hint?: string, href: string }} Found */

const PAUSE_MS = 150;
/** The page and the icon of each kind of record. @type {Record<string, [page: string, icon: string]>} */
const KINDS = {
  contact: ['contacts', 'user'],
  email: ['emails', 'envelope'],
  campaign: ['campaigns', 'megaphone'],
  automation: ['automations', 'bolt'],
  execution: ['automations', 'bolt'],
  template: ['templates', 'document-text'],
  segment: ['segments', 'funnel'],
  webhook: ['webhooks', 'link'],
};

/** @param {{ kind: string, id: string, parentId: string | null, title: string, hint: string | null }} record @returns {Found} */
function foundOf({ kind, id, parentId, title, hint }) {
  const [page, icon] = KINDS[kind] ?? ['today', 'home'];
  const href = kind === 'execution' ? linkTo(page, parentId ?? '', { execution: id }) : linkTo(page, id);
  return { kind, icon, title, href, ...(hint && { hint }) };
}

/**
 * One field that finds pages, and records by id, name, or part of an address.
 * @extends {Component<{ pages: Found[], onClose: () => void }, { text: string, records: Found[], chosen: number,
 *   isLooking?: boolean, error?: string }>}
 */
export class Command extends Component {
  dialog = createRef();
  state = { text: '', records: /** @type {Found[]} */ ([]), chosen: 0, isLooking: false, error: '' };
  /** @type {AbortController | undefined} */
  running;
  /** @type {number | undefined} */
  timer;

  componentDidMount() {
    this.dialog.current?.showModal();
  }

  componentWillUnmount() {
    clearTimeout(this.timer);
    this.running?.abort();
  }

  /** @param {any} event */
  type = ({ currentTarget: { value } }) => {
    this.setState({ text: value, chosen: 0, error: '', isLooking: value.trim().length > 1 });
    clearTimeout(this.timer);
    this.running?.abort();
    if (value.trim().length > 1) this.timer = window.setTimeout(() => void this.look(value.trim()), PAUSE_MS);
    else this.setState({ records: [] });
  };

  /** @param {string} text */
  async look(text) {
    const running = (this.running = new AbortController());
    try {
      const { records } = await call('POST', '/find', { body: { text }, signal: running.signal });
      if (!running.signal.aborted) this.setState({ records: records.map(foundOf), isLooking: false });
    } catch (error) {
      if (!running.signal.aborted)
        this.setState({ records: [], isLooking: false, error: error instanceof Error ? error.message : '' });
    }
  }

  /** Pages whose name fits, then records. @returns {Found[]} */
  found() {
    const { text, records } = this.state;
    const wanted = text.trim().toLowerCase();
    const pages = this.props.pages.filter(({ title }) => wanted === '' || title.toLowerCase().includes(wanted));
    const address = wanted.includes('@')
      ? [
          {
            kind: 'emails',
            icon: 'envelope',
            title: `Emails to ${text.trim()}`,
            href: linkTo('emails', '', { address: text.trim() }),
          },
        ]
      : [];
    return [...records, ...pages.slice(0, wanted === '' ? 20 : 4), ...address];
  }

  /** @param {Found | undefined} one */
  open(one) {
    if (!one) return;
    this.dialog.current?.close();
    location.hash = one.href;
  }

  /** @param {KeyboardEvent} event */
  onKey = (event) => {
    const found = this.found();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      this.setState(({ chosen }) => ({ chosen: (chosen + step + found.length) % Math.max(1, found.length) }));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (!this.state.isLooking) this.open(found[this.state.chosen]);
      else this.waitsForEnter = true;
    }
  };

  waitsForEnter = false;

  componentDidUpdate() {
    if (this.waitsForEnter && !this.state.isLooking) {
      this.waitsForEnter = false;
      this.open(this.found()[this.state.chosen]);
    }
    this.dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }

  render() {
    const { text, chosen, isLooking, error } = this.state;
    const found = this.found();
    const nothing = isLooking ? 'Looking…' : error || `Nothing is named “${text.trim()}”, and no record has this id`;
    return html`<dialog ref=${this.dialog} class="command" aria-label="Find" onClose=${this.props.onClose}>
      <input
        type="search"
        name="wanted"
        role="combobox"
        aria-label="Page, address, name or id"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant=${found[chosen] ? `found-${chosen}` : undefined}
        placeholder="Page, address, name or id"
        autocomplete="off"
        spellcheck="false"
        autofocus
        value=${text}
        onInput=${this.type}
        onKeyDown=${this.onKey}
      />
      <ul id="found" role="listbox" aria-label="Found">
        ${found.map(
          (one, n) =>
            html`<li
              key=${one.href}
              id=${`found-${n}`}
              role="option"
              aria-selected=${String(n === chosen)}
              onClick=${() => this.open(one)}
            >
              <${Icon} name=${one.icon} /><span><bdi>${one.title}</bdi></span>
              <span class="label">${one.hint ?? one.kind}</span>
            </li>`,
        )}
      </ul>
      ${found.length === 0 && html`<p role="status">${nothing}</p>`}
    </dialog>`;
  }
}
