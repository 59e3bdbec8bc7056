import { html } from '../html.mjs';
import { goTo } from '../route.mjs';
import { Icon } from './icon.mjs';

/**
 * The head of a page: its title, one line of facts, and actions at the right.
 * @param {{ title: any, pill?: any, facts?: any, actions?: any, up?: { href: string, label: string } }} props `up` is
 *   the page above a page below the second level
 */
export function PageHead({ title, pill, facts, actions, up }) {
  return html`<div class="head">
    <div>
      ${up && html`<nav class="crumbs" aria-label="Above"><a href=${up.href}>${up.label}</a></nav>`}
      <h1><bdi>${title}</bdi> ${pill}</h1>
      ${facts && html`<p class="muted facts-line">${facts}</p>`}
    </div>
    ${actions && html`<div class="actions">${actions}</div>`}
  </div>`;
}

/** A part of a page with a heading. @param {{ title: string, actions?: any, children?: any, id?: string }} props */
export function Section({ title, actions, children, id = title.toLowerCase().replaceAll(/\W+/g, '-') }) {
  return html`<section aria-labelledby=${id}>
    <div class="section-head">
      <h2 id=${id}>${title}</h2>
      ${actions}
    </div>
    ${children}
  </section>`;
}

/** Names with their values, one a line. @param {{ rows: [name: string, value: any][] }} props rows without a value are left out */
export function Facts({ rows }) {
  return html`<dl class="facts">
    ${rows
      .filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
      .map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;
}

/**
 * Links to the states of a list, with how many are in each.
 * @param {{ label: string, current: string, tabs: { key: string, label: string, href: string, count?: string, isBad?:
 *   boolean }[] }} props
 */
export function Tabs({ label, tabs, current }) {
  return html`<nav class="tabs" aria-label=${label}>
    ${tabs.map(
      ({ key, label: word, href, count, isBad }) =>
        html`<a key=${key} href=${href} aria-current=${key === current ? 'page' : undefined}
          >${word}${count !== undefined && html` <span class=${isBad ? 'count bad' : 'count'}>${count}</span>`}</a
        >`,
    )}
  </nav>`;
}

/**
 * Filters that are applied at once. A filter with options is a choice, another one a text.
 * @param {{ filters: { name: string, label: string, value: string, type?: string, options?: Record<string, string>, any?:
 *   string }[], onChange: (name: string, value: string) => void, onClear: () => void }} props
 */
export function Chips({ filters, onChange, onClear }) {
  /** @param {string} name */
  const changed = (name) => (/** @type {any} */ event) => onChange(name, event.currentTarget.value.trim());
  return html`<form class="chips" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    ${filters.map(
      ({ name, label, value, type = 'search', options, any = 'Any' }) =>
        html`<label key=${name} class=${value ? 'chip on' : 'chip'}>
          <span>${label}</span>
          ${
            options
              ? html`<select name=${name} value=${value} onChange=${changed(name)}>
                  <option value="">${any}</option>
                  ${Object.entries(options).map(([key, word]) => html`<option value=${key} selected=${key === value}>${word}</option>`)}
                </select>`
              : html`<input name=${name} type=${type} value=${value} placeholder="Any" onChange=${changed(name)} />`
          }
        </label>`,
    )}
    ${
      filters.some(({ value }) => value !== '') &&
      html`<button type="button" class="plain" onClick=${onClear}><${Icon} name="x-mark" />Clear</button>`
    }
  </form>`;
}

/**
 * Filters of a page, whose values are in its route: the values, and what shows them.
 * @param {import('../route.mjs').Route} route
 * @param {{ name: string, label: string, type?: string, options?: Record<string, string>, any?: string }[]} declared
 */
export function filtersOf({ name: page, id, query }, declared) {
  const filters = declared.map((filter) => ({ ...filter, value: query.get(filter.name) ?? '' }));
  const values = Object.fromEntries(filters.map(({ name, value }) => [name, value]));
  const change = (/** @type {string} */ name, /** @type {string} */ value) =>
    goTo(page, id, { ...values, [name]: value });
  return {
    values,
    isFiltered: filters.some(({ value }) => value !== ''),
    chips: html`<${Chips} filters=${filters} onChange=${change} onClear=${() => goTo(page, id)} />`,
  };
}

/** Something to know about the page. @param {{ icon?: string, isBad?: boolean, children?: any }} props */
export function Notice({ icon = 'exclamation-triangle', isBad = false, children }) {
  return html`<div class=${isBad ? 'notice bad' : 'notice'}>
    <${Icon} name=${icon} />
    <p>${children}</p>
  </div>`;
}

/**
 * What happened, in order.
 * @param {{ label?: string, entries: { key?: string, at: any, word: any, hue?: string, detail?: any }[] }} props
 */
export function Timeline({ entries, label }) {
  return html`<ol class="timeline" aria-label=${label}>
    ${entries.map(
      ({ key, at, word, hue = 'quiet', detail }) =>
        html`<li key=${key} class=${hue}>
          <p class="entry"><strong>${word}</strong> ${at}</p>
          ${detail && html`<div class="detail">${detail}</div>`}
        </li>`,
    )}
  </ol>`;
}

/**
 * What will be here, and the way to the first one.
 * @param {{ title: string, text?: any, icon?: string, guide?: string, children?: any }} props `guide` is a page of the docs
 */
export function Empty({ title, text, icon = 'inbox', guide, children }) {
  return html`<div class="empty">
    <${Icon} name=${icon} />
    <p class="empty-title">${title}</p>
    ${text && html`<p class="muted">${text}</p>`} ${children}
    ${guide && html`<p><a href=${`/docs/${guide}`}>Read the guide</a></p>`}
  </div>`;
}

/** The shape of what comes, shown when it takes long. @param {{ shape?: 'table' | 'page' | 'figures', rows?: number }} props */
export function Skeleton({ shape = 'table', rows = shape === 'table' ? 8 : 4 }) {
  return html`<div class="skeleton ${shape}" role="status" aria-label="Loading">
    ${Array.from({ length: rows }, () => html`<span><i></i><i></i><i></i></span>`)}
  </div>`;
}
