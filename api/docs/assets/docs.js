// Search, copying, the place on the page, and links to the reference as it was. The rest of a page needs no script.
import { startTryIt } from './try-it.js';

const RESULTS_MAX = 10;
/** Beside this file only where it is served. */
const LIBRARY = './minisearch.js';
const dialog = document.querySelector('#search');
const input = dialog.querySelector('input');
const status = dialog.querySelector('p');
const list = dialog.querySelector('ol');
let loading;
let chosen = -1;

/** The search needs a module and an index, which come when the reader begins to search. */
function load() {
  loading ??= Promise.all([
    import(LIBRARY),
    import('./search-terms.js'),
    fetch('/docs/search.json').then((answer) => answer.json()),
  ]).then(([{ default: MiniSearch }, { INDEX_OPTIONS, find }, json]) => {
    const index = MiniSearch.loadJS(json, INDEX_OPTIONS);
    return (text) => find(index, text);
  });
  loading.catch(() => (loading = undefined));
  return loading;
}

function make(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

function choose(position) {
  const options = [...list.children];
  chosen = options.length === 0 ? -1 : (position + options.length) % options.length;
  for (const [index, option] of options.entries()) option.setAttribute('aria-selected', String(index === chosen));
  options[chosen]?.scrollIntoView({ block: 'nearest' });
  if (chosen === -1) input.removeAttribute('aria-activedescendant');
  else input.setAttribute('aria-activedescendant', `result-${chosen}`);
}

function drawResult({ id, title, heading, call, group }, index) {
  const item = make('li', '', { id: `result-${index}` });
  item.setAttribute('role', 'option');
  const link = make('a', '', { href: id, tabIndex: -1 });
  link.append(
    make('span', heading === '' ? title : heading),
    make('small', call || [group, heading && title].filter(Boolean).join(' · ')),
  );
  item.append(link);
  return item;
}

async function search() {
  const asked = input.value;
  let found = [];
  let words = '';
  if (asked.trim() !== '') {
    try {
      found = (await load())(asked).slice(0, RESULTS_MAX);
      words = found.length === 0 ? 'Nothing found' : '';
    } catch {
      words = 'The search could not be loaded. Try again';
    }
  }
  if (asked !== input.value) return;
  status.textContent = words;
  list.replaceChildren(...found.map(drawResult));
  input.setAttribute('aria-expanded', String(found.length > 0));
  choose(0);
}

function openSearch() {
  load().catch(() => undefined);
  if (!dialog.open) dialog.showModal();
  input.select();
}

const isTyping = ({ target }) => target.closest?.('input, textarea, select, [contenteditable]') !== null;
document.querySelector('#open-search').addEventListener('click', openSearch);
document.addEventListener('keydown', (event) => {
  const isShortcut = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
  if (!isShortcut && (event.key !== '/' || isTyping(event))) return;
  event.preventDefault();
  openSearch();
});
input.addEventListener('input', search);
input.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step !== undefined) choose(chosen + step);
  else if (event.key === 'Enter') list.children[chosen]?.querySelector('a').click();
  else return;
  event.preventDefault();
});
dialog.addEventListener('click', (event) => {
  if (event.target === dialog || event.target.closest('a')) dialog.close();
});

document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('.copy');
  if (!button) return;
  const block = [...button.closest('.code').querySelectorAll('pre')].find((each) => each.checkVisibility());
  try {
    await navigator.clipboard.writeText(block.textContent.trimEnd());
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(block);
    button.textContent = 'Press Ctrl C';
  }
  setTimeout(() => (button.textContent = 'Copy'), 2_000);
});

// The part of the page that is being read.
const contents = [...document.querySelectorAll('.contents a')];
const seen = new IntersectionObserver(
  (entries) => {
    const first = entries.find(({ isIntersecting }) => isIntersecting);
    if (!first) return;
    for (const link of contents) link.classList.toggle('here', link.hash === `#${first.target.id}`);
  },
  { rootMargin: '0px 0px -70% 0px' },
);
for (const heading of document.querySelectorAll('main :is(h2, h3)')) seen.observe(heading);

// The reference was one page, whose fragments named operations: #/Contacts/getContact.
const [, operation] = /^#\/[^/]+\/(\w+)$/.exec(location.hash) ?? [];
if (location.pathname === '/docs/reference' && operation) location.replace(`/docs/reference/${operation}`);

startTryIt();
