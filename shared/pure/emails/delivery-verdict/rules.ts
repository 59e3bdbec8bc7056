import type { RefusalKind, RefusalStage } from './judge-refusal.ts';

/** One way servers refuse. What is given must match, all of it; texts are in lower case, without addresses and codes. */
export interface RefusalRule {
  id: string;
  kind: RefusalKind;
  /** Who says so: the RFC, the software or the provider. */
  source: string;
  stages?: readonly RefusalStage[];
  code?: RegExp;
  enhanced?: RegExp;
  words?: RegExp;
  /** The same message will be refused again, whatever happens meanwhile. */
  isFinal?: true;
}

/** Joins alternatives, so that a rule can be read line by line. */
function anyOf(...alternatives: RegExp[]): RegExp {
  return new RegExp(alternatives.map((each) => each.source).join('|'));
}

const AFTER_SENDER: readonly RefusalStage[] = ['rcpt', 'data', 'report'];

const SPAM =
  /\b(?:spam|junk|bulk)(?!-?(?:cop|haus))|\bube\b|\buce\b|phish|spoof|classified as|content (?:filter|reject|restrict|not (?:allowed|accept))|objectionable|bad content|(?:message|mail) (?:content )?(?:was |has been )?(?:filtered|rejected by (?:the )?(?:content|filter))/;

const TEMPORARY: RefusalRule[] = [
  { id: 'transient-reply', kind: 'temporary', source: 'RFC 5321 section 4.2.1', code: /^4/ },
  { id: 'transient-status', kind: 'temporary', source: 'RFC 3463 section 2', enhanced: /^4\./ },
  {
    id: 'mailbox-full',
    kind: 'temporary',
    source: 'RFC 3463 section 3.3 (X.2.2), in the words of Gmail, Exchange, Dovecot, qmail and others',
    words: anyOf(
      /over ?-?quota|overquotaperm|over (?:\w+ )?(?:storage|disk) (?:quota|limit)|over storage quota/,
      /quota (?:is |has been |was )?(?:exceeded|full|reached|exhausted)|(?:exceed\w*|beyond|out of) (?:\w+ ){0,3}quota/,
      /(?:mail ?box|inbox|mail ?folder|maildir|account)(?: for \w+)? (?:is |has |was )?(?:already )?(?:full|over\w* (?:its|the) (?:limit|size))/,
      /mailbox (?:size )?(?:limit )?(?:is |has been )?exceed|exceed\w* (?:\w+ ){0,3}(?:mailbox|storage|disk|space)/,
      /(?:exhausted|exceeded|ran out of|out of|not enough|no|insufficient) (?:\w+ ){0,3}(?:storage|disk|space)\b/,
      /too many messages (?:on|in)|exceeded storage allocation|insufficient system storage/,
      /speicher(?:platz|volumen)|postfach (?:ist )?voll|zuviele mails|boite (?:aux lettres )?pleine|boîte pleine|casella piena|buz[oó]n lleno/,
    ),
  },
  {
    id: 'mailbox-full-status',
    kind: 'temporary',
    source: 'RFC 3463 section 3.3',
    enhanced: /^5\.2\.2$/,
  },
  {
    id: 'recipient-rate',
    kind: 'temporary',
    source: 'Gmail (ReceivingRate), Yahoo',
    words: /receiving (?:e-?mail|mail|messages) (?:at a rate|too)|receivingrate/,
  },
  {
    id: 'passing-fault',
    kind: 'temporary',
    source: 'Postfix, Exim, Exchange',
    words: anyOf(
      /(?<!not )(?<!not a )temporar(?:y|ily)|try(?:ing)? again (?:later|in|after)|(?:re)?try (?:it |back )?later|later time/,
      /gr[ae]y-?list|too many (?:concurrent )?connections|too busy|overloaded|slow down|throttl/,
      /internal (?:system |server )?error|system (?:is )?not accepting|local (?:system )?error|resources temporarily/,
      /(?:account|mailbox|user) (?:has been |is )?(?:suspended|locked|on hold)/,
      /(?:connection|operation|delivery) (?:\w+ )?(?:timed out|timeout|expired)|delivery time expired|retry (?:time|timeout) (?:not reached|exceeded)/,
    ),
  },
];

const SENDER: RefusalRule[] = [
  {
    id: 'too-large',
    kind: 'sender',
    isFinal: true,
    source: 'RFC 3463 sections 3.3 (X.2.3) and 3.4 (X.3.4), RFC 1870',
    words: anyOf(
      /(?:message|mail|e-?mail|attachment|body|header)s? (?:size |is |length )*(?:exceed\w*|too (?:large|big|long))/,
      /message (?:\w+ ){0,3}size (?:limit|exceed)|maximum (?:message )?size|size limits? (?:is )?exceed|maxsizeerror/,
    ),
  },
  { id: 'too-large-status', kind: 'sender', isFinal: true, source: 'RFC 3463', enhanced: /^5\.(?:2\.3|3\.4)$/ },
  {
    id: 'listed',
    kind: 'sender',
    source: 'Postfix reject_rbl_client, Spamhaus, Barracuda, SpamCop, Proofpoint, Microsoft',
    words: anyOf(
      /block(?:ed)?[- ]?list|black[- ]?list|deny[- ]?list|\b(?:dns|uri|s|x)bl\b|\brbl\b|\bcbl\b|(?<!not )listed (?:in|by|on|at)|dnsbl/,
      /spamhaus|spamcop|sorbs|barracuda ?central|senderbase|cloudmark|invaluement|uceprotect/,
      /\b(?:ip|host|address|client|server|network|domain|sender|message|mail|envelope|e-?mails?)(?: \w+){0,3} (?:\[?[\d.:a-f]+\]? )?(?:is |has been |was |been |are )*(?:blocked|banned|blacklisted|barred)/,
      /^blocked\b|blocked by|blocked (?:due|because|for|using)|customer block|banned/,
      /(?:host|network|ip|client|server)(?: \w+){0,2} (?:is )?not (?:allowed|permitted|authori[sz]ed|accepted)/,
      /no smtp service|not welcome|firewall|access list/,
    ),
  },
  {
    id: 'reputation',
    kind: 'sender',
    source: 'Gmail, Cisco Talos, Mimecast, Yahoo (TSS)',
    words:
      /reputation|suspicious|permanently deferred|unsolicited|poor (?:sender )?score|abus(?:e|ive)\b(?! desk)|user complaints|unusual rate/,
  },
  {
    id: 'spam-content',
    kind: 'sender',
    isFinal: true,
    source: 'SpamAssassin, Mail.ru, Zoho, T-Online: behind the content it is this message that is meant',
    stages: ['data', 'report'],
    words: SPAM,
  },
  { id: 'spam', kind: 'sender', source: 'the same before the content, when we are meant', words: SPAM },
  {
    id: 'malware',
    kind: 'sender',
    isFinal: true,
    source: 'ClamAV, Exim, Postfix',
    words:
      /(?:contains?|infected|found|detected)(?: \w+){0,4} (?:virus|malware|trojan)|(?:virus|malware)(?: \w+){0,2} (?:found|detected)|executable (?:content|attachment)|(?:attachment|file) (?:type|extension)/,
  },
  {
    id: 'authentication',
    kind: 'sender',
    source: 'RFC 7208 (SPF), RFC 6376 (DKIM), RFC 7489 (DMARC), RFC 7372, in the words of Gmail, Microsoft, Yandex',
    words: anyOf(
      /\bspf\b|sender policy framework|\bdkim\b|domainkeys|\bdmarc\b|\barc\b seal/,
      /unauthenticated|authenticat(?:e|ed|ion)\b|\bauth(?:orization)? required|login required|must (?:log ?in|issue a starttls)|not logged in/,
      /not (?:allowed|authori[sz]ed|permitted) to (?:send|use)|anonymous mail|encryption (?:is )?required|requires? tls/,
    ),
  },
  {
    id: 'sending-host',
    kind: 'sender',
    source: 'Exim, Postfix, GMX, Mail.ru',
    words: anyOf(
      /\bptr\b|reverse (?:dns|lookup|hostname)|\brdns\b|dynamic ip|generic (?:dns|ptr|host)|dynamically assigned|residential/,
      /\b(?:helo|ehlo)\b|fully[- ]qualified|cannot find your (?:reverse )?hostname|client host rejected/,
    ),
  },
  {
    id: 'relaying',
    kind: 'sender',
    source: 'Sendmail, Postfix, Exim, Exchange',
    words:
      /\brelay(?:ing)?\b(?! recipient table)(?!\s*recipient)|not (?:a )?local (?:domain|recipient)|rcpthosts|tenantattribution|not configured to (?:accept|handle)/,
  },
  {
    id: 'sender-address',
    kind: 'sender',
    source: 'Postfix, Exim, qmail, Gmail, Amazon SES, Orange',
    words: anyOf(
      /\b(?:sender|from|return[- ]path|mail ?from|originator|expéditeur|emetteur|absender)\b(?: \w+){0,4} (?:is |was |has been |be |must |could )*(?:not |un|in)(?:valid|verified|verif|known|allowed|exist|accept|resolv|authori|registered|permitted)/,
      /\b(?:sender|mail ?from|envelope sender|from address|return[- ]path|from domain)\b[^.]{0,40}(?:rejected|refused|denied|invalid|unknown|must exist|does(?: not|n't) (?:exist|resolve)|do(?:es)? not match|verif\w+ fail|not valid|invalide|domain not found)/,
      /(?:invalid|unknown|bad|unverified|illegal|missing) (?:sender|from\b|mail ?from|return[- ]path)|sender (?:verify|verification|callout)|address is not verified|identities failed/,
    ),
  },
  {
    id: 'sending-rate',
    kind: 'sender',
    source: 'Gmail, Outlook, GoDaddy, Amazon SES',
    words:
      /rate[- ]?limit|too many (?:recipients|messages|mails|emails|invalid|bad|unknown|errors|failed)|(?:sending|daily|hourly|message) (?:\w+ )?(?:limit|quota|rate)|sent too many|limit(?:s)? (?:\w+ )?exceeded/,
  },
  {
    id: 'policy',
    kind: 'sender',
    source: 'Yahoo, Mimecast, GMX, Microsoft',
    words:
      /polic(?:y|ies)|security (?:reason|restrict)|administrat(?:ive|ively) (?:prohibit|den|reject|reason|block)|prohibited|restricted|refused by (?:the )?(?:recipient|user|filter)|rejected by (?:the )?(?:recipient|user|filter|rule)|mail rejet|\bofr_?\d|not accepted for|does not accept (?:mail|messages?) from|only accepts?|allow(?:ed)? senders?|resolver\.rst|moderat|violation|blocked/,
  },
];

/** The recipient's server says that there is nobody to take the mail. */
const HARD: RefusalRule[] = [
  {
    id: 'no-such-user',
    kind: 'hard',
    source: 'RFC 3463 section 3.2, in the words of Gmail, Postfix, Exim, qmail, Exchange, Yahoo and others',
    stages: AFTER_SENDER,
    words: anyOf(
      /(?:user|recipient|mail ?box|account|address|alias|local[- ]?part|member|customer|addressee|person|name|destination)(?: \w+){0,5}? (?:is |was |are |has |been |were |be )*(?:unknown|not (?:known|found|exist|valid|registered|listed|recogni[sz]ed|here|a (?:valid|known)|our customer)|invalid|nonexistent|non-existent|undeliverable|incorrect)/,
      /(?:does|do|did) ?(?:not|n.t|no) exists?|doesn.t exist|no longer (?:exist|here|with|active|available|in use|valid|employed|accept)|not exist\b|nosuchuser/,
      /(?:unknown|invalid|illegal|no such|nonexistent|non-existent|undeliverable|unroutable|unrouteable|bad|wrong|no valid) (?:\w+ ){0,3}?(?:user|recipient|mail-? ?box|account|address|alias|local[- ]?part|person|destination|domain|name|mailhost|rcpt)/,
      /(?:sorry,? )?no (?:mail-? ?box|user|account|such|recipient|person|one|body)(?: \w+){0,3} (?:here|by that name|by this name|with that|found)|no such (?:user|person|address|mailbox|recipient|account|domain|local)/,
      /not (?:in|on) my validrcptto|not a valid (?:mailbox|recipient|user|address|account)|user \w* ?(?:not found|unknown)|(?:user|recipient) (?:does not|doesn.t) have an? |recipnotfound|recipientnotfound|recipient not found|(?:is )?not our customer|nullmx|null mx/,
      /(?:user|recipient|mailbox|account|address|\]|tenant or domain) (?:\w+ )?(?:\[[^\]]*\] )?not found|can(?:not|.t) find (?:\w+ )?(?:user|recipient|mailbox)/,
    ),
  },
  {
    id: 'no-such-user-language',
    kind: 'hard',
    source: 'web.de, La Poste, Orange, Libero, Terra, UOL',
    stages: AFTER_SENDER,
    words:
      /(?:benutzer|empf[aä]nger|adresse|postfach|konto)[^.]{0,40}(?:nicht (?:bekannt|gefunden|vorhanden)|unbekannt|existiert nicht|ung[uü]ltig)|destinataire (?:\w+ )?(?:inconnu|invalide|inexistant)|adresse (?:\w+ )?(?:inconnue|invalide|inexistante)|(?:utilisateur|compte)[^.]{0,30}(?:inconnu|n.existe pas|inexistant)|n.existe pas|nessun utente|(?:utente|indirizzo|casella)[^.]{0,30}(?:sconosciut|inesistent|non (?:esiste|trovat|valid))|no existe|(?:usuario|destinatario|buz[oó]n)[^.]{0,30}(?:desconocido|inexistente|inv[aá]lido)|n[aã]o existe|usu[aá]rio (?:desconhecido|inexistente|inv[aá]lido)|onbekend|bestaat niet|存在しません|見つかりません|不存在|不正确|сущест\w* не|не (?:найден|существует)/,
  },
  {
    id: 'closed-account',
    kind: 'hard',
    source: 'Gmail (DisabledUser), Yahoo, GMX, RFC 3463 section 3.3 (X.2.1)',
    stages: AFTER_SENDER,
    words:
      /(?:user|recipient|mail ?box|account|address)(?: \w+){0,8}? (?:is |was |are |has |been |have )*(?:disabled|deactivated|inactive|not active|discontinued|deleted|closed|terminated|expired|removed|cancell?ed|dormant|abandoned|retired)|disableduser|(?:inactive|disabled|deactivated|closed|expired) (?:user|recipient|mailbox|account|address)|has (?:moved|left)|user not local/,
  },
  {
    id: 'no-such-domain',
    kind: 'hard',
    source: 'RFC 3463 section 3.2 (X.1.2, X.1.10), RFC 7505, Sendmail, Postfix, Microsoft 365',
    stages: AFTER_SENDER,
    words:
      /(?:host|domain|site|system)(?: name)? (?:is |was )?(?:unknown|not found|invalid|nonexistent)|unknown (?:host|domain)|host or domain name not found|(?:domain|host) (?:\w+ )?(?:does not|doesn.t) (?:exist|accept (?:e-?)?mail|receive)|name service error|no (?:mx|mail (?:host|exchanger|server)|route to host)|nxdomain|unrout(?:e)?able|bad destination/,
  },
  {
    id: 'mailbox-unavailable',
    kind: 'hard',
    source: 'RFC 5321 section 4.2.3 (550), GMX, Outlook',
    stages: ['rcpt', 'report'],
    code: /^55[03]$/,
    words: /mailbox (?:is )?(?:unavailable|not available|name not allowed)/,
  },
];

/** Where the words say nothing. */
const BY_STATUS: RefusalRule[] = [
  {
    id: 'recipient-denied',
    kind: 'hard',
    source: 'Microsoft 365: 5.4.1 at RCPT is directory-based edge blocking, which refuses unknown recipients',
    stages: ['rcpt', 'report'],
    enhanced: /^5\.4\.1$/,
    words: /recipient address rejected/,
  },
  { id: 'sender-status', kind: 'sender', source: 'RFC 3463 section 3.2, RFC 7505', enhanced: /^5\.1\.(?:7|8)$/ },
  { id: 'protocol-status', kind: 'sender', source: 'RFC 3463 section 3.6', enhanced: /^5\.5\.[1-6]$/ },
  { id: 'media-status', kind: 'sender', isFinal: true, source: 'RFC 3463 section 3.7', enhanced: /^5\.6\.\d+$/ },
  { id: 'policy-status', kind: 'sender', source: 'RFC 3463 section 3.8', enhanced: /^5\.7\.\d+$/ },
  { id: 'system-status', kind: 'temporary', source: 'RFC 3463 section 3.4', enhanced: /^5\.3\.[0-35-9]\d*$/ },
  {
    id: 'address-status',
    kind: 'hard',
    source: 'RFC 3463 section 3.2, RFC 7505',
    stages: AFTER_SENDER,
    enhanced: /^5\.1\.(?:1|2|3|4|6|10)$/,
  },
  {
    id: 'disabled-status',
    kind: 'hard',
    source: 'RFC 3463 section 3.3',
    stages: AFTER_SENDER,
    enhanced: /^5\.2\.1$/,
  },
  {
    id: 'routing-status',
    kind: 'hard',
    source: 'RFC 3463 section 3.5',
    stages: AFTER_SENDER,
    enhanced: /^5\.4\.4$/,
  },
  { id: 'network-status', kind: 'temporary', source: 'RFC 3463 section 3.5', enhanced: /^5\.4\.\d+$/ },
];

/** Neither words nor a status that says anything. */
const BY_REPLY: RefusalRule[] = [
  {
    id: 'null-mx-reply',
    kind: 'hard',
    source: 'RFC 7504 section 4 (556)',
    stages: AFTER_SENDER,
    code: /^556$/,
  },
  {
    id: 'recipient-reply',
    kind: 'hard',
    source: 'RFC 5321 section 4.3.2: 550, 551 and 553 answer a recipient that is not taken',
    stages: ['rcpt'],
    code: /^55[013]$/,
    enhanced: /^$|^5\.[015]\.0$/,
  },
  { id: 'storage-reply', kind: 'temporary', source: 'RFC 5321 section 4.2.3 (552)', stages: ['rcpt'], code: /^552$/ },
];

/**
 * In order: the first that matches decides. Words of a passing fault or of a fault of ours come first, so that a
 * mixture of words never makes a refusal hard.
 */
export const REFUSAL_RULES: readonly RefusalRule[] = [...TEMPORARY, ...SENDER, ...HARD, ...BY_STATUS, ...BY_REPLY];
