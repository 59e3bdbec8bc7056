import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

/** Domains of personal mailboxes. The list is short, because a wrong entry marks a company's address as personal. */
const MAILBOX_PROVIDERS: ReadonlySet<string> = new Set([
  ...['gmail.com', 'googlemail.com', 'icloud.com', 'me.com', 'mac.com', 'msn.com', 'passport.com', 'ymail.com'],
  ...['rocketmail.com', 'aim.com', 'mail.com', 'email.com', 'zoho.com', 'zohomail.com', 'zohomail.eu', 'hey.com'],
  ...['fastmail.com', 'fastmail.fm', 'hushmail.com', 'inbox.com', 'lycos.com', 'gmx.com', 'gmx.net', 'gmx.de'],
  ...['gmx.at', 'gmx.ch', 'gmx.us', 'gmx.fr', 'gmx.es', 'gmx.co.uk', 'web.de', 't-online.de', 'freenet.de', 'arcor.de'],
  ...[
    'online.de',
    '1und1.de',
    'posteo.de',
    'posteo.net',
    'mailbox.org',
    'mail.de',
    'email.de',
    'vodafone.de',
    'aon.at',
  ],
  ...['chello.at', 'bluewin.ch', 'hispeed.ch', 'sunrise.ch', 'proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'],
  ...[
    'tuta.com',
    'tuta.io',
    'tutanota.com',
    'tutanota.de',
    'tutamail.com',
    'keemail.me',
    'startmail.com',
    'runbox.com',
  ],
  ...['disroot.org', 'riseup.net', 'orange.fr', 'wanadoo.fr', 'free.fr', 'sfr.fr', 'neuf.fr', 'laposte.net', 'bbox.fr'],
  ...['numericable.fr', 'aliceadsl.fr', 'club-internet.fr', 'libero.it', 'virgilio.it', 'alice.it', 'tin.it', 'tim.it'],
  ...['tiscali.it', 'inwind.it', 'iol.it', 'telefonica.net', 'terra.es', 'movistar.es', 'ya.com', 'sapo.pt', 'iol.pt'],
  ...['telenet.be', 'skynet.be', 'proximus.be', 'scarlet.be', 'ziggo.nl', 'kpnmail.nl', 'kpnplanet.nl', 'planet.nl'],
  ...['home.nl', 'xs4all.nl', 'hetnet.nl', 'upcmail.nl', 'casema.nl', 'quicknet.nl', 'zonnet.nl', 'telfort.nl'],
  ...[
    'btinternet.com',
    'virginmedia.com',
    'ntlworld.com',
    'blueyonder.co.uk',
    'sky.com',
    'talktalk.net',
    'tiscali.co.uk',
  ],
  ...[
    'eircom.net',
    'telia.com',
    'online.no',
    'mail.dk',
    'jubii.dk',
    'wp.pl',
    'o2.pl',
    'onet.pl',
    'interia.pl',
    'op.pl',
  ],
  ...[
    'poczta.fm',
    'seznam.cz',
    'centrum.cz',
    'email.cz',
    'post.cz',
    'azet.sk',
    'centrum.sk',
    'freemail.hu',
    'citromail.hu',
  ],
  ...['abv.bg', 'mail.bg', 'ukr.net', 'i.ua', 'meta.ua', 'mail.ru', 'bk.ru', 'inbox.ru', 'list.ru', 'internet.ru'],
  ...['yandex.ru', 'yandex.com', 'yandex.kz', 'yandex.by', 'yandex.ua', 'ya.ru', 'rambler.ru', 'qq.com', 'foxmail.com'],
  ...['163.com', '126.com', 'yeah.net', 'sina.com', 'sina.cn', 'sohu.com', 'aliyun.com', 'naver.com', 'hanmail.net'],
  ...[
    'daum.net',
    'nate.com',
    'docomo.ne.jp',
    'ezweb.ne.jp',
    'softbank.ne.jp',
    'rediffmail.com',
    'uol.com.br',
    'bol.com.br',
  ],
  ...[
    'terra.com.br',
    'ig.com.br',
    'globo.com',
    'comcast.net',
    'verizon.net',
    'att.net',
    'sbcglobal.net',
    'bellsouth.net',
  ],
  ...['cox.net', 'charter.net', 'earthlink.net', 'juno.com', 'optonline.net', 'frontier.com', 'windstream.net'],
  ...[
    'rogers.com',
    'shaw.ca',
    'sympatico.ca',
    'telus.net',
    'videotron.ca',
    'bigpond.com',
    'optusnet.com.au',
    'xtra.co.nz',
  ],
]);

/** Providers with a domain in every country, such as yahoo.co.uk and hotmail.fr. */
const WORLDWIDE_PROVIDER = /^(?:yahoo|hotmail|outlook|live|aol)\.(?:com|(?:com?\.)?[a-z]{2})$/;

/** Services that forward mail to a hidden mailbox. Some give each user a subdomain. */
const FORWARDING_SERVICES: ReadonlySet<string> = new Set([
  ...['privaterelay.appleid.com', 'mozmail.com', 'duck.com', 'simplelogin.com', 'simplelogin.co', 'simplelogin.fr'],
  ...['simplelogin.io', 'aleeas.com', 'slmail.me', 'slmails.com', '8alias.com', '8shield.net', 'dralias.com'],
  ...[
    'passmail.com',
    'passmail.net',
    'passinbox.com',
    'passfwd.com',
    'anonaddy.com',
    'anonaddy.me',
    'addy.io',
    'addymail.com',
  ],
  ...[
    '33mail.com',
    'opayq.com',
    'cloak.id',
    'erine.email',
    'use.startmail.com',
    'forwardemail.net',
    'relay.firefox.com',
  ],
]);

/** Whether a list has a domain, or a domain above it that has at least two labels. */
function covers(list: ReadonlySet<string>, domain: string): boolean {
  const labels = domain.split('.');
  return labels.slice(0, -1).some((_, index) => list.has(labels.slice(index).join('.')));
}

/** Creates the lookups of mailbox services by domain, in ASCII and lower case. */
export function createMailboxServices() {
  const disposable = disposableEmailBlocklistSet();
  const isForwarding = (domain: string): boolean => covers(FORWARDING_SERVICES, domain);
  return {
    isPersonal: (domain: string) => MAILBOX_PROVIDERS.has(domain) || WORLDWIDE_PROVIDER.test(domain),
    isForwarding,
    // Lists of disposable domains contain some forwarding services, whose addresses belong to one person.
    isDisposable: (domain: string) => covers(disposable, domain) && !isForwarding(domain),
  };
}
