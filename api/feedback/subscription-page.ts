import { createHash } from 'node:crypto';
import type { Brand } from '../../shared/pure/brand.ts';
import { textsOf, type Language } from '../../shared/pure/languages/languages.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';
import { htmlToTextQuickly } from '../../shared/sending/compose/html-to-text.ts';

/** What every page for recipients has. */
export interface PageFrame {
  language: Language;
  title: string;
  /** The brand of the sender, where it is known. */
  brand?: Brand;
}

/** The content of a page: a sentence, at most one action, and what else there is to choose. */
export interface SubscriptionPage extends PageFrame {
  /** `{name}` and `{email}` stand for the sender and the address, and a key of `values` in braces for its value. */
  text: string;
  email?: string;
  values?: Readonly<Record<string, string>>;
  /** A second sentence, which comes first: that something was done. */
  status?: string;
  /** Whether the text confirms an action. */
  isResult?: boolean;
  /** A button that posts to a path relative to this page's. */
  action?: { path: string; label: string };
  /** A link to a path relative to this page's. */
  link?: { path: string; label: string };
  /** A form below all of that, as HTML. */
  form?: string;
}

const STYLE = `
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0; font: 18px/1.5 system-ui, sans-serif; color: #1c1c1e; background: #f4f4f6; }
main { max-width: 34rem; margin: 8vh auto; padding: 2rem 1.5rem; background: #fff; border-radius: 12px;
  overflow-wrap: anywhere; }
h1 { margin: 0 0 1rem; font-size: 1.6rem; line-height: 1.25; }
p { margin: 0 0 1.5rem; }
bdi { display: inline-block; max-width: 100%; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; margin: 0 0 1.5rem; font-weight: 600; }
header img { max-height: 48px; max-width: 100%; }
footer { margin: 2rem 0 0; font-size: 0.85rem; color: #595959; }
button { min-height: 48px; padding: 0.6rem 1.6rem; font: inherit; font-weight: 600; color: #fff; background: #1a56db;
  border: 2px solid transparent; border-radius: 8px; cursor: pointer; }
button:hover { background: #1442ab; }
button.other, button.other:hover { color: #1a56db; background: transparent; border-color: currentColor; }
:focus-visible { outline: 3px solid #1a56db; outline-offset: 3px; }
a { color: #1a56db; }
fieldset { margin: 0 0 1.5rem; padding: 0; border: 0; min-width: 0; }
legend { margin: 0 0 0.75rem; padding: 0; font-weight: 600; }
.choice { display: flex; gap: 0.75rem; margin: 0 0 1rem; }
.choice div { min-width: 0; }
.choice input { flex: none; width: 24px; height: 24px; margin: 0.1rem 0 0; accent-color: #1a56db; }
small { display: block; font-size: 0.85rem; color: #595959; }
select, textarea { display: block; width: 100%; min-height: 44px; margin: 0.25rem 0 0; padding: 0.5rem; font: inherit;
  color: inherit; background: transparent; border: 1px solid #767676; border-radius: 8px; }
option { color: #1c1c1e; background: #fff; }
.buttons { display: flex; flex-wrap: wrap; gap: 0.75rem; }
@media (max-width: 36rem) { main { margin: 0; min-height: 100vh; border-radius: 0; } button { width: 100%; } }
@media (prefers-color-scheme: dark) {
  body { color: #f2f2f4; background: #111113; }
  main { background: #1d1d20; }
  footer, small { color: #b4b4b8; }
  a, button.other, button.other:hover { color: #8db0ff; }
  :focus-visible { outline-color: #8db0ff; }
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

/** A text as HTML, with values for the names in braces. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return escapeHtml(text).replace(/\{(\w+)\}/g, (_, name: string) => isolate(values[name] ?? ''));
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

function renderMain({ text, brand, email, values, status, isResult, action, link, form }: SubscriptionPage): string {
  const role = isResult ? ' role="status"' : '';
  const sentence = fillText(text, { name: brand?.name ?? '', email: email ?? '', ...values });
  const parts = [
    status === undefined ? `<p${role}>${sentence}</p>` : `<p${role}>${escapeHtml(status)}</p>\n<p>${sentence}</p>`,
    action &&
      `<form method="post" action="${escapeHtml(action.path)}"><button type="submit">${escapeHtml(action.label)}</button></form>`,
    link && `<p><a href="${escapeHtml(link.path)}">${escapeHtml(link.label)}</a></p>`,
    form,
  ];
  return parts.flatMap((part) => (part === undefined ? [] : `${part}\n`)).join('');
}

/** Renders the page as HTML and escapes its texts. */
export function renderSubscriptionPage(page: SubscriptionPage): string {
  return renderPage(page, renderMain(page), '<meta name="robots" content="noindex">\n');
}

/** The words that a page shows, with `{email}` instead of the address and without its link, for the record of consent. */
export function wordingOf(page: SubscriptionPage): string {
  return `${page.title}\n${htmlToTextQuickly(renderMain({ ...page, link: undefined, email: '{email}' }))}`;
}
