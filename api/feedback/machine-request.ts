import type { Request } from 'express';

/**
 * Names that security gateways, link previews and indexers give themselves. Image proxies that fetch when a person
 * reads (Gmail's and Yahoo's) are not among them, nor are general HTTP libraries, which scripts of recipients use.
 */
const MACHINES =
  /barracuda|mimecast|proofpoint|ironport|messagelabs|symantec|fireeye|trendmicro|sophos|bitdefender|forcepoint|zscaler|safelinks|bingpreview|googlebot|bingbot|yandexbot|slackbot|slack-imgproxy|twitterbot|linkedinbot|facebookexternalhit|discordbot|telegrambot|whatsapp|skypeuripreview|microsoftpreview|urlscan|virustotal|crawler|spider/i;
/** The user agent of Apple's Mail Privacy Protection, which fetches images when an email arrives, read or not. */
const APPLE_PREFETCH = 'Mozilla/5.0';

/**
 * Whether a request shows that no person made it: it only checks that the address exists (HEAD), says that it
 * prefetches, or comes from a known scanner. A client that looks like a browser counts as one.
 * @param kind whether an image or a link is requested: Apple fetches only images ahead
 */
export function isMachineRequest(req: Request, kind: 'open' | 'click'): boolean {
  if (req.method !== 'GET') return true;
  const purpose = [req.get('sec-purpose'), req.get('purpose'), req.get('x-purpose'), req.get('x-moz')].join(' ');
  if (/prefetch|preview|prerender/i.test(purpose)) return true;
  const agent = req.get('user-agent') ?? '';
  return MACHINES.test(agent) || (kind === 'open' && agent === APPLE_PREFETCH);
}
