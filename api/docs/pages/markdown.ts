import path from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { highlight } from '../code/highlight.ts';
import type { Translation } from '../code/translate.ts';
import { escapeHtml } from '../../../shared/pure/templates/template-language.ts';

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

/** What the pages of a site know of each other. */
export interface SiteLinks {
  /** The page of a call in the text, such as `GET /contacts/<id>`. */
  operationAddress: (call: string) => string | undefined;
  errorCodes: ReadonlySet<string>;
  /** The shell blocks of this page in other languages. */
  translate: (code: string) => Translation | undefined;
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

/** The links in tokens, in their order. */
export function linksIn(tokens: Token[]): Tokens.Link[] {
  return tokens.flatMap((token): Tokens.Link[] => {
    if (token.type === 'link') return [token as Tokens.Link];
    return 'tokens' in token && token.tokens ? linksIn(token.tokens) : [];
  });
}

/** The tokens of a Markdown text (CommonMark with tables). */
export function lex(markdown: string): Token[] {
  return new Marked().lexer(markdown);
}

const LANGUAGE_NAMES: Record<string, string> = {
  bash: 'Shell',
  sh: 'Shell',
  curl: 'curl',
  ts: 'TypeScript',
  python: 'Python',
  json: 'JSON',
  yaml: 'YAML',
  text: 'Text',
  csv: 'CSV',
  ini: 'Settings',
};
function codePanel(code: string, language: string, attributes = ''): string {
  const name = language === 'curl' ? 'bash' : language;
  return `<pre tabindex="0"${attributes}><code data-language="${escapeHtml(name)}">${highlight(code, name)}\n</code></pre>`;
}

/** A block of code with its bar: the language or the choice of languages, the endpoint, and a button that copies. */
function codeBlock(code: string, language: string, own: string, links: SiteLinks | undefined): string {
  const translation = ['bash', 'sh'].includes(language) ? links?.translate(code) : undefined;
  const copy = '<button type="button" class="plain copy">Copy</button>';
  if (!translation) {
    const name = LANGUAGE_NAMES[language] ?? language;
    return `<div class="code"><div class="code-head"><span>${escapeHtml(name)}</span>${copy}</div>${codePanel(code, language)}</div>\n`;
  }
  const panels = [
    ['curl', code] as const,
    ['ts', translation.typescript] as const,
    ['python', translation.python] as const,
  ];
  const buttons = panels.map(
    ([name]) =>
      `<button type="button" class="plain" data-set-code="${name}" aria-pressed="${name === 'curl'}">${LANGUAGE_NAMES[name]}</button>`,
  );
  const names = [...new Set(translation.operations.map(({ name }) => name))];
  const address = names.length === 1 ? links?.operationAddress(names[0] ?? '') : undefined;
  const reference =
    address === undefined || address === own
      ? ''
      : `<a href="${escapeHtml(address)}">${escapeHtml(names[0] ?? '')}</a>`;
  return `<div class="code"><div class="code-head"><span role="group" aria-label="Language">${buttons.join('')}</span>${reference}${copy}</div>${panels
    .map(([name, text]) => codePanel(text, name, ` data-code="${name}"`))
    .join('')}</div>\n`;
}

/** Inline code; a call or the code of an error leads to its page. */
function inlineCode(text: string, own: string, links: SiteLinks | undefined): string {
  const shown = `<code>${escapeHtml(text)}</code>`;
  const isPage = /^\/(?:docs\/reference|openapi\.json|llms\.txt)$/.test(text);
  const found = links?.errorCodes.has(text) ? `/docs/errors/${text}` : links?.operationAddress(text);
  const address = isPage ? text : found;
  return address === undefined || address === own ? shown : `<a href="${escapeHtml(address)}">${shown}</a>`;
}

/**
 * Renders Markdown as HTML for `<main>`. HTML in it is shown as text; wide code and tables can be scrolled by keyboard.
 * @param file the page, relative to `docs/`: the base of its links
 */
export function renderMarkdown(file: string, markdown: string, links?: SiteLinks): RenderedMarkdown {
  const marked = new Marked();
  const tokens = marked.lexer(markdown);
  const headings = headingsOf(tokens);
  let headingIndex = 0;
  let isInLink = false;
  const renderInLink = (render: () => string): string => {
    const before = isInLink;
    isInLink = true;
    const html = render();
    isInLink = before;
    return html;
  };
  marked.use({
    renderer: {
      heading({ depth, tokens: inline }) {
        const id = escapeHtml(headings[headingIndex++]?.id ?? '');
        const anchor = depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1">#</a>`;
        return `<h${depth} id="${id}">${renderInLink(() => this.parser.parseInline(inline))}${anchor}</h${depth}>\n`;
      },
      html({ text }) {
        return escapeHtml(text);
      },
      link({ href, tokens: inline }) {
        const target = servedTarget(file, href);
        const text = renderInLink(() => this.parser.parseInline(inline));
        return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escapeHtml(servedTarget(file, href) ?? '')}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      codespan({ text }) {
        return isInLink ? `<code>${escapeHtml(text)}</code>` : inlineCode(text, addressOf(file), links);
      },
      code({ text, lang = '' }) {
        return codeBlock(text, lang.split(' ')[0] ?? '', addressOf(file), links);
      },
      table(token) {
        const row = (cells: Tokens.TableCell[], tag: string, attributes = '') => {
          const texts = cells.map((cell) => [cell, this.parser.parseInline(cell.tokens)] as const);
          // A heading without words would name nothing.
          const tagOf = (text: string) =>
            tag === 'th' && text === '' ? '<td></td>' : `<${tag}${attributes}>${text}</${tag}>`;
          return `<tr>${texts.map(([, text]) => tagOf(text)).join('')}</tr>`;
        };
        const head = `<thead>${row(token.header, 'th', ' scope="col"')}</thead>`;
        const body = `<tbody>${token.rows.map((cells) => row(cells, 'td')).join('')}</tbody>`;
        const kind =
          ['field', 'variable'].includes(token.header[0]?.text ?? '') && token.header.length === 3
            ? ' class="fields"'
            : '';
        return `<div class="wide" tabindex="0"><table${kind}>${head}${body}</table></div>\n`;
      },
    },
  });
  return { html: marked.parser(tokens), headings };
}

/** Every text of a kind of token, however deep. */
function textsIn(tokens: Token[], isWanted: (token: Token) => boolean): string[] {
  return tokens.flatMap((token) => {
    if (isWanted(token)) return [plain(token)];
    const {
      items = [],
      header = [],
      rows = [],
    } = token as { items?: Token[]; header?: Tokens.TableCell[]; rows?: Tokens.TableCell[][] };
    const inner = 'tokens' in token && token.tokens ? token.tokens : [];
    return textsIn([...inner, ...items, ...[...header, ...rows.flat()].flatMap((cell) => cell.tokens)], isWanted);
  });
}

/** The calls that a page mentions as inline code, and its shell blocks. */
export function mentionsIn(tokens: Token[]): { calls: string[]; blocks: string[] } {
  return {
    calls: textsIn(tokens, ({ type }) => type === 'codespan'),
    blocks: textsIn(
      tokens,
      (token) => token.type === 'code' && /^(?:bash|sh)\b/.test(String((token as Tokens.Code).lang)),
    ),
  };
}
