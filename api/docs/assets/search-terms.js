// How texts become terms. The server makes the index with it, and the browser reads questions with it.
const TOKEN = /[\p{L}\p{N}_$@/{}.:-]+/gu;
const EDGES = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const PARTS = /\p{Lu}?[\p{Ll}\p{N}]+|\p{Lu}+(?!\p{Ll})|\p{L}+/gu;
const EMPTY_WORDS = new Set(
  'a an and are as at be by can do does for from how i if in into is it its my not of on or that the this to was what when where which why will with you your'.split(
    ' ',
  ),
);

/** The terms of a text: whole names, such as `scheduledAt` and `/v1/send`, and their parts. */
export function tokenize(text) {
  return (text.match(TOKEN) ?? []).flatMap((token) => {
    const whole = token.replace(EDGES, '');
    const parts = whole.match(PARTS) ?? [];
    return parts.length > 1 ? [whole, ...parts] : [whole];
  });
}

/** A term as it is compared; null when it says nothing. */
export function processTerm(term) {
  const lower = term.toLowerCase();
  return lower === '' || EMPTY_WORDS.has(lower) ? null : lower;
}

export const INDEX_OPTIONS = {
  fields: ['title', 'heading', 'call', 'names', 'words'],
  storeFields: ['title', 'heading', 'call', 'group'],
  tokenize,
  processTerm,
};

const SEARCH_OPTIONS = {
  boost: { title: 5, heading: 4, call: 4, names: 3 },
  prefix: (term) => term.length > 2,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  boostDocument: (_id, _term, { call, group }) => (group === 'Internals' ? 0.3 : call ? 0.8 : 1),
};

const SECTIONS_MAX = 2;

/** The sections that fit, best first, few of each page: those with all words, or else those with some. */
export function find(index, text) {
  const all = index.search(text, { ...SEARCH_OPTIONS, combineWith: 'AND' });
  const counts = new Map();
  return (all.length > 0 ? all : index.search(text, SEARCH_OPTIONS)).filter(({ title }) => {
    counts.set(title, (counts.get(title) ?? 0) + 1);
    return counts.get(title) <= SECTIONS_MAX;
  });
}
