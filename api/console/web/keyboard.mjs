/** Whether somebody types, or answers a question. */
const isTyping = () => document.activeElement?.closest('input, textarea, select, dialog') !== null;

/** Moves the focus to the next link of a row, or the one before. @param {1 | -1} step */
function moveBy(step) {
  const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('main .row-link')]);
  const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = links[at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step];
  to?.focus();
  to?.scrollIntoView({ block: 'nearest' });
}

/**
 * Listens for the keys of the console: `/` and Ctrl-K find, `j` and `k` move in a list, `?` shows the keys, Esc goes up.
 * @param {(over: 'command' | 'shortcuts') => void} open
 */
export function listenForKeys(open) {
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (event.defaultPrevented || altKey) return;
    if (key.toLowerCase() === 'k' && (ctrlKey || metaKey)) {
      event.preventDefault();
      if (!document.querySelector('dialog[open]')) open('command');
      return;
    }
    if (ctrlKey || metaKey || isTyping()) return;
    if (key === 'j') moveBy(1);
    else if (key === 'k') moveBy(-1);
    else if (key === '?') open('shortcuts');
    else if (key === '/') open('command');
    else if (key === 'Escape' && location.hash.split('/').length > 2 && !document.querySelector('details[open]'))
      location.hash = location.hash.split('/').slice(0, 2).join('/');
    else return;
    if (key !== 'Escape') event.preventDefault();
  });
}
