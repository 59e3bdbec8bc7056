import { randomBytes } from 'node:crypto';
import { LIMITS } from '../../pure/limits.ts';
import { encodeClickTarget, type ClickTarget, type EmailLinks } from './links.ts';
import { contentEndOf } from './preheader.ts';

/** The HTML of an email, prepared to record opens and clicks. */
export interface TrackedHtml {
  /** The template with placeholders or marks around the URLs of its links. */
  html: string;
  /** Creates the signer for the links of one email. It signs each URL once, however often it occurs. */
  signerFor: (links: EmailLinks) => TrackedLinkSigner;
}

export interface TrackedLinkSigner {
  /** The value of one of these placeholders; undefined for any other name. */
  valueOf: (name: string) => string | undefined;
  /** Replaces the marked URLs in rendered HTML, which are known only after rendering. */
  finishHtml: (html: string) => string;
}

/** Longer URLs are not tracked: with the token they would approach the 16 KB that servers accept as a request line. */
const URL_LENGTH_MAX = 4_000;

/** The number of tags and attributes that are read: more than any real email has. */
const MATCHES_MAX = 100_000;

/** Template tags are masked before the HTML is read, blocks as spaces and outputs as text, so offsets stay the same. */
const TEMPLATE_TAG = /\{\{(?:(?!\{\{|\}\})[^])*\}\}/g;
const LINK_TAG = /<(?:a|area|v:[a-z]+)(?=[\s/])/;
const ATTRIBUTE = /[\s/]*([^\s"'<>/=]+|["'<=])(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/;
const RECIPIENT_LINK = /\{\{\{?\s*(?:unsubscribeUrl|subscribeUrl|manageUrl|viewUrl)\b/;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', apos: "'", lt: '<', gt: '>' };

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|quot|apos|lt|gt));/gi, (entity, decimal, hex, name) => {
    if (typeof name === 'string') return ENTITIES[name.toLowerCase()] ?? entity;
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity;
  });
}

/**
 * The click target of a URL; undefined when clicks cannot be recorded: mailto:, tel:, cid:, anchors and relative URLs.
 */
function clickTargetOf(text: string): ClickTarget | undefined {
  const url = text.trim();
  if (!/^https?:\/\//i.test(url) || url.length > URL_LENGTH_MAX || !URL.canParse(url)) return undefined;
  return encodeClickTarget(new URL(url).href);
}

interface AttributeValue {
  start: number;
  end: number;
  isQuoted: boolean;
}

/**
 * Finds the href values of links, in order. `shape` is the template with its tags masked. Each tag is searched for
 * after the attributes of the previous one, so broken markup is not read repeatedly.
 */
function* findHrefs(shape: string): Generator<AttributeValue> {
  let matches = 0;
  const linkTag = new RegExp(LINK_TAG, 'gi');
  const nextAttribute = new RegExp(ATTRIBUTE, 'y');
  while (linkTag.test(shape)) {
    nextAttribute.lastIndex = linkTag.lastIndex;
    let attribute: RegExpExecArray | null;
    if (++matches > MATCHES_MAX) return;
    while ((attribute = nextAttribute.exec(shape)) !== null) {
      if (++matches > MATCHES_MAX) return;
      linkTag.lastIndex = nextAttribute.lastIndex;
      const value = attribute[2] ?? attribute[3] ?? attribute[4];
      if (attribute[1]?.toLowerCase() !== 'href' || value === undefined) continue;
      const isQuoted = attribute[4] === undefined;
      const end = nextAttribute.lastIndex - (isQuoted ? 1 : 0);
      yield { start: end - value.length, end, isQuoted };
      break;
    }
  }
}

/** The URLs of the links in rendered HTML, in order. */
export function* linksOf(html: string): Generator<string> {
  for (const { start, end } of findHrefs(html)) yield decodeEntities(html.slice(start, end)).trim();
}

function maskTemplateTags(html: string): string {
  return html.replace(TEMPLATE_TAG, (tag) => (/^\{\{\s*(?:[#/]|else\s*\}\})/.test(tag) ? ' ' : 'x').repeat(tag.length));
}

const MARK_END = '\uFDD4';

/** Replaces the URLs of links: one without placeholders by a placeholder, one with placeholders by a mark around it. */
function replaceLinks(html: string, nonce: string) {
  const markStart = `\uFDD3${nonce}:`;
  /** The targets of the placeholders, by name. */
  const targets = new Map<string, ClickTarget>();
  let tracked = '';
  let copied = 0;
  let linkCount = 0;
  let hasMarks = false;
  for (const { start, end, isQuoted } of findHrefs(maskTemplateTags(html))) {
    if (linkCount === LIMITS.trackedLinks) break;
    const value = html.slice(start, end);
    let replacement: string;
    if (value.includes('{{')) {
      if (RECIPIENT_LINK.test(value)) continue;
      hasMarks = true;
      replacement = `${markStart}${value}${MARK_END}`;
    } else {
      const target = clickTargetOf(decodeEntities(value));
      if (target === undefined) continue;
      const name = `@link-${nonce}-${targets.size}`;
      targets.set(name, target);
      replacement = `{{{${name}}}}`;
    }
    tracked += html.slice(copied, start) + (isQuoted ? replacement : `"${replacement}"`);
    copied = end;
    linkCount += 1;
  }
  /** The marks around URLs with placeholders; undefined without such a URL. */
  const marks = hasMarks ? new RegExp(`${markStart}([^${MARK_END}]*)${MARK_END}`, 'g') : undefined;
  return { html: tracked + html.slice(copied), targets, marks };
}

/**
 * Adds the image that records an open, and the link that only machines follow: nobody sees it, hears it from a screen
 * reader or reaches it by keyboard. Both are at the end, where a preview of the email does not read them.
 * @param imageUrl the URL of each, or a placeholder for it
 */
function withOpenImage(html: string, imageUrl: string, hiddenUrl: string): string {
  const style = 'display:block;width:1px;height:1px;border:0';
  const image = `<img src="${imageUrl}" width="1" height="1" alt="" style="${style}">`;
  const link = `<a href="${hiddenUrl}" aria-hidden="true" tabindex="-1" style="display:none"></a>`;
  const end = contentEndOf(html);
  return html.slice(0, end) + image + link + html.slice(end);
}

/**
 * Prepares a template so that its links and an invisible image lead through this server. It does here all work that is
 * the same for each recipient: a URL without placeholders becomes a placeholder, which costs one signature per
 * recipient. A URL with placeholders is marked, and replaced after rendering. Placeholders and marks contain a random
 * part, so that the data of a contact cannot contain one and get a foreign URL signed.
 */
export function trackHtml(html: string): TrackedHtml {
  const nonce = randomBytes(6).toString('hex');
  const openName = `@open-${nonce}`;
  const hiddenName = `@hidden-${nonce}`;
  const { html: tracked, targets, marks } = replaceLinks(html, nonce);
  return {
    html: withOpenImage(tracked, `{{{${openName}}}}`, `{{{${hiddenName}}}}`),
    signerFor(links) {
      const signed = new Map<string, string | undefined>();
      /** The URL stays unchanged if clicks on it cannot be recorded, or if the email has enough tracked links. */
      const sign = (key: string, target: () => ClickTarget | undefined): string | undefined => {
        if (signed.has(key)) return signed.get(key);
        const found = signed.size < LIMITS.trackedLinks ? target() : undefined;
        const url = found === undefined ? undefined : links.clickUrl(found);
        if (signed.size < LIMITS.trackedLinks) signed.set(key, url);
        return url;
      };
      const readTarget = (value: string) => (links.isOwnLink(value) ? undefined : clickTargetOf(decodeEntities(value)));
      let openUrl: string | undefined;
      let hiddenUrl: string | undefined;
      return {
        valueOf(name) {
          if (name === openName) return (openUrl ??= links.openUrl);
          if (name === hiddenName) return (hiddenUrl ??= links.hiddenUrl);
          const target = targets.get(name);
          return target === undefined ? undefined : sign(name, () => target);
        },
        finishHtml(text) {
          if (!marks) return text;
          return text.replace(marks, (_mark, value: string) => sign(value, () => readTarget(value)) ?? value);
        },
      };
    },
  };
}

/** HTML without placeholders whose links and image lead through this server. Its line ends stay. */
export function trackRenderedHtml(html: string, links: EmailLinks): string {
  const signed = new Map<string, string>();
  let tracked = '';
  let copied = 0;
  for (const { start, end, isQuoted } of findHrefs(html)) {
    const value = html.slice(start, end);
    const isKnown = signed.has(value);
    if (!isKnown && (signed.size === LIMITS.trackedLinks || links.isOwnLink(value))) continue;
    const target = isKnown ? undefined : clickTargetOf(decodeEntities(value));
    if (target !== undefined) signed.set(value, links.clickUrl(target));
    const url = signed.get(value);
    if (url === undefined) continue;
    tracked += html.slice(copied, start) + (isQuoted ? url : `"${url}"`);
    copied = end;
  }
  return withOpenImage(tracked + html.slice(copied), links.openUrl, links.hiddenUrl);
}
