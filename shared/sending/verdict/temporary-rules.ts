import { anyOf, rulesOf } from './refusal-rule.ts';

/** Passing faults: a full mailbox, a busy server, a network that is down. */
export const TEMPORARY_RULES = rulesOf('temporary', [
  { id: 'transient-reply', source: 'RFC 5321 section 4.2.1', code: /^4/ },
  { id: 'transient-status', source: 'RFC 3463 section 2', enhanced: /^4\./ },
  {
    id: 'mailbox-full',
    source: 'RFC 3463 section 3.3 (X.2.2), in the words of Gmail, Exchange, Dovecot, qmail, iCloud, Orange and others',
    words: anyOf(
      /quota(?!tion)|over (?:\S+ )?(?:storage|disk|size)\b|over (?:its|the|his) (?:\S+ )?limit/,
      /(?:mail[- ]?box|inbox|mail ?folder|mail ?drop|maildir|account|user|disk)(?: (?:for|of) (?:the )?\S+)? (?:is |has |was |are )?(?:already |currently |too |now )?(?:full\b|over\S* (?:its|the) (?:limit|size))/,
      /full mailbox|mailbox (?:size |storage )?(?:limit )?(?:is |has been |was )?(?:exceed|exeed|reached)|exceed\S* (?:\S+ ){0,4}(?:mailbox|storage|disk|space|allocation)|mailbox (?:limit|size)/,
      /(?:exhausted|exceeded|ran out of|out of|not enough|no|insufficient|not sufficient|lack of) (?:\S+ ){0,3}(?:storage|disk|space)\b|no space left/,
      /too many messages (?:on|in)|(?:storage|disk) (?:space |allocation )?(?:is )?(?:full|limit|exceeded)/,
    ),
  },
  {
    id: 'mailbox-full-language',
    source: 'web.de, Orange, Free, Libero, UOL, mail.ru, QQ, au, Naver',
    words: anyOf(
      /speicher(?:platz|volumen)|(?:postfach|mailbox) (?:\S+ ){0,3}(?:voll|[uü](?:be|e)?rf[uü]e?llt)|zuviele mails|kontingent|postvak (?:\S+ ){0,2}vol\b/,
      /bo[iî]te (?:\S+ ){0,4}(?:pleine|satur[eé]e)|espace (?:\S+ ){0,3}insuffisant|casella (?:\S+ ){0,4}piena|spazio (?:\S+ ){0,3}(?:esaurito|insufficiente)/,
      /(?:buz[oó]n|casilla) (?:\S+ ){0,4}llen[oa]|cuota (?:\S+ ){0,3}(?:excedid|superad|llena)|espacio (?:\S+ ){0,3}insuficiente|caixa (?:\S+ ){0,4}(?:cheia|lotada)|cota (?:\S+ ){0,3}excedid/,
      /skrzynka (?:\S+ ){0,4}(?:pe[lł]na|przepe[lł]niona)|przepe[lł]nion|schr[aá]nka (?:\S+ ){0,3}pln[aá]|megtelt|betelt|posta kutusu (?:\S+ )?dolu|kotas[iı]/,
      /переполнен|превышен|квот|ящик полон|недостаточно места/,
      /一杯|いっぱい|容量(?:を|が|の)?(?:超|オーバー|不足)|已满|已滿|空间不足|空間不足|容量不足|爆满|용량(?:을|이)? ?(?:초과|부족)|가득/,
    ),
  },
  { id: 'mailbox-full-status', source: 'RFC 3463 section 3.3', enhanced: /^5\.2\.2$/ },
  {
    id: 'recipient-rate',
    source: 'Gmail (ReceivingRate), Yahoo, Microsoft 365 (5.2.121, 5.2.122)',
    words:
      /receiving (?:e-?mail|mail|messages) (?:at a rate|too)|receivingrate|recipient(?:'s)? (?:\S+ ){0,3}(?:rate|per hour)|(?:hourly|daily) (?:\S+ ){0,2}receive limit/,
  },
  {
    id: 'passing-fault',
    source: 'Postfix, Exim, Exchange, Sendmail',
    words: anyOf(
      /(?<!not )(?<!not a )temporar(?:y|ily)|try(?:ing)? again (?:later|in|after|soon)|(?:re)?(?:try|send) (?:\S+ ){0,3}(?:back )?later|later time|please (?:retry|try) (?:again|later)/,
      /gr[ae]y-?list|too many (?:concurrent |simultaneous )?(?:connections|sessions)|too busy|overloaded|slow down|throttl|high load|too much load|load average/,
      /internal (?:system |server |software )?error|system (?:is )?not accepting|local (?:system |delivery |configuration )?error|resources (?:temporarily|unavailable)|insufficient (?:system )?resources|out of memory|i\/o error|(?:software|database|unexpected|configuration|processing) error|\bserver error(?!:)|error in processing|mail system (?:error|failure)|(?:mailer|system) error/,
      /under maintenance|maintenance (?:mode|window|in progress)|not available (?:at this time|now|currently)|currently unable|service (?:is )?(?:currently|temporarily) (?:not |un)available|shutting down/,
      /(?:account|mailbox|user|recipient)(?: \S+){0,3} (?:has been |is |was |currently )*(?:suspended|locked|frozen|on hold)\b|(?:suspended|locked|frozen) (?:account|mailbox|user)/,
      /trop de connexions|veuillez (?:\S+ )?(?:essayer|r[eé]essayer)|sp[aä]ter (?:\S+ ){0,2}(?:erneut|noch ?mal)|m[aá]s tarde|mais tarde|pi[uù] tardi|попробуйте позже|повторите попытку|しばらく|稍后再试|稍後再試/,
    ),
  },
  {
    id: 'network',
    source:
      'Postfix, Sendmail, qmail, Exim, Exchange (4.4.x as 5.4.x); not under a status that says the address is dead',
    enhanced: /^(?!5\.1\.(?:1|2|3|6|10)$)/,
    words: anyOf(
      /(?:connection|session|conversation) (?:\S+ )?(?:timeout|time-out|refused|reset|lost|dropped|closed|aborted|failed|broken)|time[ds]? ?out\b|lost (?:input )?connection|connect(?:ion)? (?:to \S+ )?(?:failed|error)/,
      /no route to host|network (?:is |error|was )?(?:unreachable|down|error)|host (?:is |was )?(?:unreachable|down|not reachable)|(?:can ?not|can't|couldn't|could not|unable to) (?:connect|establish|reach the (?:server|host))|wasn't able to establish|(?<!please do )not respond|no (?:answer|response) from/,
      /delivery time expired|message (?:has )?expired|(?:retry|delivery) (?:time|timeout|period|limit) (?:not reached|exceeded|expired|passed)|(?:in|on) (?:the )?queue (?:for )?too long|could not (?:be )?deliver\S* (?:\S+ ){0,3}(?:for|in|within) (?:\S+ ){0,3}(?:days|hours)|too old|(?:exceeded|maximum) (?:\S+ ){0,3}(?:queue|retry|retries|attempts)/,
      /mail(?:er)? (?:\S+ )?loop|loops? back to|(?:too many|exceed\S* (?:\S+ )?) ?(?:hops|received)|hop count|routing loop|mail forwarding loop|looping|message loop/,
      /(?:name ?server|dns|name service|cname|mx|host)(?: \S+){0,4} (?:try again|temporar|timeout|timed out|servfail|malformed|failed temporarily|unexpected)|servfail|server failure|lookup failure/,
    ),
  },
  {
    id: 'local-delivery',
    source: 'Exim, Postfix, Sendmail and procmail, where a program or a file of the mailbox fails',
    words:
      /pipe to \||command died|(?:command|process|child)(?: \S+){0,3} (?:exit|returned|killed|failed)|can(?:no|')t (?:create|open|write|lock|chdir|exec)|(?:unable|failed) to (?:open|write|lock|create)|permission denied|read-only file|no such file|unknown mailer error|transport (?:returned|failed)|mailbox (?:is )?(?:busy|in use|corrupt)/,
  },
]);
