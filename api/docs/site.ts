import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Token, Tokens } from 'marked';
import { projectRoot } from '../../shared/platform/paths.ts';
import { renderPage, type NavigationGroup } from './layout.ts';
import { addressOf, headingsOf, lex, renderMarkdown, servedTarget } from './markdown.ts';

const DOCS = path.join(projectRoot, 'docs');
const HOME = 'README.md';
/** Words of three letters or more; ids and numbers are not indexed. */
const WORD = /(?<![\p{L}\p{N}_.@-])\p{L}[\p{L}\p{N}_.@-]{2,}/gu;

/** A part of a page under one heading. The search in the browser reads this; see `assets/docs.js`. */
interface SearchEntry {
  address: string;
  page: string;
  heading: string;
  /** The different words in it, in lower case. */
  words: string;
}

export interface Site {
  /** The HTML of the page at an address; undefined when there is none. */
  page: (address: string) => string | undefined;
  /** The HTML for an address without a page. */
  missingPage: () => string;
  searchIndex: () => SearchEntry[];
}

/** The Markdown files of `docs/`, relative to it. */
export function listFiles(): string[] {
  return readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll(path.sep, '/'))
    .filter((file) => file.endsWith('.md'))
    .sort();
}

function read(file: string): string {
  return readFileSync(path.join(DOCS, file), 'utf8');
}

function linksIn(tokens: Token[]): Tokens.Link[] {
  return tokens.flatMap((token): Tokens.Link[] => {
    if (token.type === 'link') return [token as Tokens.Link];
    if (token.type === 'list') return linksIn((token as Tokens.List).items);
    return 'tokens' in token && token.tokens ? linksIn(token.tokens) : [];
  });
}

function titleOf(file: string): string {
  return headingsOf(lex(read(file)))[0]?.text ?? file;
}

/** A group of the pages that no list in `docs/README.md` names. The error pages have a list of their own. */
function unlisted(groups: NavigationGroup[], files: string[]): NavigationGroup[] {
  const listed = new Set(groups.flatMap(({ links }) => links.map(({ address }) => address)));
  const links = files
    .filter((file) => file !== HOME && path.posix.dirname(file) !== 'errors' && !listed.has(addressOf(file)))
    .map((file) => ({ text: titleOf(file), address: addressOf(file) }));
  return links.length === 0 ? [] : [{ title: 'More', links }];
}

/**
 * The navigation of every page: the lists of pages in `docs/README.md`, under their headings, without files of the
 * repository that are not served.
 */
function readNavigation(files: string[]): NavigationGroup[] {
  const groups: NavigationGroup[] = [];
  for (const token of lex(read(HOME))) {
    if (token.type === 'heading' && token.depth === 2)
      groups.push({ title: (token as Tokens.Heading).text, links: [] });
    for (const { text, href } of linksIn(token.type === 'list' ? [token] : [])) {
      const address = /^https?:/.test(href) ? href : servedTarget(HOME, href);
      if (address !== undefined) groups.at(-1)?.links.push({ text, address });
    }
  }
  return [...groups, ...unlisted(groups, files)];
}

function searchEntriesOf(file: string): SearchEntry[] {
  const tokens = lex(read(file));
  const headings = headingsOf(tokens);
  const page = headings[0]?.text ?? file;
  const entries: SearchEntry[] = [];
  let raw = '';
  const endEntry = () => {
    const entry = entries.at(-1);
    if (entry) entry.words = [...new Set(raw.toLowerCase().match(WORD) ?? [])].join(' ');
    raw = '';
  };
  for (const token of tokens) {
    if (token.type === 'heading') {
      endEntry();
      const { depth, text, id } = headings[entries.length] ?? { depth: 1, text: page, id: '' };
      entries.push({ address: `${addressOf(file)}${depth === 1 ? '' : `#${id}`}`, page, heading: text, words: '' });
    }
    raw += ` ${token.raw}`;
  }
  endEntry();
  return entries;
}

/** Creates the site from the Markdown files of `docs/`. Each page is rendered when it is first asked for, and kept. */
export function createSite(): Site {
  const files = listFiles();
  const fileAt = new Map(files.map((file) => [addressOf(file), file]));
  const navigation = readNavigation(files);
  const rendered = new Map<string, string>();
  let index: SearchEntry[] | undefined;
  return {
    page(address) {
      const file = fileAt.get(address);
      if (file === undefined) return undefined;
      const kept = rendered.get(address);
      if (kept !== undefined) return kept;
      const html = renderPage({ address, navigation, ...renderMarkdown(file, read(file)) });
      rendered.set(address, html);
      return html;
    },
    missingPage() {
      const text = '# There is no such page\n\nThe list has all pages, and the search finds them by their words.\n';
      return renderPage({ address: '', navigation, ...renderMarkdown(HOME, text) });
    },
    searchIndex() {
      index ??= [...fileAt.values()].flatMap(searchEntriesOf);
      return index;
    },
  };
}
