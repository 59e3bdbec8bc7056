import type { ArchiveRef, Archive } from '../../shared/domain/campaigns/archive.ts';
import { textsOf, type Language } from '../../shared/pure/languages/languages.ts';
import { escapeHtml } from '../../shared/pure/templates/template-language.ts';
import { isolate, renderPage, type PageFrame } from './subscription-page.ts';

const FEED_TYPE = 'application/atom+xml';
/** What XML 1.0 cannot hold (section 2.2). */
const NO_XML_CHARACTER = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** The page that lists the campaigns of an archive. @returns the page, and its HTML */
export function archivePage(
  language: Language,
  { archiveUrl }: ArchiveRef,
  { brand, campaigns, next }: Archive,
): { page: PageFrame; html: string } {
  const { archive: texts } = textsOf(language);
  const dateOf = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' });
  const items = campaigns.map(
    ({ id, title, sentAt }) =>
      `<li><a href="${escapeHtml(`${archiveUrl}/${id}`)}">${isolate(title)}</a><br>` +
      `<time datetime="${sentAt.toISOString()}">${escapeHtml(dateOf.format(sentAt))}</time></li>\n`,
  );
  const list = items.length === 0 ? `<p>${escapeHtml(texts.empty)}</p>\n` : `<ul>\n${items.join('')}</ul>\n`;
  const older =
    next === undefined
      ? ''
      : `<p><a rel="next" href="${escapeHtml(`${archiveUrl}?after=${next}`)}">${escapeHtml(texts.older)}</a></p>\n`;
  const page = { language, title: texts.title, brand };
  const feed = `<link rel="alternate" type="${FEED_TYPE}" href="${escapeHtml(`${archiveUrl}/feed.xml`)}">\n`;
  return { page, html: renderPage(page, list + older, feed) };
}

/** The newest campaigns of an archive as an Atom feed (RFC 4287). */
export function archiveFeed({ archiveUrl }: ArchiveRef, { brand, campaigns }: Archive): string {
  const xml = (text: string) => escapeHtml(text.replace(NO_XML_CHARACTER, '\u{FFFD}'));
  const updated = (campaigns[0]?.sentAt ?? new Date(0)).toISOString();
  const entries = campaigns.map(
    ({ id, title, sentAt }) => `  <entry>
    <id>urn:uuid:${id}</id>
    <title>${xml(title)}</title>
    <updated>${sentAt.toISOString()}</updated>
    <link rel="alternate" type="text/html" href="${xml(`${archiveUrl}/${id}`)}"/>
  </entry>
`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${xml(archiveUrl)}</id>
  <title>${xml(brand.name)}</title>
  <author><name>${xml(brand.name)}</name></author>
  <updated>${updated}</updated>
  <link rel="self" type="${FEED_TYPE}" href="${xml(`${archiveUrl}/feed.xml`)}"/>
  <link rel="alternate" type="text/html" href="${xml(archiveUrl)}"/>
${entries.join('')}</feed>
`;
}
