import { createHash } from 'node:crypto';
import type { Locale } from '../../shared/pure/contacts/locale.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';

/** The content of a page: a sentence, and at most one action. */
export interface SubscriptionPage {
  locale: Locale;
  title: string;
  text: string;
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
button { min-height: 48px; padding: 0.6rem 1.6rem; font: inherit; font-weight: 600; color: #fff; background: #1a56db;
  border: 2px solid transparent; border-radius: 8px; cursor: pointer; }
button:hover { background: #1442ab; }
button:focus-visible { outline: 3px solid #1a56db; outline-offset: 3px; }
@media (max-width: 36rem) { main { margin: 0; min-height: 100vh; border-radius: 0; } button { width: 100%; } }
@media (prefers-color-scheme: dark) {
  body { color: #f2f2f4; background: #111113; }
  main { background: #1d1d20; }
  button:focus-visible { outline-color: #8db0ff; }
}
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Nothing but the one style sheet and forms to this server: no scripts, no frames around it. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page as HTML; texts are escaped here. */
export function renderSubscriptionPage({ locale, title, text, isResult, action }: SubscriptionPage): string {
  const form = action
    ? `<form method="post" action="${escapeHtml(action.path)}"><button type="submit">${escapeHtml(action.label)}</button></form>\n`
    : '';
  return `<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p${isResult ? ' role="status"' : ''}>${escapeHtml(text)}</p>
${form}</main>
</body>
</html>
`;
}
