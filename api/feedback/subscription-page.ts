import { createHash } from 'node:crypto';
import type { Brand } from '../../shared/pure/brand.ts';
import { inkOn, readableOn } from '../../shared/pure/brand-color.ts';
import { tokensCss } from '../../shared/platform/look/look.ts';
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

const STYLE = `${tokensCss}
@supports not (color: light-dark(#fff, #000)) {
  :root { --ground: #fbfbfc; --raised: #fff; --ink: #14171c; --muted: #5b6472; --hairline: #e6e8ec; --edge: #8a93a1;
    --accent: #3b5bdb; --accent-strong: #2f4bc0; --accent-ground: #edf0fd; --on-accent: #fff; --faint: #767676; }
}
:root { --brand: var(--accent); --on-brand: var(--on-accent); }
* { box-sizing: border-box; }
body { margin: 0; padding: 0 16px; font: 1.0625rem/1.6 var(--sans); color: var(--ink); background: var(--ground); }
main { max-width: 34rem; margin: 8vh auto; padding: 40px; background: var(--raised); border: 1px solid var(--hairline);
  border-radius: 14px; box-shadow: var(--shadow); overflow-wrap: anywhere; }
h1 { margin: 0 0 12px; font: 650 1.5rem/2rem var(--sans); letter-spacing: -0.015em; }
p { margin: 0 0 24px; }
ul { margin: 0 0 24px; padding: 0; list-style: none; }
li { padding: 12px 0; border-top: 1px solid var(--hairline); }
bdi { display: inline-block; max-width: 100%; }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 12px; margin: 0 0 28px; padding: 0 0 20px;
  border-bottom: 1px solid var(--hairline); font-weight: 600; }
header img { max-height: 48px; max-width: 100%; }
footer { margin: 32px 0 0; font-size: 0.85rem; color: var(--muted); }
button { min-height: 48px; padding: 10px 24px; font: inherit; font-weight: 600; color: var(--on-brand);
  background: var(--brand); border: 1px solid var(--accent); border-radius: 10px; cursor: pointer; }
button:hover { box-shadow: 0 0 0 3px color-mix(in srgb, var(--accent) 25%, transparent); }
button.other { color: var(--ink); background: transparent; border-color: var(--edge); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
a { color: var(--accent); text-underline-offset: 3px; }
p > a:only-child { display: inline-block; padding: 10px 0; }
fieldset { margin: 0 0 24px; padding: 0; border: 0; min-width: 0; }
legend { margin: 0 0 12px; padding: 0; font-weight: 600; }
.choice { display: flex; gap: 14px; min-height: 48px; margin: 0; padding: 11px 0; border-top: 1px solid var(--hairline); }
.choice div { flex: 1; min-width: 0; }
.choice + p { margin-top: 20px; }
.choice label { display: block; }
.choice input { flex: none; width: 24px; height: 24px; margin: 1px 0 0; accent-color: var(--accent); }
small { display: block; font-size: 0.85rem; color: var(--muted); }
select, textarea, input[type='email'], input[type='text'] { display: block; width: 100%; min-height: 48px; margin: 6px 0 0;
  padding: 10px 12px; font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--faint);
  border-radius: 10px; }
.buttons { display: flex; flex-wrap: wrap; gap: 12px; }
@media (max-width: 36rem) {
  body { padding: 0; background: var(--raised); }
  main { margin: 0; padding: 24px 20px; border: 0; border-radius: 0; box-shadow: none; }
  button { width: 100%; }
}
`;
/** The lightest and the darkest ground on which a page shows its accent; both are in tokens.css. */
const [LIGHT_GROUND, DARK_GROUND] = ['#fbfbfc', '#15181d'] as const;

/** The style sheets of a page: that of all pages, and the colour of the sender. */
function stylesOf({ brand }: PageFrame): string[] {
  if (!brand?.brandColor) return [STYLE];
  const { brandColor } = brand;
  const [onLight, onDark] = [LIGHT_GROUND, DARK_GROUND].map((ground) => readableOn(brandColor, ground));
  const own = `:root { --brand: ${brandColor}; --on-brand: ${inkOn(brandColor)}; --accent: ${onLight}; }
@supports (color: light-dark(#fff, #000)) { :root { --accent: light-dark(${onLight}, ${onDark}); } }
`;
  return [STYLE, own];
}

/**
 * The Content-Security-Policy of a page: its style sheets, forms to this server and the host of the logo; no scripts.
 */
export function pagePolicyOf(page: PageFrame): string {
  const { brand } = page;
  const hashes = stylesOf(page).map((style) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  const directives = [
    "default-src 'none'",
    `style-src ${hashes.join(' ')}`,
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
export function renderPage(page: PageFrame, main: string, head = ''): string {
  const { language, title, brand } = page;
  return `<!doctype html>
<html lang="${language}" dir="${textsOf(language).direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(brand ? `${title} · ${brand.name}` : title)}</title>
${head}${stylesOf(page)
    .map((style) => `<style>${style}</style>\n`)
    .join('')}</head>
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
