// The search of the docs. It runs in the browser, over one index that is fetched when the reader begins to search.
const RESULTS_MAX = 12;
const form = document.querySelector('form[role="search"]');
const input = form.querySelector('input');
const box = form.querySelector('#results');
const status = box.querySelector('p');
const list = box.querySelector('ol');
const pages = document.querySelector('.pages details');
let index;

function loadIndex() {
  index ??= fetch('/docs/search.json').then((answer) => answer.json());
  return index;
}

/** How well a part of a page fits: its heading counts most, then the title of the page. 0: it does not fit. */
function scoreOf({ page, heading, words }, terms) {
  const title = page.toLowerCase();
  const own = heading.toLowerCase();
  let score = 0;
  for (const term of terms) {
    const isWord = words.startsWith(term) || words.includes(` ${term}`);
    const points = (own.includes(term) ? 8 : 0) + (title.includes(term) ? 4 : 0) + (isWord ? 2 : 0);
    if (points === 0 && !words.includes(term)) return 0;
    score += points + 1;
  }
  return score;
}

function show(found) {
  list.replaceChildren(
    ...found.slice(0, RESULTS_MAX).map(({ address, page, heading }) => {
      const link = document.createElement('a');
      link.href = address;
      link.textContent = heading === page ? page : `${page}: ${heading}`;
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
  status.textContent = found.length === 0 ? 'Nothing found' : `${found.length} found`;
  box.hidden = false;
}

async function search() {
  const terms = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (terms.length === 0) {
    box.hidden = true;
    return;
  }
  const asked = input.value;
  const entries = await loadIndex();
  if (asked !== input.value) return;
  const found = entries
    .map((entry) => ({ ...entry, score: scoreOf(entry, terms) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score);
  show(found);
}

input.addEventListener('focus', loadIndex, { once: true });
input.addEventListener('input', search);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('a')?.focus();
});
form.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  box.hidden = true;
  input.focus();
});
document.addEventListener('click', (event) => {
  if (!form.contains(event.target)) box.hidden = true;
});
form.hidden = false;
// On a phone, the list of pages would push the text out of sight.
if (matchMedia('(max-width: 56rem)').matches) pages.open = false;
