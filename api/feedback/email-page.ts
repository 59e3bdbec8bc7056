import type { ViewedEmail } from '../../shared/domain/campaigns/archive.ts';
import { contentStartOf } from '../../shared/sending/compose/preheader.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';

/** For screen readers alone. */
const UNSEEN = 'position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%)';
/** Whatever comes before the first tag of a document decides how browsers lay it out, so it stays. */
const DOCTYPE = /^\s*<!doctype[^>]*>/i;
const LANGUAGE = /<html\b[^>]*\slang\s*=/i;
/** An author's tags are looked for up to here. A body may have megabytes. */
const SEEN_LENGTH_MAX = 1_000_000;

/**
 * The HTML of an email as a page: with a language, a title, a heading and a main part, as far as the author gave none.
 * Browsers merge a second `<html>` and `<head>` into the first ones (HTML Standard, 13.2.6).
 */
export function emailPage({ html, subject, language, brand }: ViewedEmail): string {
  const title = escapeHtml(subject.trim() || brand.name);
  const seen = html.slice(0, SEEN_LENGTH_MAX);
  const [doctype = ''] = DOCTYPE.exec(seen) ?? [];
  const head = `<html${LANGUAGE.test(seen) ? '' : ` lang="${language}"`}><title>${title}</title>`;
  const start = Math.max(doctype.length, contentStartOf(html));
  const end = html.toLowerCase().lastIndexOf('</body>');
  const stop = end < start ? html.length : end;
  const heading = /<h1\b/i.test(seen) ? '' : `<h1 style="${UNSEEN}">${title}</h1>`;
  const [opened, closed] = /<main\b/i.test(seen) ? ['', ''] : ['<main>', '</main>'];
  return [
    ...[doctype || '<!doctype html>', head, html.slice(doctype.length, start), opened, heading],
    ...[html.slice(start, stop), closed, html.slice(stop)],
  ].join('');
}
