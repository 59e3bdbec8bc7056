import { escapeHtml } from '../../shared/pure/templates/template-language.ts';
import type { Heading, RenderedMarkdown } from './markdown.ts';

export interface NavigationGroup {
  title: string;
  links: { text: string; address: string }[];
}

interface PageContent extends RenderedMarkdown {
  address: string;
  navigation: NavigationGroup[];
}

/** Pages with fewer headings have no table of contents. */
const CONTENTS_MIN = 3;

function renderNavigation(navigation: NavigationGroup[], address: string): string {
  return navigation
    .map(({ title, links }) => {
      const items = links.map(({ text, address: target }) => {
        const current = target === address ? ' aria-current="page"' : '';
        return `<li><a href="${escapeHtml(target)}"${current}>${escapeHtml(text)}</a></li>`;
      });
      return `<p>${escapeHtml(title)}</p>\n<ul>\n${items.join('\n')}\n</ul>`;
    })
    .join('\n');
}

function renderContents(headings: Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < CONTENTS_MIN) return '';
  const items = shown.map(
    ({ depth, id, text }) => `<li class="depth-${depth}"><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-labelledby="contents-title">
<p id="contents-title">On this page</p>
<ul>
${items.join('\n')}
</ul>
</nav>`;
}

/** Renders a whole page of the docs. Without its script everything but the search works. */
export function renderPage({ address, navigation, headings, html }: PageContent): string {
  const title = headings[0]?.text ?? 'Docs';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Everpost docs</title>
<link rel="stylesheet" href="/docs/docs.css">
<script src="/docs/docs.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="/docs">Everpost docs</a>
<a href="/docs/reference">API reference</a>
<form role="search" hidden>
<label for="search">Search the docs</label>
<input id="search" type="search" autocomplete="off" spellcheck="false">
<div id="results" hidden><p role="status"></p><ol></ol></div>
</form>
</header>
<div class="frame">
<nav class="pages" aria-label="Pages">
<details open>
<summary>All pages</summary>
${renderNavigation(navigation, address)}
</details>
</nav>
<main id="content" tabindex="-1">
${html.replace('</h1>', () => `</h1>\n${renderContents(headings)}`)}</main>
</div>
</body>
</html>
`;
}
