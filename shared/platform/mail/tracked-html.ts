import { randomBytes } from 'node:crypto';
import { LIMITS } from '../../pure/limits.ts';
import { encodeClickTarget, type ClickTarget, type EmailLinks } from '../links.ts';

/** The HTML of an email prepared for counting opens and clicks. */
export interface TrackedHtml {
  /** The template with placeholders in place of addresses. */
  html: string;
  /** Signs the links of one email, each address once however often it stands there. */
  signerFor: (links: EmailLinks) => TrackedLinkSigner;
}

export interface TrackedLinkSigner {
  /** The value of such a placeholder; undefined for any other name. */
  valueOf: (name: string) => string | undefined;
  /** Finishes rendered HTML: replaces the addresses that are known only now. */
  finishHtml: (html: string) => string;
}

/** Longer addresses are left alone: with the token they would near the 16 KB that servers take as a request line. */
const URL_LENGTH_MAX = 4_000;

/** Tags and attributes that are looked at: more than any email has that people read. */
const LOOKS_MAX = 100_000;

/** Blocks count as space and outputs as text when the shape of the HTML is read; offsets stay the same. */
const TEMPLATE_TAG = /\{\{(?:(?!\{\{|\}\})[^])*\}\}/g;
const LINK_TAG = /<(?:a|area|v:[a-z]+)(?=[\s/])/;
const ATTRIBUTE = /[\s/]*([^\s"'<>/=]+|["'<=])(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/;
const RECIPIENT_LINK = /\{\{\{?\s*(?:unsubscribeUrl|subscribeUrl|manageUrl)\b/;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', apos: "'", lt: '<', gt: '>' };

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|quot|apos|lt|gt));/gi, (entity, decimal, hex, name) => {
    if (typeof name === 'string') return ENTITIES[name.toLowerCase()] ?? entity;
    const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hex), 16);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity;
  });
}

/** What can be counted is a web address; mailto:, tel:, cid:, anchors and relative addresses stay as they are. */
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
 * Where the href values of links stand, in order; `shape` is the template with its tags masked. Each tag is looked for
 * behind the attributes of the one before, which keeps broken markup from being read again and again.
 */
function* findHrefs(shape: string): Generator<AttributeValue> {
  let looks = 0;
  const linkTag = new RegExp(LINK_TAG, 'gi');
  const nextAttribute = new RegExp(ATTRIBUTE, 'y');
  while (linkTag.test(shape)) {
    nextAttribute.lastIndex = linkTag.lastIndex;
    let attribute: RegExpExecArray | null;
    if (++looks > LOOKS_MAX) return;
    while ((attribute = nextAttribute.exec(shape)) !== null) {
      if (++looks > LOOKS_MAX) return;
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

/** The addresses of the links of rendered HTML, in order. */
export function* linksOf(html: string): Generator<string> {
  for (const { start, end } of findHrefs(html)) yield decodeEntities(html.slice(start, end)).trim();
}

function maskTemplateTags(html: string): string {
  return html.replace(TEMPLATE_TAG, (tag) => (/^\{\{\s*(?:[#/]|else\s*\}\})/.test(tag) ? ' ' : 'x').repeat(tag.length));
}

/**
 * Prepares a template so that its links and an invisible image go through this server. All that can be done once is
 * done here: an address without placeholders becomes a placeholder of its own, for which a recipient costs a signature.
 * One with placeholders is marked, and replaced in what was rendered; the mark is random, so that nothing in the data
 * of a contact can pass for one and have a foreign address signed.
 */
export function trackHtml(html: string): TrackedHtml {
  const nonce = randomBytes(6).toString('hex');
  const targets: ClickTarget[] = [];
  const linkName = (index: number) => `@link-${nonce}-${index}`;
  const openName = `@open-${nonce}`;
  const markStart = `\uFDD3${nonce}:`;
  const markEnd = '\uFDD4';

  let tracked = '';
  let copied = 0;
  let hasMarks = false;
  const shape = maskTemplateTags(html);
  let linkCount = 0;
  for (const { start, end, isQuoted } of findHrefs(shape)) {
    if (linkCount === LIMITS.trackedLinks) break;
    const value = html.slice(start, end);
    let replacement: string | undefined;
    if (value.includes('{{')) {
      if (RECIPIENT_LINK.test(value)) continue;
      hasMarks = true;
      replacement = `${markStart}${value}${markEnd}`;
    } else {
      const target = clickTargetOf(decodeEntities(value));
      if (target === undefined) continue;
      replacement = `{{{${linkName(targets.push(target) - 1)}}}}`;
    }
    tracked += html.slice(copied, start) + (isQuoted ? replacement : `"${replacement}"`);
    copied = end;
    linkCount += 1;
  }
  tracked += html.slice(copied);

  const image = `<img src="{{{${openName}}}}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`;
  const bodyEnd = tracked.toLowerCase().lastIndexOf('</body>');
  tracked = bodyEnd === -1 ? tracked + image : tracked.slice(0, bodyEnd) + image + tracked.slice(bodyEnd);

  const indexes = new Map(targets.map((target, index) => [linkName(index), target]));
  const marked = new RegExp(`${markStart}([^${markEnd}]*)${markEnd}`, 'g');
  return {
    html: tracked,
    signerFor(links) {
      const signed = new Map<string, string | undefined>();
      /** An address stays unchanged if it cannot be counted, or if enough others are counted. */
      const sign = (key: string, target: () => ClickTarget | undefined): string | undefined => {
        if (signed.has(key)) return signed.get(key);
        const found = signed.size < LIMITS.trackedLinks ? target() : undefined;
        const url = found === undefined ? undefined : links.clickUrl(found);
        if (signed.size < LIMITS.trackedLinks) signed.set(key, url);
        return url;
      };
      const readTarget = (value: string) => (links.isOwnLink(value) ? undefined : clickTargetOf(decodeEntities(value)));
      let openUrl: string | undefined;
      return {
        valueOf(name) {
          if (name === openName) return (openUrl ??= links.openUrl);
          const target = indexes.get(name);
          return target === undefined ? undefined : sign(name, () => target);
        },
        finishHtml(text) {
          if (!hasMarks) return text;
          return text.replace(marked, (_mark, value: string) => sign(value, () => readTarget(value)) ?? value);
        },
      };
    },
  };
}
