import { count } from './format.mjs';
import { html } from './html.mjs';
import { Dialog, Menu } from './parts/dialog.mjs';
import { Icon } from './parts/icon.mjs';
import { Loading } from './parts/load.mjs';
import { wordOf } from './parts/pill.mjs';
import { linkTo } from './route.mjs';
import { readableGroups, VIEWS } from './views.mjs';

/** @typedef {import('./main.mjs').Project} Project */

const POLL_SECONDS = 60;
const SCHEMES = { '': 'System', light: 'Light', dark: 'Dark' };
const KEYS = {
  '/ or Ctrl-K': 'Find a page, a person, an email, an id',
  'j, k': 'Next and previous row',
  Enter: 'Open the row',
  Esc: 'Close, or go up to the list',
  '?': 'These keys',
};

/** @param {{ project: Project, icon: string }} props */
function Brand({ project, icon }) {
  return html`<p class="brand">
    <img src=${icon} alt="Everpost" /><span title=${project.name}><bdi>${project.name}</bdi></span>
  </p>`;
}

/** The bar of narrow screens. @param {{ project: Project, icon: string, isOpen: boolean, onFind: () => void, onMenu: () => void }} props */
export function Bar({ project, icon, isOpen, onFind, onMenu }) {
  return html`<header class="bar">
    <${Brand} project=${project} icon=${icon} />
    <button type="button" class="plain" aria-label="Find" onClick=${onFind}><${Icon} name="magnifying-glass" /></button>
    <button type="button" class="plain" aria-label="Menu" aria-expanded=${String(isOpen)} onClick=${onMenu}>
      <${Icon} name=${isOpen ? 'x-mark' : 'bars-3'} />
    </button>
  </header>`;
}

/** How many executions have failed. The rail shows no other count, and no error. */
class FailedCount extends Loading {
  render() {
    const failed = this.state.data?.failedExecutions ?? 0;
    return failed > 0 && html`<span class="count bad" title="Failed executions">${count(failed)}</span>`;
  }
}

/**
 * The way to all pages, and what belongs to the project.
 * @param {{ project: Project, settings: import('./main.mjs').Settings, icon: string, current: string, isOpen: boolean,
 *   onFind: () => void, onShortcuts: () => void, onSignOut: () => void }} props
 */
export function Rail({ project, settings, icon, current, isOpen, onFind, onShortcuts, onSignOut }) {
  const { name, role } = project.key;
  return html`<header class=${isOpen ? 'rail open' : 'rail'}>
    <${Brand} project=${project} icon=${icon} />
    <button type="button" class="find" onClick=${onFind}><${Icon} name="magnifying-glass" />Find<kbd>/</kbd></button>
    <nav aria-label="Console">
      ${readableGroups().map(
        ([group, pages]) =>
          pages.length > 0 &&
          html`<p>${group}</p>
            ${pages.map(
              (page) =>
                html`<a key=${page} href=${linkTo(page)} aria-current=${page === current ? 'page' : undefined}
                  ><${Icon} name=${VIEWS[page]?.icon ?? ''} />${VIEWS[page]?.title}
                  ${page === 'automations' && html`<${FailedCount} path="/workflows?pageSize=1" every=${POLL_SECONDS} />`}</a
                >`,
            )}`,
      )}
    </nav>
    <div class="foot">
      <${Menu} label="Project and key" button=${html`<${Icon} name="user-circle" />${wordOf(role)} key`}>
        <p class="label">${name} (${role})</p>
        <div class="schemes" role="group" aria-label="Colours">
          ${Object.entries(SCHEMES).map(
            ([scheme, word]) =>
              html`<button
                type="button"
                class="plain"
                data-set-scheme=${scheme}
                aria-pressed=${String((document.documentElement.dataset['scheme'] ?? '') === scheme)}
              >
                ${word}
              </button>`,
          )}
        </div>
        <button type="button" onClick=${onShortcuts}>Keyboard</button>
        <a class="button" href="/docs">Docs</a>
        ${settings.hasParts && html`<a class="button" href=${linkTo('parts')}>Parts</a>`}
        <button type="button" onClick=${onSignOut}>Sign out</button>
      <//>
    </div>
  </header>`;
}

/** The keys of the console. @param {{ onClose: () => void }} props */
export function Shortcuts({ onClose }) {
  return html`<${Dialog} title="Keyboard" onClose=${onClose}>
    <dl class="keys-list">
      ${Object.entries(KEYS).map(
        ([key, does]) =>
          html`<dt><kbd>${key}</kbd></dt>
            <dd>${does}</dd>`,
      )}
    </dl>
    <form method="dialog" class="choices"><button>Close</button></form>
  <//>`;
}
