import { createHash } from 'node:crypto';
import type { Brand } from '../../shared/pure/brand.ts';
import { textsOf, type Language } from '../../shared/pure/languages/languages.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';

/** What every page for recipients has. */
export interface PageFrame {
  language: Language;
  title: string;
  /** The brand of the sender, where it is known. */
  brand?: Brand;
}

/** The content of a page: a sentence, and at most one action. */
export interface SubscriptionPage extends PageFrame {
  /** `{name}` and `{email}` stand for the sender and the address. */
  text: string;
  email?: string;
  /** Whether the text confirms an action. */
  isResult?: boolean;
  /** A button that posts to a path relative to this page's. */
  action?: { path: string; label: string };
}

const STYLE = `
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0; font: 18px/1.5 system-ui, sans-serif; color: #1c1c1e; background: #f4f4f6; }
main { max-width: 34rem; margin: 8vh auto; padding: 2rem 1.5rem; background: #fff; border-radius: 12px; }
h1 { margin: 0 0 1rem; font-size: 1.6rem; line-height: 1.25; }
p { margin: 0 0 1.5rem; overflow-wrap: anywhere; }
bdi { display: inline-block; max-width: 100%; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; margin: 0 0 1.5rem; font-weight: 600; }
header img { max-height: 48px; max-width: 100%; }
footer { margin: 2rem 0 0; font-size: 0.85rem; color: #595959; }
button { min-height: 48px; padding: 0.6rem 1.6rem; font: inherit; font-weight: 600; color: #fff; background: #1a56db;
  border: 2px solid transparent; border-radius: 8px; cursor: pointer; }
button:hover { background: #1442ab; }
button:focus-visible { outline: 3px solid #1a56db; outline-offset: 3px; }
@media (max-width: 36rem) { main { margin: 0; min-height: 100vh; border-radius: 0; } button { width: 100%; } }
@media (prefers-color-scheme: dark) {
  body { color: #f2f2f4; background: #111113; }
  main { background: #1d1d20; }
  footer { color: #b4b4b8; }
  button:focus-visible { outline-color: #8db0ff; }
}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * The Content-Security-Policy of a page: its style sheet, forms to this server and the host of the logo; no scripts.
 */
export function pagePolicyOf({ brand }: PageFrame): string {
  const directives = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  if (brand?.logoUrl) directives.push(`img-src ${new URL(brand.logoUrl).origin}`);
  return directives.join('; ');
}

/** Gives a name or an address a direction of its own, and keeps lines from breaking at its hyphens. */
export function isolate(text: string): string {
  return `<bdi>${escapeHtml(text)}</bdi>`;
}

function headerOf({ name, logoUrl }: Brand): string {
  const logo = logoUrl === null ? '' : `<img src="${escapeHtml(logoUrl)}" alt="">`;
  return `<header>${logo}${isolate(name)}</header>\n`;
}

function footerOf({ postalAddress }: Brand): string {
  if (postalAddress === null) return '';
  return `<footer><bdi>${postalAddress.split('\n').map(escapeHtml).join('<br>')}</bdi></footer>\n`;
}

/**
 * Renders a page for recipients: the brand, the title, and below it `main`.
 * @param main HTML
 * @param head HTML for the head of the document
 */
export function renderPage({ language, title, brand }: PageFrame, main: string, head = ''): string {
  return `<!doctype html>
<html lang="${language}" dir="${textsOf(language).direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(brand ? `${title} · ${brand.name}` : title)}</title>
${head}<style>${STYLE}</style>
</head>
<body>
<main>
${brand ? headerOf(brand) : ''}<h1>${escapeHtml(title)}</h1>
${main}${brand ? footerOf(brand) : ''}</main>
</body>
</html>
`;
}

/** Renders the page as HTML and escapes its texts. */
export function renderSubscriptionPage(page: SubscriptionPage): string {
  const { text, brand, email, isResult, action } = page;
  const form = action
    ? `<form method="post" action="${escapeHtml(action.path)}"><button type="submit">${escapeHtml(action.label)}</button></form>\n`
    : '';
  const sentence = escapeHtml(text)
    .replace('{name}', () => isolate(brand?.name ?? ''))
    .replace('{email}', () => isolate(email ?? ''));
  const noIndex = '<meta name="robots" content="noindex">\n';
  return renderPage(page, `<p${isResult ? ' role="status"' : ''}>${sentence}</p>\n${form}`, noIndex);
}
