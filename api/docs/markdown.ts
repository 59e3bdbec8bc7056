import path from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';

export interface Heading {
  /** 1 to 6. */
  depth: number;
  /** Without markup. */
  text: string;
  /** The fragment of its address. */
  id: string;
}

export interface RenderedMarkdown {
  html: string;
  headings: Heading[];
}

/**
 * The address of a file of `docs/`: `/docs/guides/first-email` for `guides/first-email.md`; its folder for a README.
 */
export function addressOf(file: string): string {
  const name = file.replace(/\.md$/, '').replace(/(^|\/)README$/, '');
  return name === '' ? '/docs' : `/docs/${name}`;
}

/**
 * The target of a link when its page is served. Links between files are relative, so that they work in a Git forge,
 * too.
 * @param file the page, relative to `docs/`
 * @returns undefined when the target is not served
 */
export function servedTarget(file: string, href: string): string | undefined {
  if (/^(https?:|mailto:|#)/.test(href)) return href;
  const [target = '', fragment] = href.split('#');
  const resolved = path.posix.join(path.posix.dirname(file), target);
  if (resolved.startsWith('..') || !/\.(md|png)$/.test(resolved)) return undefined;
  const address = resolved.endsWith('.md') ? addressOf(resolved) : `/docs/${resolved}`;
  return fragment === undefined ? address : `${address}#${fragment}`;
}

/** The text of inline tokens, without markup. */
function textOf(tokens: Token[]): string {
  return tokens.map((token) => ('tokens' in token && token.tokens ? textOf(token.tokens) : plain(token))).join('');
}

function plain(token: Token): string {
  return 'text' in token ? String(token.text) : token.raw;
}

/** Creates a function that gives headings the ids that Git forges give them. */
function createSlugs(): (text: string) => string {
  const counts = new Map<string, number>();
  return (text) => {
    const base = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const count = counts.get(base) ?? 0;
    counts.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  };
}

/** The headings of a page, in their order. */
export function headingsOf(tokens: Token[]): Heading[] {
  const slug = createSlugs();
  return tokens
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map(({ depth, tokens: inline }) => {
      const text = textOf(inline);
      return { depth, text, id: slug(text) };
    });
}

/** The tokens of a Markdown text (CommonMark with tables). */
export function lex(markdown: string): Token[] {
  return new Marked().lexer(markdown);
}

/**
 * Renders Markdown as HTML for `<main>`. HTML in it is shown as text; wide code and tables can be scrolled by keyboard.
 * @param file the page, relative to `docs/`: the base of its links
 */
export function renderMarkdown(file: string, markdown: string): RenderedMarkdown {
  const marked = new Marked();
  const tokens = marked.lexer(markdown);
  const headings = headingsOf(tokens);
  let headingIndex = 0;
  marked.use({
    renderer: {
      heading({ depth, tokens: inline }) {
        const id = headings[headingIndex++]?.id ?? '';
        return `<h${depth} id="${escapeHtml(id)}">${this.parser.parseInline(inline)}</h${depth}>\n`;
      },
      html({ text }) {
        return escapeHtml(text);
      },
      link({ href, tokens: inline }) {
        const target = servedTarget(file, href);
        const text = this.parser.parseInline(inline);
        return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(servedTarget(file, href) ?? '')}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      code({ text, lang = '' }) {
        const [language = ''] = lang.split(' ');
        return `<pre tabindex="0"><code data-language="${escapeHtml(language)}">${escapeHtml(text)}\n</code></pre>\n`;
      },
      table(token) {
        const row = (cells: Tokens.TableCell[], tag: string, attributes = '') => {
          const texts = cells.map((cell) => this.parser.parseInline(cell.tokens));
          return `<tr>${texts.map((text) => `<${tag}${attributes}>${text}</${tag}>`).join('')}</tr>`;
        };
        const head = `<thead>${row(token.header, 'th', ' scope="col"')}</thead>`;
        const body = `<tbody>${token.rows.map((cells) => row(cells, 'td')).join('')}</tbody>`;
        return `<div class="wide" tabindex="0"><table>${head}${body}</table></div>\n`;
      },
    },
  });
  return { html: marked.parser(tokens), headings };
}
