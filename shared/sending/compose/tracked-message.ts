import { LIMITS } from '../../pure/limits.ts';
import type { EmailLinks } from './links.ts';
import { decode, encodePart, leafParts } from './message-parts.ts';
import { trackRenderedHtml } from './tracked-html.ts';

/** In these, an octet of ASCII may be a part of another character. */
const SHIFTING_CHARSET = /^(?:utf-?(?:7|16|32)|iso-2022|hz)/;
const UTF_8 = /^(?:utf-?8|us-ascii|)$/;

/** Tracks the links of HTML that is given, and returned, as octets. */
function trackOctets(octets: string, charset: string, links: EmailLinks): string {
  try {
    if (!UTF_8.test(charset)) throw new TypeError('another charset');
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(octets, 'latin1'));
    return Buffer.from(trackRenderedHtml(text, links)).toString('latin1');
  } catch {
    // URLs are ASCII, and so are the tags around them, whatever the other octets mean.
    return trackRenderedHtml(octets, links);
  }
}

/**
 * Leads the links in the text/html parts of a message through this server, and adds the image that records an open. All
 * other octets stay the same. What cannot be read safely is not tracked.
 */
export function trackMessage(content: Buffer, links: EmailLinks): Buffer {
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const part of leafParts(content)) {
    if (part.contentType !== 'text/html' || part.isAttached) continue;
    if (part.end - part.bodyStart > 2 * LIMITS.templateLength || SHIFTING_CHARSET.test(part.charset)) continue;
    const octets = decode(content.subarray(part.bodyStart, part.end), part.encoding);
    if (octets === undefined) continue;
    pieces.push(content.subarray(copied, part.headerStart));
    pieces.push(...encodePart(content, part, trackOctets(octets, part.charset, links)));
    copied = part.end;
  }
  return pieces.length === 0 ? content : Buffer.concat([...pieces, content.subarray(copied)]);
}
