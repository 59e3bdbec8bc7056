import type { RefusalStage } from './judge-refusal.ts';
import { anyOf, type RefusalRule } from './refusal-rule.ts';

/** The stages at which a server has seen the recipient. */
export const AFTER_SENDER: readonly RefusalStage[] = ['rcpt', 'data', 'report'];

/** The server says that the address or its domain does not exist, or no longer exists. */
export const HARD_RULES: readonly RefusalRule[] = [
  {
    id: 'no-such-user',
    kind: 'hard',
    source: 'RFC 3463 section 3.2, in the words of Gmail, Postfix, Exim, qmail, Exchange, Yahoo and others',
    stages: AFTER_SENDER,
    words: anyOf(
      /(?:user|recipient|mail ?-?box|account|address|alias|local[- ]?part|member|customer|addressee|person|name|destination|login|e-?mail|rcpt|employee|student)s?(?:\(s\))?:?(?: \S+){0,5}? (?:is |was |are |has |been |were |be |currently )*(?:unknown|not (?:known|found|exist\S*|valid|registered|listed|recogni[sz]ed|here|(?:a|an) (?:valid|known|active|existing)|our customer|on (?:this|our) (?:server|system)|present|defined|in (?:our|the|this)|deliverable)|invalid|non-?existent|undeliverable|incorrect|unrecogni[sz]ed)/,
      /(?:does|do|did|dose) ?(?:not|n['’]?t|no) (?:seem to |appear to )?exists?|no longer (?:exist|here|with|active|available|in use|valid|employed|accept|work|at|on|used|a )|(?:not|never) exist|nosuchuser|don['’]?t exist/,
      /(?:unknown|invalid|illegal|no such|nonexistent|non[- ]existent|undeliverable|unroutable|unrouteable|bad|wrong|no valid|not a valid|incorrect|unavailable) (?:\S+ ){0,3}?(?:user|recipient|mail-? ?box|account|address|alias|local[- ]?part|person|destination|domain|name|mailhost|rcpt|addressee|customer|id)(?!\S*\.\w)/,
      /(?:sorry,? )?no (?:mail-? ?box|user|account|such|recipient|person|one|body|mail|valid recipient|matching)(?: \S+){0,4}? (?:here|by that name|by this name|with (?:that|this)|found|in (?:our|the|this)|of (?:that|this) name|exists?|on this)|no such (?:user|person|address|mailbox|recipient|account|domain|local|id|name|destination|customer|member|alias)/,
      /(?:user|recipient|mailbox|address)[-_]?(?:unknown|not[-_]?found)|invalid[-_](?:recipient|user|mailbox|address)|(?<!you are )not an? (?:known|registered|current|active) (?:user|recipient|mailbox|account|address|e-?mail)|no longer (?:an? (?:employee|user|member|customer)|uses?)\b|account (?:is )?(?:unavailable|not available)|no mail ?(?:box|drop) (?:\S+ )?(?:available|defined) for|no such mail ?drop/,
      /bad ?(?:rcpt|recipient)to|incorrectly addressed|not found in (?:\S+ )?(?:ldap|directory|address book)|no \S+ in (?:\S+ )?directory|(?:doesn['’]t|does not) handle mail for (?:this|that) user|^[^a-z]{0,5}not found$/,
      /not (?:in|on) my validrcptto|(?:user|recipient|account|mailbox|employee)s? (?:does not|doesn['’]t|do not|don['’]t) have an?|recipnotfound|recipientnotfound|recipient not found|(?:is )?not our customer|invalidsmtp|not (?:a )?user (?:of|on|at) this/,
      /(?:user|recipient|mailbox|account|address|\]|tenant or domain|directory) (?:\S+ )?(?:\[[^\]]*\] )?not found|(?:can(?:not|['’]t)|could ?n[o'’]t|unable to) (?:find|locate|resolve) (?:\S+ ){0,3}?(?:user|recipient|mailbox|address|account)|(?:user|recipient)[^.]{0,40}(?:could not|couldn['’]t|cannot) be (?:found|resolved|located)|not listed in (?:\S+ ){0,3}(?:directory|name|address book)/,
      /this user does(?: not|n['’]t)|user(?:name)? (?:\S+ )?unknown|unknown (?:user|recipient)|i cannot deliver mail for|(?:nobody|no one) (?:here|by)|(?:person|user|employee|recipient|he|she) (?:has |have )?(?:left|departed)|moved without|deceased|previously bounced|history of bouncing|bounced address|account (?:does not|doesn['’]t)|(?<!sender )(?<!recipient )(?<!mail )address (?:was |is )?rejected\.?$|that recipient is not allowed|invalid mailbox|no ?one at|(?:does|do)(?: not|n['’]t) (?:appear|seem) to be (?:a )?valid/,
    ),
  },
  {
    id: 'no-such-user-language',
    kind: 'hard',
    source: 'web.de, La Poste, Orange, Libero, Terra, UOL, Seznam, o2.pl, mail.ru, QQ, 163, docomo, Naver',
    stages: AFTER_SENDER,
    words: anyOf(
      /(?:nutzer|empf\S{1,2}nger|adresse|adressat|postfach|mail(?:box|account|konto)|konto|teilnehmer)[^.]{0,40}(?:nicht (?:\S+ )?(?:bekannt|gefunden|vorhanden|existent|erreichbar|g\S{1,2}ltig|aktiv)|unbekannt|existiert nicht|ung\S{1,2}ltig|gel\S{1,2}scht|deaktiviert|inaktiv|geschlossen)|(?:unbekannt|ung\S{1,2}ltig)e\S* (?:be)?(?:nutzer|empf\S{1,2}nger|adresse|e-?mail)|kein\S* (?:solche\S* )?(?:be)?(?:nutzer|empf\S{1,2}nger|postfach|konto)|nicht existent|existiert nicht/,
      /destinataire (?:\S+ ){0,2}(?:inconnu|invalide|inexistant|introuvable)|adresse (?:\S+ ){0,5}(?:inconnue?|invalide|inexistante|introuvable|n.est (?:plus|pas) (?:valide|active|utilis|attribu))|(?:utilisateur|compte|bo[iî]te)[^.]{0,40}(?:inconnue?|n.existe (?:pas|plus)|inexistante?|d[eé]sactiv|supprim|ferm[eé])|aucune? (?:utilisateur|bo[iî]te|compte|destinataire)|n.existe (?:pas|plus)/,
      /nessun utente|(?:utente|indirizzo|casella|destinatario|account)[^.]{0,40}(?:sconosciut|inesistent|non (?:\S+ )?(?:esiste|trovat|valid)|disattivat|disabilitat|bloccat\S* per inutilizzo)|destin\S* (?:sconosciut|errat)/,
      /(?<!el dominio )no existe|(?:usuario|destinatario|buz[oó]n|cuenta|direcci[oó]n)[^.]{0,40}(?:desconocid|inexistente|inv[aá]lid|no (?:encontrad|v[aá]lid|se encuentra|existe)|desactivad|deshabilitad|cancelad|eliminad)|(?:usuario|casilla|cuenta)[^.]{0,30}(?:inactiv|expirad)|no hay ning[uú]n (?:usuario|buz[oó]n|destinatario)|n[aã]o existe|(?:usu[aá]rio|destinat[aá]rio|conta|endere[cç]o|caixa)[^.]{0,40}(?:desconhecid|inexistente|inv[aá]lid|n[aã]o (?:encontrad|localizad|cadastrad)|desativad|cancelad)/,
      /(?:utilizator|destinatar|adres[aă]|cont)\S*[^.]{0,20} (?:necunoscut|nu (?:exist|a fost g)|inexistent)/,
      /onbekende? (?:gebruiker|ontvanger|adres)|(?:gebruiker|ontvanger|adres|postbus|mailbox)[^.]{0,30}(?:onbekend|bestaat niet|niet gevonden|ongeldig)|bestaat niet/,
      /ok[aä]nd (?:anv[aä]ndare|mottagare|adress)|(?:finns|existerar) inte|ukendt (?:bruger|modtager)|findes ikke|eksisterer ikke|ukjent (?:bruker|mottaker)|finnes ikke|tuntematon|ei ole olemassa|(?:vastaanottaja|k[aä]ytt[aä]j[aä]|osoite)\S* ei (?:ole|l[oö]ydy)/,
      /nieznan\S* (?:u[zż]ytkownik|odbiorc|adres)|(?:u[zż]ytkownik|odbiorca|adresat|adres|konto|skrzynka)[^.]{0,60}(?:nieznan|nie (?:zosta\S+ )?(?:znalezion|odnalezion)|nieprawid[lł]ow|usuni[eę]t|nieaktywn)|(?:nieprawid[lł]ow|niepoprawn|b[lł][eę]dn)\S* (?:adres|odbiorc|u[zż]ytkownik)|nie ma takiego|nie istnieje|brak (?:takiego|u[zż]ytkownika|odbiorcy)/,
      /neexistuj|nezn[aá]m\S* (?:u[zž]ivatel|p[rř][ií]jemce|adres)|(?:u[zž]ivatel|p[rř][ií]jemce|adresa|schr[aá]nka)[^.]{0,20}(?:nenalezen|neplatn|nezn[aá]m)|nem l[eé]tezik|ismeretlen (?:felhaszn|c[ií]mzett)|(?:felhaszn[aá]l[oó]|c[ií]mzett|postafi[oó]k)[^.]{0,20}nem tal[aá]lhat/,
      /(?:kullan[iı]c[iı]|al[iı]c[iı])[^.]{0,20}(?:bulunamad|mevcut de[gğ]il|yok)|bilinmeyen (?:kullan|al[iı]c)|ge[cç]ersiz al[iı]c|άγνωστος|δεν υπάρχει/,
      /нет таког?о?|так\S+ (?:пользовател|адрес|ящик|получател)\S* нет|не (?:найден|существует|зарегистрирован|існує|знайден|съществува)|(?:неизвестн|непознат|невідом|неверн)\S* (?:адрес\S* )?(?:пользовател|получател|користувач|потребител|отримувач)|неизвестн\S* адрес|несуществующ|(?:ящик|адрес|аккаунт|пользовател|уч[её]тн\S+ запис)\S* (?:\S+ ){0,3}(?:удал[её]н|заблокирован|отключ[её]н|неверн|недействител)/,
      /(?:宛先|受信者|ユーザー?|メールアドレス|アカウント)[^。]{0,20}(?:無効|不明|存在し(?:ません|ない|なかった)|見つかりません|使われて|使用されて|削除|解約)|存在し(?:ません|ない|なかった)|見つかりません|該当(?:する)?ユーザ/,
      /不存在|(?:地址|用户|用戶|收件人|账号|帳號|账户|帳戶|邮箱|郵箱|信箱)\S{0,12}(?:不正确|不正確|错误|錯誤|无效|無效|未找到|停用|禁用|注销|註銷|关闭|關閉)|未开通|找不到|查无此人|查無此人|(?:没有|沒有|无|無)(?:此|该|該|这个|這個)?(?:用户|用戶|账号|帳號|收件|邮箱|郵箱)/,
      /존재하지 ?않|없는 (?:사용자|계정|메일|주소|수신)|알 ?수 ?없는 (?:사용자|수신)|(?:사용자|수신자|계정|주소)\S{0,4} ?(?:를|을|가|이)? ?(?:찾을 수 ?없|없습니다)|휴면|탈퇴|غير موجود|לא קיים|kh[oô]ng t[oồ]n t[aạ]i/,
    ),
  },
  {
    id: 'closed-account',
    kind: 'hard',
    source: 'Gmail (DisabledUser), Yahoo, GMX, mail.ru, RFC 3463 section 3.3 (X.2.1)',
    stages: AFTER_SENDER,
    words: anyOf(
      /(?:user|recipient|mail ?-?box|account|address|alias|login|domain)s?(?:\(s\))?(?: \S+){0,8}? (?:is |was |are |has |been |have |permanently |administratively |now |marked as |marked )*(?:disabled|deactivated|inactive|not (?:active|activated|enabled)|discontinued|deleted|closed|terminated|expired|removed|cancell?ed|dormant|abandoned|retired|decommissioned|obsolete|blocked (?:due to|because of|for) inactiv)/,
      /disableduser|inactiveuser|(?:inactive|disabled|deactivated|closed|expired|deleted|terminated|discontinued|dead) (?:\S+ )?(?:user|recipient|mail ?box|account|address)|(?:mailbox|account|user|address)[^.]{0,60} inactiv|has (?:moved|left)|user not local|account closed|mailbox (?:\S+ )?disabled|(?:due to|because of|for) inactivity/,
    ),
  },
  {
    id: 'no-such-domain',
    kind: 'hard',
    source: 'RFC 3463 section 3.2 (X.1.2, X.1.10), RFC 7505, Sendmail, Postfix, qmail, Microsoft 365',
    stages: AFTER_SENDER,
    words: anyOf(
      /(?:host|domain|site|system)(?: name)?(?: \S+){0,2}? (?:is |was |could )?(?:unknown|not found|invalid|non-?existent|not be found|not exist|not registered)|unknown (?:host|domain|mail ?host)|host or domain name not found|(?:domain|host) (?:\S+ )?(?:does not|doesn['’]t) (?:exist|accept (?:e-?)?mail|receive|have)/,
      /name service error|no (?:mx|mail (?:host|exchanger|server))|nxdomain|null ?mx|couldn['’]t find (?:any|a) (?:host|mail|domain)|weren['’]t able to find the (?:recipient )?domain|unrout(?:e)?able|bad destination|domain (?:has )?(?:expired|no mx|no mail)|no (?:a|mx|aaaa)(?: or (?:a|mx|aaaa))? records?|dns domain|all relevant mx records point to non-existent/,
    ),
  },
  {
    id: 'mailbox-unavailable',
    kind: 'hard',
    source: 'RFC 5321 section 4.2.3 (550), GMX, Outlook',
    stages: ['rcpt', 'report'],
    code: /^55[03]$/,
    words: /mailbox (?:is )?(?:unavailable|not available|name not allowed)(?! or access)/,
  },
];
