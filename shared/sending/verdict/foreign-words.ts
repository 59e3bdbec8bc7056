import { anyOf } from './refusal-rule.ts';

/** A noun for the address or its owner, and within the same sentence what is said of it. */
const said = (nouns: string, predicates: string): RegExp =>
  new RegExp(`(?:${nouns})[^.;。!]{0,60}?(?:${predicates})`, 'u');
/** The other order, such as `unbekannter Nutzer`. */
const adjective = (adjectives: string, nouns: string): RegExp =>
  new RegExp(`(?:${adjectives})\\S* (?:\\S+ ){0,2}?(?:${nouns})`, 'u');

/** Words that say that an address does not exist, in the other languages that servers answer in. */
export const NO_SUCH_USER_FOREIGN = anyOf(
  // German
  said(
    'nutzer|empf\\S{1,2}nger|adresse|adressat|postfach|mailbox|account|konto|teilnehmer|mitarbeiter|dom[aä]ne?',
    'nicht (?:\\S+ )?(?:bekannt|gefunden|vorhanden|existent|erreichbar|g\\S{1,2}ltig|aktiv|ermittelt|registriert|eingerichtet)|kein\\S* (?:postfach|konto)|gibt es nicht|nicht mehr|unbekannt|existiert nicht|ung\\S{1,2}ltig|gel\\S{1,2}scht|deaktiviert|inaktiv|geschlossen|gesperrt wegen inaktiv',
  ),
  adjective('unbekannt|ung\\S{1,2}ltig|kein', '(?:be)?nutzer|empf\\S{1,2}nger|adresse|e-?mail|postfach|konto'),
  /nicht existent|existiert nicht/,
  // French
  said(
    'destinataire|adresse|utilisateur|compte|bo[iî]te',
    'inconnue?|invalide|inexistante?|introuvable|n.existe (?:pas|plus)|n.est (?:plus|pas) (?:val|active|utilis|attribu)|d[eé]sactiv|supprim|ferm[eé]|cl[oô]tur|r[eé]sili|pas (?:pu )?(?:[eê]tre )?(?:trouv|reconnu|enregistr)|(?:pas|plus) de (?:compte|bo[iî]te)',
  ),
  /impossible de trouver (?:\S+ )?(?:l.adresse|destinataire|utilisateur)|aucune? (?:utilisateur|bo[iî]te|compte|destinataire)|n.existe (?:pas|plus)/,
  // Italian
  said(
    'utente|indirizzo|casella|destinatario|account',
    'sconosciut|inesistent|non (?:\\S+ ){0,2}(?:esiste|trovat|valid|registrat|riconosciut|attiv)|disattivat|cancellat|chius|disabilitat|bloccat\\S* per inutilizzo',
  ),
  /nessun utente|destin\S* (?:sconosciut|errat)|non esiste|impossibile trovare (?:\S+ )?(?:l.indirizzo|utente|destinatario|casella)/,
  // Spanish
  said(
    'usuario|destinatario|buz[oó]n|cuenta|direcci[oó]n|casilla',
    'desconocid|inexistente|inv[aá]lid|no (?:\\S+ ){0,2}?(?:encontr|v[aá]lid|encuentra|existe|registrad|reconocid|activ)|desactivad|deshabilitad|cancelad|eliminad|cerrad|inactiv|expirad',
  ),
  /(?<!el dominio )no existe|no hay ning[uú]n (?:usuario|buz[oó]n|destinatario)|no se (?:ha )?(?:encontr[oó]|encontrado|pudo encontrar) (?:la direcci[oó]n|el (?:usuario|destinatario|buz[oó]n))/,
  // Portuguese
  said(
    'usu[aá]rio|utilizador|destinat[aá]rio|conta|endere[cç]o|caixa',
    'desconhecid|inexistente|inv[aá]lid|n[aã]o (?:\\S+ ){0,2}?(?:encontrad|localizad|cadastrad|registad|registrad|reconhecid|ativ|existe)|desativad|cancelad|encerrad|exclu[ií]d',
  ),
  /n[aã]o existe/,
  // Romanian
  said('utilizator|destinatar|adres[aă]|cont', 'necunoscut|nu (?:exist|a fost g)|inexistent'),
  // Dutch
  said(
    'gebruiker|ontvanger|adres|postbus|mailbox',
    'onbekend|bestaat niet|niet (?:\\S+ )?(?:gevonden|geregistreerd|actief)|ongeldig|gesloten|opgeheven',
  ),
  adjective('onbekend', 'gebruiker|ontvanger|adres'),
  /bestaat niet/,
  // Swedish, Danish, Norwegian
  said(
    'adress|anv[aä]ndare|mottagare|brugere?n?|modtager|bruker|mottaker|postkasse',
    'hittades inte|(?:inte|ikke) (?:\\S+ )?(?:hittas|finnes|fundet|funnet)|ble(?:v)? ikke (?:fundet|funnet)|ok[aä]nd|ukendt|ukjent|avslutad|nedlagt|lukket',
  ),
  /ok[aä]nd (?:anv[aä]ndare|mottagare|adress)|(?:finns|existerar) inte|ukendt (?:bruger|modtager)|findes ikke|eksisterer ikke|ukjent (?:bruker|mottaker)|finnes ikke/,
  // Finnish
  said('vastaanottaja|k[aä]ytt[aä]j[aä]|osoite', 'ei (?:ole|l[oö]y)'),
  /tuntematon|ei ole olemassa/,
  // Polish
  said(
    'u[zż]ytkownik|odbiorca|adresat|adres|konto|skrzynka',
    'nieznan|nie (?:\\S+ )?(?:znalezion|odnalezion|zarejestrowan|aktywn)|nieprawid[lł]ow|usuni[eę]t|nieaktywn|zamkni[eę]t',
  ),
  adjective('nieznan|nieprawid[lł]ow|niepoprawn|b[lł][eę]dn|nie (?:zna|odna)lezion', 'adres|odbiorc|u[zż]ytkownik'),
  /nie ma takiego|nie istnieje|brak (?:takiego|u[zż]ytkownika|odbiorcy)|nie mo[zż]na (?:odnale[zź][cć]|znale[zź][cć]) (?:\S+ )?(?:adresu|odbiorcy|u[zż]ytkownika)/,
  // Czech, Slovak
  said(
    'u[zž]ivatel|p[rř][ií]jemce|adresa|schr[aá]nka',
    'nenalezen|nebyla? nalezen|neplatn|nezn[aá]m|neexistuj|nebola? n[aá]jden|zru[sš]en',
  ),
  /neexistuj|nezn[aá]m\S* (?:u[zž]ivatel|p[rř][ií]jemce|adres)/,
  // Hungarian
  said('felhaszn[aá]l[oó]|c[ií]mzett|postafi[oó]k|c[ií]m', 'nem tal[aá]lhat|megsz[uű]nt'),
  /nem l[eé]tezik|ismeretlen (?:felhaszn|c[ií]mzett)/,
  // Turkish, Greek
  said('kullan[iı]c[iı]|al[iı]c[iı]|adres', 'bulunamad|mevcut de[gğ]il|yok|kapat[iı]l'),
  /bilinmeyen (?:kullan|al[iı]c)|ge[cç]ersiz al[iı]c|άγνωστος|δεν υπάρχει/,
  // Russian, Ukrainian, Bulgarian
  said(
    'ящик|адрес|аккаунт|пользовател|получател|абонент|уч[её]тн\\S+ запис',
    'удал[её]н|заблокирован|отключ[её]н|неверн|недействител|не удалось найти|неизвест|отсутству|закрыт',
  ),
  adjective(
    'неизвестн|непознат|невідом|неверн|недействительн',
    'адрес|пользовател|получател|користувач|потребител|отримувач',
  ),
  /нет таког?о?|так\S+ (?:пользовател|адрес|ящик|получател)\S* нет|не (?:найден|существует|зарегистрирован|існує|знайден|съществува)|несуществующ|не удалось найти (?:\S+ )?(?:адрес|пользовател|получател)/,
  // Japanese
  said(
    '宛先|受信者|ユーザー?|メール ?アドレス|アカウント',
    '無効|不明|存在し(?:ません|ない|なかった)|見つかりません|使われて|使用されて|削除|解約|廃止|閉鎖|誤り',
  ),
  /存在し(?:ません|ない|なかった)|見つかりません|該当(?:する)?ユーザ/,
  // Chinese
  said(
    '地址|用户|用戶|收件人|账号|帳號|账户|帳戶|邮箱|郵箱|信箱',
    '不正确|不正確|错误|錯誤|无效|無效|未找到|停用|禁用|注销|註銷|关闭|關閉',
  ),
  /不存在|未开通|找不到|查无此人|查無此人|(?:没有|沒有|无|無)(?:此|该|該|这个|這個)?(?:用户|用戶|账号|帳號|收件|邮箱|郵箱)/,
  // Korean, Arabic, Hebrew, Vietnamese
  /존재하지 ?않|없는 (?:사용자|계정|메일|주소|수신)|알 ?수 ?없는 (?:사용자|수신)|(?:사용자|수신자|계정|주소)\S{0,4} ?(?:를|을|가|이)? ?(?:찾을 수 ?없|없습니다)|휴면|탈퇴/,
  /غير موجود|לא קיים|kh[oô]ng t[oồ]n t[aạ]i/,
);
