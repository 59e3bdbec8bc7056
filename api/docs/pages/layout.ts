import { readLook } from '../../../shared/platform/look/look.ts';
import { escapeHtml } from '../../../shared/pure/templates/template-language.ts';
import type { Heading, RenderedMarkdown } from './markdown.ts';

export interface PageLink {
  text: string;
  address: string;
}

export interface NavigationGroup {
  title: string;
  links: PageLink[];
}

export interface PageContent extends RenderedMarkdown {
  address: string;
  area: 'guides' | 'reference';
  navigation: NavigationGroup[];
  /** The form that tries an endpoint, as HTML. */
  tryIt?: string | undefined;
}

/** The part of the address of the docs' own files that changes with them. */
export interface Assets {
  version: string;
}

/** Pages with fewer headings have no table of contents. */
const CONTENTS_MIN = 2;

const link = ({ text, address }: PageLink, attributes = ''): string =>
  `<a href="${escapeHtml(address)}"${attributes}>${escapeHtml(text)}</a>`;

function renderNavigation({ navigation, address, area }: PageContent): string {
  return navigation
    .map(({ title, links }) => {
      const items = links.map(
        (each) => `<li>${link(each, each.address === address ? ' aria-current="page"' : '')}</li>`,
      );
      const list = `<ul>\n${items.join('\n')}\n</ul>`;
      if (area === 'guides') return `<p>${escapeHtml(title)}</p>\n${list}`;
      const isOpen = links.some((each) => each.address === address);
      return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary>\n${list}</details>`;
    })
    .join('\n');
}

function renderContents(headings: Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < CONTENTS_MIN) return '';
  const items = shown.map(
    ({ depth, id, text }) => `<li class="depth-${depth}">${link({ text, address: `#${id}` })}</li>`,
  );
  return `<nav class="contents" aria-labelledby="contents-title">
<p id="contents-title">On this page</p>
<ul>
${items.join('\n')}
</ul>
</nav>`;
}

/** The links to the pages before and after, in the order of the navigation. */
function renderTurns({ navigation, address }: PageContent): string {
  const links = navigation.flatMap((group) => group.links).filter((each) => each.address.startsWith('/'));
  const index = links.findIndex((each) => each.address === address);
  if (index === -1) return '';
  const turn = (target: PageLink | undefined, label: string, name: string) =>
    target
      ? `<a rel="${name}" href="${escapeHtml(target.address)}"><small>${label}</small>${escapeHtml(target.text)}</a>`
      : '<span></span>';
  return `<nav class="turns" aria-label="Previous and next page">${turn(links[index - 1], 'Previous', 'prev')}${turn(links[index + 1], 'Next', 'next')}</nav>`;
}

const ICON =
  '<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="m21 21-5.2-5.2m0 0A7.5 7.5 0 1 0 5.2 5.2a7.5 7.5 0 0 0 10.6 10.6Z"/></svg>';

const SEARCH = `<dialog id="search" class="command" aria-label="Search the docs">
<input type="text" role="combobox" aria-label="Search the docs" aria-controls="results" aria-expanded="false" aria-autocomplete="list" placeholder="Fields, errors, variables, endpoints …" autocomplete="off" spellcheck="false">
<p role="status"></p>
<ol id="results" role="listbox" aria-label="Results"></ol>
</dialog>`;

const SCHEMES = ['', 'light', 'dark']
  .map(
    (scheme) =>
      `<button type="button" class="plain" data-set-scheme="${scheme}">${scheme === '' ? 'System' : scheme === 'light' ? 'Light' : 'Dark'}</button>`,
  )
  .join('');

/** Renders a whole page of the docs. Without its scripts everything but search, copying and *Try it* works. */
export function renderPage(content: PageContent, { version }: Assets): string {
  const { address, area, headings, html, tryIt } = content;
  const title = headings[0]?.text ?? 'Docs';
  const current = (each: string) => (each === area ? ' aria-current="true"' : '');
  const asset = (name: string) => `/docs/assets/${version}/${name}`;
  const markdown = address === '' ? '' : `<a href="${escapeHtml(address)}.md">This page as Markdown</a>`;
  // The form stands behind the first lines, before the details.
  const main = tryIt === undefined ? html : html.replace(/(?=<h2)|$/, () => tryIt);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Everpost docs</title>
${readLook().head}
<link rel="stylesheet" href="${asset('docs.css')}">
<script src="${asset('choices.js')}"></script>
<script type="module" src="${asset('docs.js')}"></script>
</head>
<body>
<a class="skip hidden button" href="#content">Skip to the content</a>
<header class="top">
<button type="button" class="plain menu" popovertarget="pages">Menu</button>
<a class="home" href="/docs">Everpost</a>
<nav aria-label="Parts"><a href="/docs"${current('guides')}>Guides</a><a href="/docs/reference"${current('reference')}>API reference</a></nav>
<button type="button" id="open-search">${ICON}<span>Search</span><kbd aria-hidden="true">Ctrl K</kbd></button>
</header>
<div class="frame">
<nav id="pages" popover aria-label="Pages">
${renderNavigation(content)}
<div class="schemes" role="group" aria-label="Colours">${SCHEMES}</div>
</nav>
<main id="content" tabindex="-1" class="prose" data-area="${area}">
${main}
${renderTurns(content)}
<footer>${markdown}</footer>
</main>
${renderContents(headings)}
</div>
${SEARCH}
</body>
</html>
`;
}
