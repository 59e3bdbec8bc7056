import type { Request } from 'express';

/**
 * Names that security gateways, link previews and indexers give themselves. Image proxies that fetch when a person
 * reads (Gmail's and Yahoo's) are not among them; neither are general HTTP libraries, which scripts of recipients use.
 */
const MACHINES =
  /barracuda|mimecast|proofpoint|ironport|messagelabs|symantec|fireeye|trendmicro|sophos|bitdefender|forcepoint|zscaler|safelinks|bingpreview|googlebot|bingbot|yandexbot|slackbot|slack-imgproxy|twitterbot|linkedinbot|facebookexternalhit|discordbot|telegrambot|whatsapp|skypeuripreview|microsoftpreview|urlscan|virustotal|crawler|spider/i;
/** Apple's Mail Privacy Protection fetches images when mail arrives, read or not, and says no more than this. */
const APPLE_PREFETCH = 'Mozilla/5.0';

/**
 * Whether a request shows that no person is behind it: it only checks that the address exists (HEAD), says that it
 * prefetches, or comes from a known scanner. A client that looks like a browser counts as one.
 * @param kind images are fetched ahead in ways that links are not
 */
export function isMachineRequest(req: Request, kind: 'open' | 'click'): boolean {
  if (req.method !== 'GET') return true;
  const purpose = [req.get('sec-purpose'), req.get('purpose'), req.get('x-purpose'), req.get('x-moz')].join(' ');
  if (/prefetch|preview|prerender/i.test(purpose)) return true;
  const agent = req.get('user-agent') ?? '';
  return MACHINES.test(agent) || (kind === 'open' && agent === APPLE_PREFETCH);
}
