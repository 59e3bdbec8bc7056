import type { EngagementKind } from '../../shared/pure/engagement/machine-tables.ts';

/** What a client does with an email, and who it is. Agents, networks and headers are public facts. */
export interface CorpusCase {
  name: string;
  isMachine: boolean;
  kind: EngagementKind;
  agent: string;
  address: string;
  headers: Record<string, string>;
  method: string;
  /** Seconds from the hand-over to the first request. */
  after: number;
  /** How many different links it follows, and the seconds between two. */
  links: number;
  gap: number;
  /** Whether these are one link, followed again. */
  isSameLink: boolean;
  /** Whether it follows the link that no person sees. */
  hidden: boolean;
}

type Details = Partial<Omit<CorpusCase, 'name' | 'isMachine' | 'kind' | 'agent'>>;

/** Addresses at home, at work and on the phone: DSL, cable, mobile networks, universities, IPv6. */
const HOMES = [
  '84.130.12.7',
  '73.162.90.14',
  '2003:e4:9f2a:1500::7',
  '90.63.218.4',
  '31.4.180.22',
  '172.58.63.200',
  '2600:1700:8a20:5510::1f',
  '126.161.12.9',
  '49.36.110.8',
  '141.20.5.18',
  '198.51.100.23',
  '203.0.113.77',
];
export const LANGUAGE = { 'accept-language': 'en-GB,en;q=0.8' };

let serial = 0;

function makeCase(name: string, isMachine: boolean, kind: EngagementKind, agent: string, details: Details): CorpusCase {
  serial += 1;
  const address = HOMES[serial % HOMES.length] ?? '';
  const usual = { address, headers: isMachine ? {} : LANGUAGE, method: 'GET', after: isMachine ? 20 : 95 };
  return { name, isMachine, kind, agent, ...usual, links: 1, gap: 60, isSameLink: false, hidden: false, ...details };
}

export const person = (name: string, kind: EngagementKind, agent: string, details: Details = {}): CorpusCase =>
  makeCase(name, false, kind, agent, details);
export const machine = (name: string, kind: EngagementKind, agent: string, details: Details = {}): CorpusCase =>
  makeCase(name, true, kind, agent, details);

export const chrome = (version: number, system = 'Windows NT 10.0; Win64; x64', rest = '') =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36${rest}`;
export const firefox = (version: number, system = 'Windows NT 10.0; Win64; x64') =>
  `Mozilla/5.0 (${system}; rv:${version}.0) Gecko/20100101 Firefox/${version}.0`;
export const safari = (version: string) =>
  `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version} Safari/605.1.15`;
export const iphone = (version: string, rest = 'Safari/604.1') =>
  `Mozilla/5.0 (iPhone; CPU iPhone OS ${version.replaceAll('.', '_')} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version} Mobile/15E148 ${rest}`;
export const android = (model: string, version = 138, rest = '') =>
  `Mozilla/5.0 (Linux; Android 14; ${model}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Mobile Safari/537.36${rest}`;

const BROWSERS: [string, string][] = [
  ['Chrome on Windows', chrome(138)],
  ['Chrome on macOS', chrome(137, 'Macintosh; Intel Mac OS X 10_15_7')],
  ['Chrome on Linux', chrome(136, 'X11; Linux x86_64')],
  ['Edge', chrome(138, undefined, ' Edg/138.0.0.0')],
  ['Firefox', firefox(140)],
  ['Firefox ESR on Linux', firefox(128, 'X11; Linux x86_64')],
  ['Safari', safari('18.5')],
  ['Safari on an iPhone', iphone('18.5')],
  ['Chrome on Android', android('K')],
  [
    'Samsung Internet',
    'Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
  ],
  ['a CUBOT phone', android('CUBOT X70', 126)],
  ['Opera', chrome(136, undefined, ' OPR/121.0.0.0')],
  ['Vivaldi', chrome(136, undefined, ' Vivaldi/7.4.3684.55')],
  ['Yandex Browser', chrome(134, undefined, ' YaBrowser/25.4.0.0')],
  [
    'UC Browser',
    'Mozilla/5.0 (Linux; U; Android 13; en-US; SM-A135F) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/100.0.4896.58 UCBrowser/15.0 Mobile Safari/537.36',
  ],
  ['the Facebook app', iphone('18.4', '[FBAN/FBIOS;FBAV/512.0.0.45;FBDV/iPhone15,2]')],
  ['the Instagram app', android('Pixel 8', 137, ' Instagram 380.0.0.49 Android')],
  [
    'the Gmail app on Android',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UQ1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36',
  ],
  [
    'an iPad',
    'Mozilla/5.0 (iPad; CPU OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1',
  ],
  ['Internet Explorer', 'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko'],
  ['Lynx', 'Lynx/2.9.2 libwww-FM/2.14 SSL-MM/1.4.1 GNUTLS/3.8.5'],
];

const MAIL_PROGRAMS: [string, string][] = [
  [
    'the image proxy of Gmail',
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
  ],
  ['Thunderbird', 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.11.0'],
  ['Outlook on Windows', 'Mozilla/4.0 (compatible; ms-office; MSOffice 16)'],
  ['Outlook 2016', 'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.18827; Pro)'],
  [
    'Outlook on macOS',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) MacOutlook/16.98',
  ],
  [
    'Apple Mail without protection',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
  ],
  [
    'Mail on an iPhone without protection',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
  ],
  ['the Windows mail app', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; Trident/7.0; Touch; rv:11.0) like Gecko'],
  ['an Android mail app', 'okhttp/4.12.0'],
  ['an iOS mail app', 'Spark/3.21 CFNetwork/1568.200.51 Darwin/24.1.0'],
  ['Samsung Email', 'Dalvik/2.1.0 (Linux; U; Android 14; SM-S921B Build/UP1A)'],
  ['a webmail in Chrome', chrome(138)],
  ['Roundcube in Firefox', firefox(139)],
];

const SCANNERS: [string, string][] = [
  ['Barracuda', 'Mozilla/5.0 (compatible; Barracuda Sentinel (EE))'],
  ['Mimecast', 'Mozilla/5.0 (compatible; Mimecast URL Protect)'],
  ['Proofpoint', 'Mozilla/5.0 (compatible; proofpoint-urldefense)'],
  ['Cisco', 'CiscoSecureEmail/15.0'],
  ['Trend Micro', 'Mozilla/4.0 (compatible; TMES)'],
  ['Sophos', 'Sophos-URL-Scanner/1.2'],
  ['Slack', 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)'],
  ['Slack images', 'Slack-ImgProxy (+https://api.slack.com/robots)'],
  ['Teams', 'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com'],
  ['WhatsApp', 'WhatsApp/2.24.20.89 A'],
  [
    'iMessage',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
  ],
  ['Bing preview', 'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b'],
  ['Googlebot', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'],
  ['Google Safety', 'Google-Safety'],
  [
    'Google Read Aloud',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/137.0.0.0 Safari/537.36 (compatible; Google-Read-Aloud; +https://support.google.com/webmasters/answer/1061943)',
  ],
  ['VirusTotal', 'AppEngine-Google; (+http://code.google.com/appengine; appid: s~virustotalcloud)'],
  ['urlscan.io', 'Mozilla/5.0 (compatible; urlscan.io)'],
  [
    'Applebot',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)',
  ],
  ['Ahrefs', 'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)'],
  ['curl', 'curl/8.5.0'],
  ['Wget', 'Wget/1.21.4'],
  ['requests', 'python-requests/2.32.3'],
  ['aiohttp', 'Python/3.12 aiohttp/3.9.5'],
  ['Go', 'Go-http-client/2.0'],
  ['Java', 'Java/17.0.11'],
  ['Apache HttpClient', 'Apache-HttpClient/4.5.14 (Java/17.0.11)'],
  ['axios', 'axios/1.7.2'],
  ['undici', 'undici'],
  ['Node', 'node'],
  ['Perl', 'libwww-perl/6.77'],
  ['PHP', 'GuzzleHttp/7'],
  ['PowerShell', 'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.4522'],
  [
    'headless Chrome',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36',
  ],
  [
    'PhantomJS',
    'Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 (KHTML, like Gecko) PhantomJS/2.1.1 Safari/538.1',
  ],
  ['W3C link checker', 'W3C-checklink/4.81 libwww-perl/6.67'],
  ['Pingdom', 'Mozilla/5.0 (compatible; Pingdom.com_bot_version_1.4_(http://www.pingdom.com/))'],
];

/** Networks from which gateways fetch with the user agent of a browser. */
const GATEWAYS: [string, string][] = [
  ['Safe Links', '40.94.34.52'],
  ['Safe Links', '40.94.16.101'],
  ['Exchange Online Protection', '104.47.58.126'],
  ['Exchange Online Protection over IPv6', '2a01:111:f400:7e1b::205'],
  ['Barracuda', '64.235.153.10'],
  ['Barracuda', '209.222.82.39'],
  ['Mimecast', '207.211.30.44'],
  ['Proofpoint', '67.231.152.10'],
  ['Proofpoint', '148.163.135.21'],
  ['Cisco', '68.232.140.79'],
  ['Symantec', '216.82.251.5'],
  ['a gateway on the list of Adobe', '64.74.215.142'],
];

const PREFETCHES: [string, Record<string, string>][] = [
  ['Chrome, which prerenders', { ...LANGUAGE, 'sec-purpose': 'prefetch;prerender' }],
  ['Chrome, which prefetches by a proxy', { ...LANGUAGE, 'sec-purpose': 'prefetch;anonymous-client-ip' }],
  ['Firefox, which prefetches', { ...LANGUAGE, 'x-moz': 'prefetch' }],
  ['Safari, which previews', { ...LANGUAGE, 'x-purpose': 'preview' }],
  ['an older Chrome, which prefetches', { ...LANGUAGE, purpose: 'prefetch' }],
];

/** Cases with which the rules were made. */
export const CORPUS: readonly CorpusCase[] = [
  ...BROWSERS.map(([name, agent]) => person(`${name} follows a link`, 'click', agent)),
  ...BROWSERS.slice(0, 10).map(([name, agent], index) =>
    person(`${name} follows links one after the other`, 'click', agent, { links: 2 + (index % 3), gap: 4 + index * 9 }),
  ),
  ...BROWSERS.slice(5, 12).map(([name, agent], index) =>
    person(`${name} follows a link soon after a notification`, 'click', agent, { after: 2 + index }),
  ),
  ...MAIL_PROGRAMS.map(([name, agent]) => person(`${name} shows the email`, 'open', agent, { after: 400 })),
  ...MAIL_PROGRAMS.slice(0, 6).map(([name, agent]) =>
    person(`${name} shows the email at once`, 'open', agent, { after: 1.5, headers: {} }),
  ),
  person('the image proxy of Gmail, from its network', 'open', MAIL_PROGRAMS[0]![1], {
    address: '66.249.84.33',
    headers: {},
  }),
  person('somebody behind the proxy of a company', 'click', chrome(136), {
    address: '165.225.72.10',
    headers: { ...LANGUAGE, via: '1.1 proxy.corp.test' },
  }),
  person('somebody with a VPN in a data centre', 'click', firefox(140), { address: '159.65.12.4', after: 300 }),
  person('somebody with a remote browser in a data centre', 'click', chrome(137), {
    address: '52.30.4.9',
    after: 1_800,
  }),
  person('Tor Browser', 'click', firefox(128), {
    address: '185.220.101.4',
    headers: { 'accept-language': 'en-US,en;q=0.5' },
  }),
  person('Brave', 'click', chrome(138), { headers: { 'accept-language': 'en-US,en;q=0.9', 'sec-gpc': '1' } }),
  person('a browser without a language, an hour later', 'click', firefox(140), { headers: {}, after: 3_600 }),
  person('somebody a year later', 'click', safari('18.5'), { after: 31_000_000 }),
  person('somebody who follows a link twice', 'click', chrome(138), { links: 2, gap: 0.3, isSameLink: true }),
  ...SCANNERS.flatMap(([name, agent]) => [machine(`${name} follows a link`, 'click', agent)]),
  ...SCANNERS.slice(0, 14).map(([name, agent]) => machine(`${name} loads the image`, 'open', agent)),
  ...GATEWAYS.map(([name, address], index) =>
    machine(`${name}, as a browser`, 'click', chrome(100 + index), {
      address,
      headers: LANGUAGE,
      after: 30 + index * 400,
    }),
  ),
  ...GATEWAYS.slice(0, 6).map(([name, address]) =>
    machine(`${name} loads the image, as a browser`, 'open', chrome(120), { address, headers: LANGUAGE }),
  ),
  ...PREFETCHES.map(([name, headers]) => machine(name, 'click', chrome(138), { headers })),
  machine('a HEAD request of a browser', 'click', chrome(138), { method: 'HEAD', headers: LANGUAGE }),
  machine('a HEAD request for the image', 'open', firefox(140), { method: 'HEAD' }),
  machine('Apple Mail Privacy Protection', 'open', 'Mozilla/5.0', { after: 3 }),
  machine('Apple Mail Privacy Protection, later', 'open', 'Mozilla/5.0', { after: 7_000, address: '104.28.90.12' }),
  machine('Yahoo Mail', 'open', 'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html', {
    after: 2,
  }),
  machine(
    'Gmail, ahead',
    'open',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
    { address: '66.249.93.12' },
  ),
  machine('a gateway that follows one link before the email is in the mailbox', 'click', chrome(120), {
    after: 0.3,
    headers: LANGUAGE,
  }),
  machine('a gateway that follows a link while the email is accepted', 'click', chrome(121), {
    after: -0.8,
    headers: LANGUAGE,
  }),
  machine('a gateway that follows all links at once', 'click', chrome(119), {
    after: 6,
    headers: LANGUAGE,
    links: 7,
    gap: 0.1,
  }),
  machine('a gateway that follows two links a second apart', 'click', chrome(118), {
    after: 40,
    headers: LANGUAGE,
    links: 2,
    gap: 1,
  }),
  machine('a gateway that renders link after link', 'click', chrome(117), {
    after: 2,
    headers: LANGUAGE,
    links: 3,
    gap: 3,
  }),
  machine('a gateway without a language', 'click', chrome(116), { after: 4 }),
  machine('a gateway in a data centre', 'click', chrome(115), { after: 5, headers: LANGUAGE, address: '52.14.8.3' }),
  machine('a gateway in a data centre, later, without a language', 'click', chrome(114), {
    after: 600,
    address: '20.75.3.9',
  }),
  machine('a gateway that follows the hidden link', 'click', chrome(113), {
    after: 90,
    headers: LANGUAGE,
    hidden: true,
  }),
  machine('a gateway that renders the email and follows the hidden link', 'open', chrome(112), {
    after: 90,
    headers: LANGUAGE,
    hidden: true,
  }),
  machine('Office, before it opens a link', 'click', 'Microsoft Office Existence Discovery'),
  machine('a client without a name', 'click', ''),
];
