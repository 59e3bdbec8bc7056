/** Whether an email was opened, or one of its links was followed. */
export type EngagementKind = 'open' | 'click';

/** A program that gives its name in `User-Agent`. */
export interface MachineAgent {
  name: string;
  patterns: readonly RegExp[];
  /** The kind of request that it makes without a person; both when left out. */
  only?: EngagementKind;
  /** It loads images before, or whether or not, somebody reads the email. */
  isMailProxy?: boolean;
  /** Its requests were never counted, not even in the counters of all opens and clicks. */
  isIgnored?: boolean;
  /** Where the fact is from. */
  source: string;
}

/** Networks of one owner. */
export interface MachineNetwork {
  name: string;
  /** In CIDR notation, separated by spaces. */
  ranges: string;
  /** The kind of request that comes from there without a person; both when left out. */
  only?: EngagementKind;
  source: string;
}

const OWN_NAME = 'the name of the product in its own User-Agent';
const LIBRARY = 'the default User-Agent of the library, in its documentation';
const ADOBE =
  'https://experienceleague.adobe.com/en/docs/marketo/using/product-docs/administration/email-setup/filtering-email-bot-activity';
const GOOGLE_CRAWLERS = 'https://developers.google.com/search/docs/crawling-indexing/overview-google-crawlers';

/**
 * Facts about user agents. What fetches when a person opens an email is not among them: the image proxies of Gmail and
 * other web mail, mail programs, browsers inside apps. An ignored one counts before another that fits, too.
 */
export const MACHINE_AGENTS: readonly MachineAgent[] = [
  // Mail proxies that load images ahead.
  {
    name: 'Apple Mail Privacy Protection',
    patterns: [/^Mozilla\/5\.0$/],
    only: 'open',
    isMailProxy: true,
    isIgnored: true,
    source: 'https://github.com/ua-parser/uap-core/issues/509',
  },
  {
    name: 'Yahoo Mail and AOL Mail',
    patterns: [/YahooMailProxy|YahooCacheSystem/],
    isMailProxy: true,
    source: 'https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  },
  {
    name: 'Gmail, before it shows an email',
    patterns: [/Chrome\/42\.0\.2311\.135 Safari\/537\.36 Edge\/12\.246 Mozilla\/5\.0$/],
    only: 'open',
    isMailProxy: true,
    source: 'https://www.sparkpost.com/blog/gmail-prefetching-images/',
  },

  // Security gateways.
  { name: 'Barracuda', patterns: [/barracuda/i], isIgnored: true, source: OWN_NAME },
  { name: 'Mimecast', patterns: [/mimecast/i], isIgnored: true, source: OWN_NAME },
  { name: 'Proofpoint', patterns: [/proofpoint/i], isIgnored: true, source: OWN_NAME },
  { name: 'Cisco Secure Email', patterns: [/ironport/i], isIgnored: true, source: OWN_NAME },
  { name: 'Cisco Secure Email', patterns: [/CiscoSecureEmail|Cisco-?Talos/i], source: OWN_NAME },
  { name: 'Symantec', patterns: [/messagelabs|symantec/i], isIgnored: true, source: OWN_NAME },
  { name: 'FireEye', patterns: [/fireeye/i], isIgnored: true, source: OWN_NAME },
  { name: 'Trend Micro', patterns: [/trendmicro/i], isIgnored: true, source: OWN_NAME },
  { name: 'Trend Micro', patterns: [/\bTMES\b|\bTMUFE\b/], source: OWN_NAME },
  { name: 'Sophos', patterns: [/sophos/i], isIgnored: true, source: OWN_NAME },
  { name: 'Bitdefender', patterns: [/bitdefender/i], isIgnored: true, source: OWN_NAME },
  { name: 'Forcepoint', patterns: [/forcepoint/i], isIgnored: true, source: OWN_NAME },
  { name: 'Zscaler', patterns: [/zscaler/i], isIgnored: true, source: OWN_NAME },
  { name: 'Microsoft Defender Safe Links', patterns: [/safelinks/i], isIgnored: true, source: OWN_NAME },
  { name: 'urlscan.io', patterns: [/urlscan/i], isIgnored: true, source: OWN_NAME },
  { name: 'VirusTotal', patterns: [/virustotal/i], isIgnored: true, source: OWN_NAME },
  {
    name: 'other scanners',
    patterns: [
      /fortiguard|fortimail|vadesecure|vade ?retro|cloudmark|trellix|hornetsecurity|spamtitan/i,
      /avanan|ironscales|area1security|paloalto|cortex-?xpanse|censysinspect|zgrab|phishtank/i,
      /netcraft/i,
    ],
    source: OWN_NAME,
  },

  // Link previews.
  { name: 'Slack', patterns: [/slackbot|slack-imgproxy/i], isIgnored: true, source: 'https://api.slack.com/robots' },
  { name: 'X', patterns: [/twitterbot/i], isIgnored: true, source: OWN_NAME },
  { name: 'LinkedIn', patterns: [/linkedinbot/i], isIgnored: true, source: OWN_NAME },
  {
    name: 'Facebook and iMessage',
    patterns: [/facebookexternalhit/i],
    isIgnored: true,
    source: 'https://developers.facebook.com/docs/sharing/webmasters/web-crawlers/',
  },
  {
    name: 'Facebook',
    patterns: [/facebookcatalog|facebot|meta-externalagent|meta-externalfetcher/i],
    source: 'https://developers.facebook.com/docs/sharing/webmasters/web-crawlers/',
  },
  { name: 'Discord', patterns: [/discordbot/i], isIgnored: true, source: OWN_NAME },
  { name: 'Telegram', patterns: [/telegrambot/i], isIgnored: true, source: OWN_NAME },
  {
    name: 'WhatsApp',
    patterns: [/whatsapp/i],
    isIgnored: true,
    source: 'https://developers.facebook.com/docs/whatsapp/link-previews/',
  },
  { name: 'Skype and Teams', patterns: [/skypeuripreview|microsoftpreview/i], isIgnored: true, source: OWN_NAME },
  {
    name: 'Bing',
    patterns: [/bingpreview|bingbot/i],
    isIgnored: true,
    source: 'https://www.bing.com/webmasters/help/which-crawlers-does-bing-use-8c184ec0',
  },
  {
    name: 'other previews',
    patterns: [
      /pinterest\/0\.|redditbot|viber\b.*preview|vkshare|embedly|iframely|snapchat url preview/i,
      /google web preview|mattermost-bot|zulipurlpreview|synapse|mastodon\/|line-poker/i,
      /kakaotalk-scrap/i,
    ],
    source: OWN_NAME,
  },
  {
    name: 'Office, before it opens a link',
    patterns: [/Microsoft Office (?:Existence|Protocol) Discovery|\bMSOffice\b|ms-office/i],
    only: 'click',
    source:
      'https://learn.microsoft.com/en-us/office/troubleshoot/office-suite-issues/office-document-hyperlinks-redirect',
  },

  // Crawlers and checkers.
  { name: 'Googlebot', patterns: [/googlebot/i], isIgnored: true, source: GOOGLE_CRAWLERS },
  { name: 'Yandex', patterns: [/yandexbot/i], isIgnored: true, source: 'https://yandex.com/bots' },
  { name: 'crawlers', patterns: [/crawler|spider/i], isIgnored: true, source: 'a word that only crawlers use' },
  {
    name: 'Google checks',
    patterns: [
      /google-safety|google-read-aloud|google-inspectiontool|googleother/i,
      /google-site-verification|feedfetcher-google|mediapartners-google|adsbot-google/i,
      /apis-google|google-pagerenderer|appengine-google|chrome-lighthouse|google favicon/i,
      /storebot-google/i,
    ],
    source: GOOGLE_CRAWLERS,
  },
  {
    name: 'bots',
    patterns: [/(?<!cu)bot(?![a-z])/i],
    source: 'a word that only bots use, but for the phones of CUBOT',
  },
  {
    name: 'link checkers and monitors',
    patterns: [
      /link-?check|linkwalker|w3c[-_ ](?:link|check|valid)|w3c_validator|xenu link|dead-?link/i,
      /broken-?link|httrack|screaming frog|siteimprove|pingdom|uptime|statuscake|gtmetrix/i,
      /newrelicpinger|site24x7|datadog|checkly|nagios|check_http|monitis|url-?checker|url-?scan/i,
    ],
    source: OWN_NAME,
  },
  { name: 'archives', patterns: [/ia_archiver|archive\.org|heritrix|nutch|ccbot|commoncrawl/i], source: OWN_NAME },

  // Browsers without a screen.
  {
    name: 'headless browsers',
    patterns: [
      /headless|phantomjs|slimerjs|puppeteer|playwright|selenium|webdriver|cypress\/|splash\b/i,
      /htmlunit|zombie\.js|jsdom|prerender/i,
    ],
    source: LIBRARY,
  },

  // HTTP libraries. Apps for mail load images with some of them, when a person reads.
  {
    name: 'libraries of apps',
    patterns: [/okhttp|cfnetwork|dalvik|alamofire|volley\/|dart[:/]|urlsession|libcurl|winhttp|wininet/i],
    only: 'click',
    source: LIBRARY,
  },
  {
    name: 'HTTP libraries',
    patterns: [
      /^curl\/|^wget|^aria2|powershell|postmanruntime|insomnia|httpie/i,
      /python|aiohttp|httpx\/|urllib|scrapy/i,
      /go-http-client|^go[ /]|fasthttp|colly/i,
      /^java\/|java-http-client|apache-?httpclient|^jakarta|jetty|reactornetty|vert\.x|^jsoup/i,
      /axios|node-fetch|^undici|^node\b|^got\b|superagent|^request\b|needle\/|^deno\/|^bun\//i,
      /^ruby|faraday|typhoeus|httparty|mechanize|rest-client|http_request/i,
      /^php|guzzle|symfony httpclient|^pecl|wordpress\//i,
      /libwww-perl|lwp[-:]|^perl|^rust|reqwest|^hyper\/|^ureq|^isahc|restsharp|^\.net/i,
      /hackney|^erlang|elixir|^mint\/|lua-resty|^nmap|masscan|nuclei/i,
    ],
    source: LIBRARY,
  },
  {
    name: 'a client that hides its name',
    patterns: [/^(?:Mozilla\/[45]\.0|-|null|undefined|unknown|test)?$/i],
    only: 'click',
    source: 'RFC 9110 section 10.1.5: a user agent should send its name, and every browser does',
  },
];

/** Networks, in November 2026, from which security gateways follow links and load images. No person browses there. */
export const SCANNER_NETWORKS: readonly MachineNetwork[] = [
  {
    name: 'Microsoft Defender and Exchange Online Protection',
    ranges: '40.92.0.0/15 40.94.0.0/16 40.107.0.0/16 52.100.0.0/14 104.47.0.0/17 2a01:111:f400::/48 2a01:111:f403::/48',
    source: `https://learn.microsoft.com/en-us/microsoft-365/enterprise/urls-and-ip-address-ranges (Exchange Online, port 25); 40.94.0.0/16: ${ADOBE} and https://github.com/opencollective/opencollective/issues/3656`,
  },
  {
    name: 'Barracuda',
    ranges: '64.235.144.0/20 209.222.80.0/21',
    source: `https://campus.barracuda.com/product/emailgatewaydefense/doc/96023004/; 64.235.144.0/20: https://rdap.arin.net/registry/ip/64.235.144.0 and ${ADOBE}`,
  },
  {
    name: 'Mimecast',
    ranges:
      '41.74.192.0/21 41.74.200.0/22 41.74.204.0/23 41.74.206.0/24 51.163.158.0/24 62.140.7.0/24 63.128.21.0/24 ' +
      '91.220.42.0/24 103.13.69.0/24 103.96.21.0/24 103.96.22.0/23 124.47.150.0/24 124.47.189.0/24 146.101.78.0/24 ' +
      '147.28.36.0/24 170.10.128.0/23 170.10.133.0/24 170.10.156.0/23 180.189.28.0/24 185.58.85.0/24 ' +
      '185.58.86.0/24 193.7.206.0/25 193.7.207.0/25 194.104.109.0/24 194.104.110.0/23 195.130.217.0/24 ' +
      '205.139.110.0/24 207.82.80.0/24 207.211.30.0/24 207.211.31.0/25 213.167.75.0/25 213.167.81.0/25 ' +
      '216.145.217.0/24 216.145.221.0/24 216.205.24.0/24',
    source:
      'the SPF record _netblocks.mimecast.com, https://mimecastsupport.zendesk.com/hc/en-us (Data Centers and URLs)',
  },
  {
    name: 'Proofpoint, with Cloudmark',
    ranges:
      '62.209.50.0/24 67.231.144.0/20 91.207.212.0/23 91.209.104.0/24 148.163.128.0/19 185.132.180.0/22 ' +
      '185.183.28.0/22 205.220.172.0/22 205.220.176.0/21 205.220.184.0/23 205.220.187.0/24 208.83.136.0/22 ' +
      '208.84.64.0/22 208.86.200.0/22',
    source:
      'https://proofpoint.my.site.com/support/PPSup_SupportInfo, and what its networks announce: https://stat.ripe.net/AS22843, AS26211, AS52129, AS13916',
  },
  {
    name: 'Cisco Secure Email',
    ranges: '68.232.128.0/19 139.138.32.0/19 184.94.240.0/20 216.71.128.0/19',
    source:
      'what its network announces, https://stat.ripe.net/AS30238, and the servers *.iphmx.com of its customers, for example https://lore.kernel.org/all/?q=iphmx.com',
  },
  {
    name: 'Symantec Email Security.cloud',
    ranges:
      '46.226.48.0/21 67.219.240.0/20 85.158.136.0/21 95.131.104.0/21 103.9.96.0/22 117.120.16.0/21 ' +
      '193.109.254.0/23 194.106.220.0/23 195.245.230.0/23 216.82.240.0/20',
    source:
      'the SPF record spf.messagelabs.com, https://knowledge.broadcom.com/external/article/421057/restricting-your-email-traffic.html',
  },
  {
    name: 'Trend Micro',
    ranges: '150.70.0.0/16 216.104.15.0/24',
    source:
      'https://helpcenter.trendmicro.com/en-us/article/tmka-18762, and for the addresses https://serverfault.com/questions/138240',
  },
  {
    name: 'a gateway that Adobe blocks',
    ranges: '64.74.215.0/24 65.154.226.101/32 70.42.131.106/32 74.217.90.250/32',
    source: ADOBE,
  },
  {
    name: 'Google checks of links; the image proxy of Gmail, which is a person, comes from there too',
    ranges: '66.102.0.0/20 66.249.64.0/19 72.14.199.0/24 74.125.208.0/20 192.178.4.0/22 2001:4860:4801::/48',
    only: 'click',
    source:
      'https://developers.google.com/search/apis/ipranges/googlebot.json, special-crawlers.json and user-triggered-fetchers-google.json',
  },
];

/**
 * Large networks of data centres, in November 2026. Some people come from there (a VPN, the proxy of a company), so this
 * is a hint that needs another one.
 */
export const HOSTING_NETWORKS: readonly MachineNetwork[] = [
  {
    name: 'Amazon Web Services',
    ranges:
      '3.0.0.0/9 3.128.0.0/9 13.52.0.0/14 13.56.0.0/14 13.208.0.0/12 13.224.0.0/12 15.152.0.0/13 ' +
      '15.160.0.0/12 16.16.0.0/14 18.128.0.0/9 34.192.0.0/10 35.152.0.0/13 35.160.0.0/12 35.176.0.0/13 ' +
      '44.192.0.0/10 50.16.0.0/14 50.112.0.0/16 52.0.0.0/10 52.64.0.0/12 54.64.0.0/11 54.144.0.0/12 ' +
      '54.160.0.0/11 54.192.0.0/12 54.208.0.0/13 54.216.0.0/14 54.220.0.0/15 54.224.0.0/11 100.20.0.0/14 ' +
      '107.20.0.0/14 174.129.0.0/16 184.72.0.0/15',
    source: 'https://ip-ranges.amazonaws.com/ip-ranges.json, the large blocks',
  },
  {
    name: 'Microsoft Azure',
    ranges:
      '4.144.0.0/12 13.64.0.0/11 13.104.0.0/14 20.33.0.0/16 20.36.0.0/14 20.40.0.0/13 20.48.0.0/12 ' +
      '20.64.0.0/10 20.128.0.0/16 20.150.0.0/15 20.160.0.0/12 20.184.0.0/13 20.192.0.0/10 23.96.0.0/13 ' +
      '40.64.0.0/10 51.104.0.0/15 51.116.0.0/16 51.120.0.0/16 51.124.0.0/16 51.132.0.0/16 51.136.0.0/15 ' +
      '51.140.0.0/14 52.136.0.0/13 52.145.0.0/16 52.146.0.0/15 52.148.0.0/14 52.152.0.0/13 52.160.0.0/11 ' +
      '52.224.0.0/11 65.52.0.0/14 70.37.0.0/17 72.144.0.0/12 104.40.0.0/13 104.208.0.0/13 128.85.0.0/16 ' +
      '137.116.0.0/15 168.61.0.0/16 168.62.0.0/15 172.160.0.0/11 191.232.0.0/13',
    source: 'https://www.microsoft.com/en-us/download/details.aspx?id=56519, the large blocks',
  },
  {
    name: 'Google Cloud',
    ranges:
      '34.64.0.0/10 34.128.0.0/10 35.184.0.0/13 35.192.0.0/12 35.208.0.0/12 35.224.0.0/12 35.240.0.0/13 ' +
      '104.154.0.0/15 104.196.0.0/14 130.211.0.0/16 146.148.0.0/17',
    source: 'https://www.gstatic.com/ipranges/cloud.json, the large blocks',
  },
  {
    name: 'DigitalOcean',
    ranges:
      '64.225.0.0/16 104.131.0.0/16 104.236.0.0/16 134.209.0.0/16 138.68.0.0/16 138.197.0.0/16 ' +
      '139.59.0.0/16 142.93.0.0/16 157.230.0.0/16 159.65.0.0/16 159.89.0.0/16 159.203.0.0/16 161.35.0.0/16 ' +
      '165.22.0.0/16 165.227.0.0/16 167.71.0.0/16 167.99.0.0/16 178.62.0.0/16 188.166.0.0/16 206.189.0.0/16',
    source: 'https://digitalocean.com/geo/google.csv, the large blocks',
  },
  {
    name: 'Hetzner',
    ranges:
      '5.9.0.0/16 65.108.0.0/15 78.46.0.0/15 88.99.0.0/16 95.216.0.0/15 116.202.0.0/15 135.181.0.0/16 ' +
      '136.243.0.0/16 138.201.0.0/16 144.76.0.0/16 148.251.0.0/16 157.90.0.0/16 159.69.0.0/16 ' +
      '168.119.0.0/16 176.9.0.0/16 188.40.0.0/16 195.201.0.0/16 213.239.192.0/18',
    source: 'https://stat.ripe.net/AS24940, the large blocks',
  },
  {
    name: 'OVH',
    ranges:
      '51.68.0.0/16 51.75.0.0/16 51.77.0.0/16 51.79.0.0/16 51.83.0.0/16 51.89.0.0/16 51.91.0.0/16 ' +
      '51.195.0.0/16 51.210.0.0/16 54.36.0.0/14 91.121.0.0/16 137.74.0.0/16 145.239.0.0/16 147.135.0.0/16 ' +
      '149.56.0.0/16 151.80.0.0/16 158.69.0.0/16 164.132.0.0/16 167.114.0.0/16 178.32.0.0/15 188.165.0.0/16 ' +
      '192.99.0.0/16 198.27.64.0/18',
    source: 'https://stat.ripe.net/AS16276, the large blocks',
  },
];
