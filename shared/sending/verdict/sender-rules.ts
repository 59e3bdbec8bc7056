import { anyOf, rulesOf } from './refusal-rule.ts';

const SPAM =
  /(?:\b|_)(?:spam|junk|bulk)(?!-?(?:cop|haus))|\bube\b|\buce\b|phish|spoof|impersonat|classified as|content (?:filter|reject|restrict|den(?:y|ied)|block|not (?:allowed|accept))|objectionable|bad content|(?:message|mail)(?: content)? (?:was |has been |is )?(?:filtered|rejected by (?:the )?(?:content|filter))|advertis|\b(?:dt|mi|hl|rp|dm|sc):[a-z]{2,4}\b|spamvertised|反垃圾|垃圾邮件|垃圾郵件|スパム|迷惑メール|스팸|спам|нежелательн/u;

/** Words for the sender in languages other than English. */
const SENDER_WORD =
  /absender|exp[eé]diteur|[eé]metteur|expeditor|remitente|remetente|mittent[ei]|afzender|nadawc|odes[ií]latel|felad[oó]|g[oö]nderen|avs[aä]ndar|afsender|avsender|l[aä]hett[aä]j|отправител|відправник|подател|发件人|发信人|發件人|寄件者|寄件人|差出人|送信者|送信元|발신자|보내는/
    .source;
const REFUSED_WORD =
  /nicht|un(?:g[uü]|bek|zul)|abgelehnt|gesperrt|blockiert|in(?:conn|val|v[aá]l|exist|esist)|n.existe|n.est pas|refus|rejet|rechaz|rejeit|rifiut|sconosc|desconoc|desconhec|necunosc|no (?:existe|v[aá]lid|permit)|n[aã]o|non |niet|nie|\bnu |neexist|nenalez|nezn|nem |odrzuc|d[eé]sactiv|disattiv|desativ|supprim|bloqu|bloccat|finns|findes|finnes|ikke|inte\b|\bei |bulunamad|yok|mevcut|ge[cç]ersiz|не |нет|невер|неизв|отклон|заблок|запрещ|不|拒|无|無|错|錯|找|存在し|見つか|ない|ません|않|없|거부|reject|denied|block|fail/
    .source;
const WRONG_WORD =
  /(?:unbekannt|ung[uü]ltig|falsch|unzul[aä]ssig)\S*|inconnue?|invalide|inv[aá]lid\S*|desconocid\S*|sconosciut\S*|desconhecid\S*|necunoscut\S*|nieznan\S*|nieprawid\S*|b[lł][eę]dn\S*|nezn[aá]m\S*|neplatn\S*|ok[aä]nd|ukendt|ukjent|onbekende?|ongeldige?|tuntematon|ismeretlen|ge[cç]ersiz|неверн\S*|неизвестн\S*|недопустим\S*|несуществующ\S*|невідом\S*|непознат\S*|无效的?|無效的?|错误的?|錯誤的?|不存在的?|無効な|不正な|不明な/
    .source;

/**
 * The server, or a filter of the recipient, objects to the sender or the message. Nothing is known about the address.
 */
export const SENDER_RULES = rulesOf('sender', [
  {
    id: 'too-large',
    isFinal: true,
    source: 'RFC 3463 sections 3.3 (X.2.3) and 3.4 (X.3.4), RFC 1870',
    words: anyOf(
      /(?:message|mail|e-?mail|attachment|body|header|content|file|data)s? (?:\S+ ){0,2}(?:size |is |length |was )*(?:exceed\S*|too (?:large|big|long)|larger than)/,
      /message (?:\S+ ){0,3}size (?:limit|exceed)|(?:max(?:imum)?|fixed) (?:\S+ )?(?:message )?size|size limits? (?:is |was )?exceed|exceed\S* (?:\S+ ){0,3}(?:maximum|size|limit)|maxsizeerror|recipsizelimit|too (?:large|big) (?:message|mail|to)/,
      /nachricht (?:\S+ ){0,3}zu gro(?:ß|ss)|message (?:\S+ ){0,3}trop (?:gros|volumineux)|demasiado grande|muito grande|troppo grande|слишком большо/,
    ),
  },
  {
    id: 'no-smtputf8',
    isFinal: true,
    source: 'RFC 6531 section 3.5, Postfix, Exim, Gmail',
    words: /smtputf8|(?:non-ascii|utf-?8|internationali[sz]ed) (?:\S+ )?(?:address|header|mailbox|local)/,
  },
  { id: 'no-smtputf8-status', isFinal: true, source: 'the same', enhanced: /^5\.6\.(?:[789]|10)$/ },
  { id: 'too-large-status', isFinal: true, source: 'RFC 3463', enhanced: /^5\.(?:2\.3|3\.4)$/ },
  {
    id: 'listed',
    source: 'Postfix reject_rbl_client, Spamhaus, Barracuda, SpamCop, Proofpoint, Microsoft, Trend Micro',
    words: anyOf(
      /block(?:ed)?[- _]?list|black[- ]?list|deny[- ]?list|\b(?:dns|uri|s|x|z)bl\b|\brbl\b|\bcbl\b|(?<!not )(?<!isn't )listed (?:in|by|on|at)|dnsbl|\bers-\w+|bypass list/,
      /spamhaus|spamcop|sorbs|barracuda ?central|senderbase|cloudmark|invaluement|uceprotect|abusix|mailspike|talosintelligence|\bivmsip|senderscore|proofpoint\.com|manitu|abuseat/,
      /\b(?:ip|host|address|client|server|network|domain|sender|message|mail|envelope|e-?mails?|connection|url|link)(?: \S+){0,3} (?:\[?[\d.:a-f]+\]? )?(?:is |has been |was |been |are |being )*(?:blocked|banned|barred|blocklisted)(?! (?:due to|because of|for) inactiv)/,
      /^blocked\b|blocked by|blocked (?:due|because|for|using)(?! (?:to |of )?inactiv)|customer block|banned/,
      /(?:host|network|ip|client|server)(?: \S+){0,2} (?:is )?not (?:allowed|permitted|authori[sz]ed|accepted)/,
      /(?<!or |invalidly\) to )\bip(?:v[46])? address|\b(?:link|url)s? in\b/,
      /(?<!indicated )no smtp service|not welcome|firewall|access list|(?:^|\s)(?:sc|dy|ou)-00\d\b/,
    ),
  },
  {
    id: 'listed-language',
    source:
      'Mail.ru, Yandex, QQ, T-Online, Orange, Libero: the address in the text is the IP address of the connection',
    words:
      /\bip[- ]?(?:adresse|адрес|地址|アドレス|주소)|(?:adresse|direcci[oó]n|indirizzo|endere[cç]o|adres|адрес\S*)[- ]ip\b|(?:dein|ihre?|votre|su|tu|suo|tuo|vostro|seu|sua|tw[oó]j|pa[nń]stwa|ваш\S*)\s(?:ip|adresse|direcci[oó]n|indirizzo|endere[cç]o|adres|адрес|сервер|server\S*|serveur|servidor|serwer|dom[aä]in\S*|dominio|dom[ií]nio|домен|mailserver)(?![\p{L}\p{N}])|(?:您|你)的(?:ip|服务器|伺服器|域名|邮箱|郵箱|账号|帳號|地址)|黑名单|黑名單|ブラックリスト|블랙리스트|lista? (?:nera|negra)|liste noire|sperrliste|czarn\S+ li[sś]|ч[её]рн\S+ спис/u,
  },
  {
    id: 'reputation',
    source: 'Gmail, Cisco Talos, Mimecast, Yahoo (TSS), T-Online',
    words:
      /reputation|suspicio|permanently deferred|unsolicited|poor (?:sender )?score|abus(?:e|ive)\b(?! desk)(?!@)|user complaints|unusual (?:rate|sending|traffic|activity)|ask your (?:postmaster|isp|provider)|bad (?:sender|ip|karma)|too many (?:complaints|spam)/,
  },
  {
    id: 'spam-content',
    isFinal: true,
    source: 'SpamAssassin, Mail.ru, Zoho, T-Online: after the content, the reply is about this message',
    stages: ['data', 'report'],
    words: SPAM,
  },
  { id: 'spam', source: 'the same; before the content, the reply is about the sender', words: SPAM },
  {
    id: 'malware',
    isFinal: true,
    source: 'ClamAV, Exim, Postfix, Amavis',
    words:
      /\b(?:virus|malware|trojan|worm|ransomware|infected|exploit)\b|executable (?:content|attachment|file)|(?:attachment|file) (?:type|extension|name)|banned (?:file|content|attachment)|dangerous (?:attachment|content|extension)|potential(?:ly)? (?:security|dangerous|unsafe|harmful)/,
  },
  {
    id: 'malformed-content',
    isFinal: true,
    source: 'RFC 5322, RFC 2045, in the words of Gmail, Exim, Exchange',
    words:
      /(?:malformed|invalid|missing|duplicate|multiple|illegal|improper|no) (?:\S+ ){0,2}(?:message-?id|date|subject|mime|header|content-type|8-?bit|bare (?:lf|cr)|(?:from|to):? (?:header|field|line)s?)\b(?! address)|headers? (?:\S+ ){0,3}(?:missing|malformed|invalid|not rfc|contain)|rfc ?-?(?:5322|2822|822)\b|not (?:\S+ )?rfc[- ]?\d* (?:complian|conform)|8-?bit (?:data|char|mime)|bare (?:lf|linefeed|newline)|conversion (?:\S+ )?(?:required|not|fail)|message (?:\S+ )?(?:format|syntax) (?:error|invalid)/,
  },
  {
    id: 'authentication',
    source: 'RFC 7208 (SPF), RFC 6376 (DKIM), RFC 7489 (DMARC), RFC 7372, in the words of Gmail, Microsoft, Yandex',
    words: anyOf(
      /\bspf\b|sender policy framework|\bdkim\b|domainkeys|\bdmarc\b|dmarcrejection|\barc\b seal|\bsenderid\b|sender id\b/,
      /unauthenticated|(?<!\()authenticat(?:e|ed|ion)\b|\bauth(?:orization)? (?:is )?required|authrequired|login required|must (?:log ?in|issue a starttls)|not logged in|log ?in (?:first|before)|pop (?:before|first|authent)|\blogin:|for sending\b|(?:your|sender) account|bad (?:username|password|credentials)|check your mail (?:before|first)/,
      /not (?:allowed|authori[sz]ed|permitted) to (?:send|use|post|submit)|notauthorized|smtp auth|user(?:name)? or password|anonymous (?:mail|users?)|encryption (?:is )?(?:required|needed)|requires? (?:tls|encryption|starttls)|certificate|\b(?:starttls|tls)\b/,
    ),
  },
  {
    id: 'sending-host',
    source: 'Exim, Postfix, GMX, Mail.ru, qmail',
    words: anyOf(
      /\bptr\b|reverse[- ](?:dns|lookup|hostname|mapping|name|address)|\brdns\b|dynamic (?:ip|address|host)|generic (?:dns|ptr|host|rdns)|dynamically assigned|residential|dial-?up|domain may not exist or dns check/,
      /\b(?:helo|ehlo)\b|fully[- ]qualified|\bfqdn\b|(?:find|resolve|verify|locate) your (?!recipient)|(?:client|connecting) (?:host|ip|address|server|name|is|was|does|could|cannot)|(?:host|client|server) (?:tried|trying|attempting) to send|of the (?:client|sender|connecting)\b|my name was rejected|your (?:\S+ )?(?:host ?name|ip|domain|server|network|isp|provider|host|mta)\b(?:[^.]|\.\d){0,60}(?:\bnot\b|unknown|invalid|does|reject|denied|refused|listed|fail|\bbad\b|\bno\b|unable)/,
    ),
  },
  {
    id: 'relaying',
    source: 'Sendmail, Postfix, Exim, Exchange, qmail',
    words:
      /\brelay(?:ing)?\b(?! recipient)[^.;]{0,40}?\b(?:den(?:y|ied)|prohibit|not|n['’]t|refus|reject|access|disallow|fail|block|attempt|authori)|(?:not|n['’]t|unable|cannot|denied|deny|refus\w*|unauthori[sz]ed|no|open|prohibit\w*|allow\w*|attempt\w*|local) (?:\S+ ){0,4}?relay(?!ed)|\brelay(?:ing)?[.!]?$|not (?:a )?local (?:domain|recipient|host)|rcpthosts|tenantattribution|not configured to (?:accept|handle|receive)|(?:domain|host|we) (?:is |are |do(?:es)? )?not (?:\S+ )?(?:handle|host|serve|relay)|not (?:a )?(?:hosted|gateway)|open proxy|non-local/,
  },
  {
    id: 'sender-address',
    source: 'Postfix, Exim, qmail, Gmail, Amazon SES, Orange',
    words: anyOf(
      /\b(?:(?:sender|return[- ]path|reverse-?path|mail ?from|originator|expéditeur|emetteur|absender)\b(?: \S+){0,4}?|from:?(?: (?:address|domain|field|header|user|host)\b(?: \S+){0,3}?)?) (?:is |was |has been |be |must |could |does |do )*(?:not |n['o]t |un|in|non)(?:valid|verified|verif|known|allowed|exist|accept|resolv|authori|registered|permitted|match|found|listed|trusted|deliverable)/,
      /\b(?:sender|mail ?from|envelope[- ](?:sender|from)|from[- ](?:address|domain)|return[- ]path|bounce address|originating address|return address)\b[^.]{0,50}(?:reject|refused|denied|invalid|unknown|must exist|do(?:es)?(?: not|n't) (?:exist|resolve|match)|verif\S* fail|not valid|invalide|not found|not exist|no (?:a|mx|dns)\b|illegal|bad|prohibited|fail)/,
      /(?:invalid|unknown|bad|unverified|illegal|missing|fake|unregistered|unresolvable|nonexist\S*) (?:sender|from\b|mail ?from|return[- ]path|originator)|senders? (?:verify|verification|callout|domain|address)|address is not verified|identities failed|call-?(?:back|out) (?:\S+ )?(?:fail|verif|setup)|verification failed for|could not verify sender/,
      /(?:domain of|your) sender|senders? list|(?:sending|originating|sender['’]?s?) (?:host|account|server|user|mailbox|system)|reverse path|(?:enable|resume|allow) sending|(?<!to )(?<!to the )(?<!the original )\bsenders?\b(?! (?:will|has been|was|is) (?:notified|informed))|header address|\byour (?:(?:e-)?mail )?(?:address|mailbox|account|user ?name|login)\b(?! book)|(?:account|address|domain) of (?:the )?sender|reply-to|sending domain|backscatter|invalid bounce|\bfrom:? (?:domain|address|header)|send(?:ing)? (?:domain|address)[^.]{0,40}(?:not|invalid|unknown|fail|doesn't)/,
    ),
  },
  {
    id: 'sender-address-language',
    source: 'Orange, La Poste, Free, web.de, Libero, UOL, mail.ru, QQ, docomo',
    words: anyOf(
      new RegExp(`(?:${SENDER_WORD})[^.;。]{0,40}(?:${REFUSED_WORD})`, 'u'),
      new RegExp(`(?:${WRONG_WORD})[^.;,。]{0,20}(?:${SENDER_WORD})`, 'u'),
    ),
  },
  {
    id: 'sending-rate',
    source: 'Gmail, Outlook, GoDaddy, Amazon SES, QQ, Yahoo',
    words:
      /rate[- ]?(?:limit|control)|too many (?:recipients|messages|mails|emails|e-mails|invalid|bad|unknown|errors|failed|rcpt|commands|unrecogni|unsuccess|requests|attempts|sent)|(?:sending|daily|hourly|message|sender) (?:\S+ )?(?:limit|quota|rate|frequency)|frequency (?:is )?limit|sent too many|limits? (?:\S+ )?exceeded|exceed\S* (?:\S+ ){0,3}(?:limit|rate|threshold)|harvest|dictionary attack|connection limit|per (?:hour|minute|day|session|connection)\b/,
  },
  {
    id: 'protocol',
    source: 'RFC 5321 section 4.2.2: the command was not understood or came at the wrong time',
    words:
      /(?:bad|out of|improper|wrong) (?:command )?sequence|bad sequence|command (?:not |un)(?:implemented|recogni[sz]ed|supported|known)|unrecogni[sz]ed (?:command|parameter)|(?:syntax|parameter) error|need (?:rcpt|mail|valid rcpt)|not implemented|pipelining|protocol (?:error|violation)|synchroni[sz]ation/,
  },
  {
    id: 'policy',
    source: 'Yahoo, AOL, Mimecast, GMX, Microsoft, Orange, Yandex',
    words: anyOf(
      /polic(?:y|ies)|politique de|security (?:reason|restrict|issue|violat)|administrat(?:ive|ively) (?:prohibit|den|reject|reason|block)|prohibited|restricted|violat(?:ion|es|ing)|forbidden|compliance/,
      /(?:refused|rejected|denied|blocked|declined) (?:by|at) (?:the |this |your )?(?:recipient(?!(?:['’]s)? (?:domain|server|mail|system|host))|user|filter|rule|owner|customer|destination)|mail rejet|\bofr\d*_(?!41[5-9])\d|not accepted for|(?:does|do|will)(?: not|n't) (?:accept|want|receive) (?:\S+ )?(?:mail|messages?|e-?mails?) from|will(?: not|n['’]t) accept (?:delivery of )?(?:this|your) (?:message|mail|e-?mail)|only accepts?|(?:disabled|rejects?|blocks?|refuses?) (?:\S+ ){0,2}(?:mail|messages?) from|n.accepte pas|no acepta|n[aã]o aceita|non accetta|nimmt keine|akzeptiert (?:nur|keine)|nie przyjmuje|не принимает|allow(?:ed)? (?:senders?|list)|white-?list|resolver\.rst|moderat|not (?:be )?accepted (?:due|because)|filter(?:ed|ing)? (?:by|rule|out)/,
      /access (?:is |was )?(?:forbidden|rejected|blocked|restricted|not allowed)|blocked(?! (?:due to|because of|for) inactiv)|only (?:members|subscribers|authenticated|internal)|members? (?:\S+ ){0,4}only|(?<!if )\byou(?:['’]re| are) (?:not|unknown|an unknown)\b|not (?:a )?member|membership|closed (?:list|group)|unsubscribed|opt(?:ed)?[- ]out|null sender|empty (?:envelope )?sender|bounces? (?:are |is )?not accept/,
      /richtlinie|refus[eé] pour|rejet[eé] (?:pour|par)|rechazado por|rejeitad[oa] (?:por|pel)|rifiutato per|запрещен|отклонен|отклонён|拒绝接收|拒收|被拒绝|拒否|거부/,
    ),
  },
]);
