import type { ViewedEmail } from '../../shared/domain/campaigns/archive.ts';
import { contentStartOf } from '../../shared/sending/compose/preheader.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';

/** For screen readers alone. */
const UNSEEN = 'position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%)';
/** What decides how browsers lay a document out. */
const DOCTYPE = /^\s*<!doctype[^>]*>/i;
const LANGUAGE = /<html\b[^>]*\slang\s*=/i;

/**
 * The HTML of an email as a page: with a language, a title, a heading and a main part, as far as the author gave none.
 * Browsers merge a second `<html>` and `<head>` into the first ones (HTML Standard, 13.2.6).
 */
export function emailPage({ html, subject, language, brand }: ViewedEmail): string {
  const title = escapeHtml(subject.trim() || brand.name);
  const [doctype = ''] = DOCTYPE.exec(html) ?? [];
  const head = `<html${LANGUAGE.test(html) ? '' : ` lang="${language}"`}><title>${title}</title>`;
  const start = Math.max(doctype.length, contentStartOf(html));
  const found = html.search(/<\/body>/i);
  const end = found < start ? html.length : found;
  const heading = /<h1\b/i.test(html) ? '' : `<h1 style="${UNSEEN}">${title}</h1>`;
  const [opened, closed] = /<main\b/i.test(html) ? ['', ''] : ['<main>', '</main>'];
  return [
    ...[doctype || '<!doctype html>', head, html.slice(doctype.length, start), opened, heading],
    ...[html.slice(start, end), closed, html.slice(end)],
  ].join('');
}
