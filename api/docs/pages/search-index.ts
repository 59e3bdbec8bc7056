import MiniSearch from 'minisearch';
import { INDEX_OPTIONS } from '../assets/search-terms.js';
import type { Operation } from '../reference/operations.ts';
import { headingsOf, lex } from './markdown.ts';

/** A part of a page under one heading; an endpoint's page is one section. */
export interface Section {
  /** Its address. */
  id: string;
  title: string;
  heading: string;
  /** The call of an endpoint: `POST /v1/send`. */
  call: string;
  group: string;
  /** What its tables explain: fields, variables, limits. */
  names: string;
  words: string;
}

/** What the page of an endpoint has in common with all others. */
const COMMON = /\n## Errors\n[^]*$/;
/** The lists of pages, and pages for those who change Everpost. */
const LISTS = ['/docs', '/docs/reference'];
const INTERNAL = ['/docs/architecture', '/docs/benchmarks'];
/** Ids and other long tokens are not searched for. */
const NOISE = /[0-9a-f]{8}-[0-9a-f-]{27}|\b[A-Za-z0-9+/]{40,}/g;

/** The names in the first cells of tables; of an endpoint's page, those of its request. */
function namesIn(markdown: string): string {
  const [own = ''] = markdown.split('\n## Answer');
  return Array.from(own.matchAll(/^\| `([\w.[\]-]+)`/gm), ([, name]) => name).join(' ');
}

export function sectionsOf(address: string, title: string, markdown: string, operation?: Operation): Section[] {
  const isError = /^\/docs\/errors\//.test(address);
  if (operation || isError) {
    const { id = '', group = 'Errors', name = '', isWebhook = true } = operation ?? {};
    const words = `${id} ${markdown.replace(COMMON, '').replaceAll(NOISE, '')}`;
    return [{ id: address, title, heading: '', group, words, call: isWebhook ? '' : name, names: namesIn(markdown) }];
  }
  const tokens = lex(markdown);
  const headings = headingsOf(tokens);
  const group = INTERNAL.includes(address) ? 'Internals' : 'Guides';
  const sectionAt = (id: string, heading: string): Section => ({
    id,
    title,
    heading,
    call: '',
    group,
    names: '',
    words: '',
  });
  const sections = [sectionAt(address, '')];
  let at = 0;
  for (const token of tokens) {
    const heading = token.type === 'heading' ? headings[at++] : undefined;
    // The lists of all pages are found by what they list.
    if (heading && heading.depth > 1 && LISTS.includes(address)) break;
    if (heading && heading.depth > 1) sections.push(sectionAt(`${address}#${heading.id}`, heading.text));
    const last = sections.at(-1);
    if (!last) continue;
    last.words += ` ${token.raw.replaceAll(NOISE, '')}`;
    last.names += ` ${namesIn(token.raw)}`;
  }
  return sections;
}

/** The index of sections as JSON. */
export async function createIndex(
  sections: readonly Section[],
  yieldIfDue: () => Promise<void> | undefined,
): Promise<string> {
  const index = new MiniSearch<Section>(INDEX_OPTIONS);
  for (const section of sections) {
    index.add(section);
    await yieldIfDue();
  }
  // All terms at once would take longer than a turn may, so `toJSON` gets an index without them.
  const { _index: terms } = index as unknown as { _index: Iterable<[string, Map<number, Map<number, number>>]> };
  const texts: string[] = [];
  for (const [term, fields] of terms) {
    const found = Array.from(fields, ([field, counts]) => [field, Object.fromEntries(counts)] as const);
    texts.push(JSON.stringify([term, Object.fromEntries(found)]));
    await yieldIfDue();
  }
  const rest = JSON.stringify(Object.assign(new MiniSearch(INDEX_OPTIONS), index, { _index: [] }));
  return rest.replace('"index":[]', () => `"index":[${texts.join()}]`);
}
