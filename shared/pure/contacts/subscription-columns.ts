/**
 * How columns of other tools say who has left: `status`, `UNSUB_TIME`, `Opted out of email`, `Accepts Email Marketing`.
 * Names and words are compared without case, accents, spaces and punctuation.
 */

/**
 * What a cell says: the person has left, has never subscribed, or may be written to; null says nothing, and undefined
 * is a value that is not understood.
 */
export type Standing = 'left' | 'never' | 'fine' | null | undefined;

/**
 * A column that speaks of subscriptions. `left` has a value when somebody has left. `flag` and `status` hold words, and
 * a value that is not understood leaves open whether the person is subscribed. In `mention` and `state` only words that
 * can mean nothing else count, because such columns mostly hold something else, such as the state of an order.
 */
export interface StandingColumn {
  kind: 'left' | 'flag' | 'status' | 'state' | 'mention';
  /** The name for comparisons. */
  name: string;
}

const COMPARED_LENGTH_MAX = 120;

/** A text without case, accents, spaces and punctuation. */
export function comparable(text: string): string {
  return text
    .slice(0, COMPARED_LENGTH_MAX)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');
}

const OTHER_CHANNEL = /sms|phone|mobile|push|whatsapp|postal|fax|mms/;
const NO_STANDING = /ur[li]$|link|token|href|password|^mailing(?:address|street|city|state|zip|postal|country)/;

/** Parts of names and values that say that somebody has left, language by language. */
const GONE = [
  'unsub|opt(?:ed|s|ing)?out|bounc|complain|spam|abuse|blacklist|blocklist|suppress|cleaned|undeliver',
  '(?:donot|dont|never|stop)(?:e?mail|contact|send|market)|donot',
  'abgemeld|abmeld|abbestell|ausgetragen|unzustellbar|rebond|^baja$|debaja|fechabaja|rebotad',
  // Not in `fecha de suscripción` and `liste des abonnés`.
  '(?:^|de|est|contact|email|newsletter)des(?:abon|inscri|uscri)',
  'disiscri|rimbalz|nonconsegnabil|descadastr|dessubscri|uitgeschreven|uitschrijf|afgemeld|afmeld',
].join('|');
const LEFT = new RegExp(
  `${GONE}|^dnc|noemail|nomail|quarantin|^(?:no|keine?|stop|sin|pasde)(?:marketing|newsletter|contact|promo|mailing|e?mail|werbung)`,
);
/** They say that somebody has left only when nothing else is named beside them, as in `deleted items`. */
const GONE_ALONE = [
  'clean|blocked|banned|inactive|disabled|deactivated|deleted|removed|invalid(?:ated)?|revoked|withdrawn|archived',
  'excluded?|muted|rejected|left|stopped|dead|junk|bad|gesperrt|geloscht|deaktiviert|widerruf(?:en)?|supprimee?',
  'desactivee?|exclu(?:id[oa])?|eliminad[oa]|bloquee?|bloquead[oa]|desactivad[oa]|desativad[oa]|removid[oa]|eliminat[oa]',
  'bloccat[oa]|disattivat[oa]|verwijderd|geblokkeerd|beschwerde|plainte|retiree?',
].join('|');
/** They may be about a paid subscription instead, so they leave open who is subscribed. */
const ENDED =
  'cancell?ed|ended|expired|terminated|cancelad[oa]|cancelamento|cancellat[oa]|cancellazione|annul(?:lat[oa]|ee?)|beendet|gekundigt|opgezegd|resiliee?';
const LEFT_ALONE = new RegExp(`${GONE_ALONE}|${ENDED}`);
const IS_ENDED = new RegExp(ENDED);
/** `not_unsubscribed` says the opposite of `unsubscribed`. */
const NOT_LEFT_NAME = /^(?:is|has)?(?:not?|never)(?:unsub|opt(?:ed)?out|bounc|black|block|spam|suppress|complain)/;

const STATE = /^(?:address)?(?:(?:state|estado|stato|standing)|lifecycle(?:stat(?:e|us)|stage)?)$/;
const STATUS = /status|state|statut|estado|stato/;
const FLAG = new RegExp(
  [
    'subscri|opt(?:ed)?in|consent|permission|newsletter|marketing|mailing|gdpr|active|enabled|confirmed|verified|mailable',
    'contactable|deliverab|reachable|abonn|inscri|iscri|suscri|angemeldet|aangemeld|ingeschreven|einwillig|zustimm',
    'toestemming|consens|boletin|nieuwsbrief|infolettre|rundbrief',
  ].join('|'),
);
/** They may hold something else, so a value that is not understood says nothing. */
const WEAK_FLAG =
  /valid|allow|agree|accept|acepta|aceita|accetta|wants?|receives?(?!d)|promo|notif|mailok|okto|sende?mail|(?:can|may)(?:be|receive|e?mail|contact|send)|aktiv|actif|actief|activo|attivo|ativo/;
const MENTION = /event|result|reason|type|list|group|category|kind|membership|validity|validation|verification/;
/** Their words may be about anything, but about the address or the subscription beside such a name. */
const OF_ADDRESS = /subscri|mail|newsletter|^list/;

/** Words that leave the meaning of a name as it is. */
const FILLERS = [
  'subscri(?:ptions?|bers?|bed?|be)|newsletters?|marketing|e?mail(?:s|ing|ings|able|address|ed)?|address|messages?',
  'contact(?:s|able)?|members?|lists?|audience|users?|accounts?|customers?|recipients?|profiles?|persons?|people',
  'opt(?:ed|ing)?(?:in|out)|double|single|consent|permissions?|given|stat(?:us|ut|e)|estado|stato|current(?:ly)?',
  'deliver(?:y|ability|able|ed)|reachable|global(?:ly)?|accepts?|allow(?:s|ed)?|receives?|wants?|communications?|legal',
  'basis|gdpr|preferences?|flag|hard|inactive|active|enabled|confirmed|verified|valid|agree(?:s|d|ment)?|agreedto|send',
  'promo(?:s|tions?|tional)?|offers?|notifications?|ok|may|be|accepted',
  'einwilligung|zustimmung|werbe|werbung|angemeldet|aktiv|abonn(?:e|ent|ement|iert)s?|inscrite?|consentement|acti[fv]e?',
  'accepte|les|infolettre|inscrit[oa]|suscrit[oa]|suscripcion|consentimi?ento|acepta|activ[oa]|boletin|correos?|iscritt[oa]',
  'iscrizione|consenso|accetta|attiv[oa]|aceita|ativ[oa]|aangemeld|ingeschreven|toestemming|actief|nieuwsbrief|rundbrief',
  'mailchimp|listmonk|sendgrid|resend|brevo|mailerlite|klaviyo|hubspot|activecampaign|sendinblue|postmark|mailjet',
  `all|from|for|the|has|can|was|is|of|to|my|${GONE_ALONE}|${ENDED}`,
].join('|');
const DETAILS =
  'timestamp|time|date|since|reason|campaign|title|other|at|on|by|id|am|em|en|el|le|op|il|da|de|di|data|datum|fecha|grund|motivo|motif|reden';
const FILLERS_ONLY = new RegExp(`^(?:${FILLERS})+$`);
const FILLERS_AND_DETAILS_ONLY = new RegExp(`^(?:${FILLERS}|${DETAILS})+$`);

/** How a column speaks of subscriptions; undefined when it does not. @param header its name in the file */
export function standingColumn(header: string): StandingColumn | undefined {
  const name = comparable(header);
  if (NO_STANDING.test(name) || (OTHER_CHANNEL.test(name) && !name.includes('mail'))) return undefined;
  // A number tells lists apart, as in `list_1_status`.
  const words = name.replaceAll(/\d+/g, '');
  const kindOf = (): StandingColumn['kind'] | undefined => {
    if (NOT_LEFT_NAME.test(name)) return 'flag';
    if (LEFT.test(name) || (LEFT_ALONE.test(name) && FILLERS_AND_DETAILS_ONLY.test(words))) return 'left';
    if (STATE.test(name)) return 'state';
    const isStatus = STATUS.test(name);
    const isFlag = FLAG.test(name) || WEAK_FLAG.test(name);
    if ((isStatus || isFlag) && FILLERS_ONLY.test(words)) return isStatus ? 'status' : 'flag';
    if (MENTION.test(name) && OF_ADDRESS.test(name)) return 'state';
    return isStatus || isFlag || MENTION.test(name) ? 'mention' : undefined;
  };
  const kind = kindOf();
  return kind && { kind, name };
}

const NOTHING = /^(?:0[0tz]*|null|nil|na|nan|undefined|unset|empty|0001010[12]t?0*z?|(?:19700101|01011970).*)?$/;
const NO = /^(?:no|n|false|f|off|non|nein|nee|nao|falsch|faux|falso|onwaar|nie(?:mals)?|jamais|nunca|mai|nooit)$/;
const YES = /^(?:yes|y|true|t|on|oui|si|ja|sim|x|wahr|vrai|verdadero|vero|verdadeiro|waar|checked)$/;
/** Marks that spreadsheets show in place of words. */
const CHECK = /^[\u2705\u2611\u2713\u2714\u221A]\uFE0F?$/;
const CROSS = /^[\u274C\u2717\u2718\u2610]\uFE0F?$/;
const NOT_LEFT = /^(?:not?|never|un)(?:bounc|block|black|unsub|suppress|complain|optedout|spam)/;
const FINE =
  /^(?:re)?(?:subscri(?:bed?|ber)|active|enabled|(?:double|single|confirmed|actively|implicit|explicit)?opt(?:ed)?ins?|(?:email)?(?:confirmed|verified)|valid|ok(?:ay)?|deliver(?:able|ed)|opened|clicked|sent|mailable|marketing(?:contact)?|express(?:ed)?|explicit|implied|implicit|granted|given|accepted|allowed|normal|regular|engaged|member|registered|live|current|good|healthy|whitelisted|allowlisted|aktiv|acti[ef]f?|attiv[oa]|ativ[oa]|activ[oa]|abonniert|angemeldet|abonnee?|inscrite?|suscrit[oa]|iscritt[oa]|inscrit[oa]|ingeschreven|aangemeld)$/;
const NEVER =
  /^(?:not.*|non.*|never.*|no(?:consent|permissions?|optin|e?mail)|.*pending.*|unconfirmed|awaiting.*|waiting.*|unverified|transactional|none|paused|snoozed)$/;
/** In words that can mean nothing else: `not subscribed`, `nicht mehr angemeldet`. */
const NOT_SUBSCRIBED =
  /^(?:not?|non|never|nicht|pas|plus|nao|niet|sin|ne)(?:yet|longer|mehr|meer|more|piu|mais)?(?:subscri|suscri|abonn|inscri|iscri|angemeld|aangemeld|ingeschrev|opt(?:ed)?in)/;
/** Words that can mean nothing but that somebody is not to be written to. */
const LEFT_WORD =
  /^(?:(?:is|has|global(?:ly)?|hard|soft|email|mail|manual(?:ly)?|auto|list|admin|user|permanent(?:ly)?|marked(?:as)?|reported(?:as)?)*)(?:unsub(?:scribed?|scribes?)?|opt(?:ed)?outs?|bounced?|bounces|complain(?:ed|ts?|er)|(?:marked)?spam(?:complaints?|reports?|med|trap)?|abuse(?:complaints?|reports?)?|blacklist(?:ed)?|blocklist(?:ed)?|suppress(?:ed|ion)|cleaned|undeliverable|donot(?:mail|email|contact|send)|desabonnee?|desinscrit[oae]?|abgemeldet|abbestellt|ausgetragen|uitgeschreven|afgemeld|disiscritt[oa]|(?:dad[oa])?debaja|descadastrad[oa]|desuscri(?:p?t[oa])|rebotad[oa]|rimbalzat[oa]|unzustellbar|nonconsegnabile)(?:from(?:all(?:emails?)?|list)|by(?:user|admin|contact|recipient|customer|system)|admin|user)?$/;
const LEFT_PART = new RegExp(`${GONE}|cancel|rebote|annul`);
/** Words that say so in a column about subscriptions. */
const LEFT_HERE = new RegExp(
  `^(?:${GONE_ALONE}|${ENDED}|suspended|denied|refused|declined|held|onhold|quarantined?|unengaged|dormant|lapsed|gone|closed|out|failed|dropped|effacee?|inaktiv|inacti[ef]f?|inactiv[oa]|inattiv[oa]|inativ[oa]|rebote|baja)$`,
);
const NUMBER = /^-?\d+(?:\.\d+)?$/;
const DATE = /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})\b/;
/** So many digits are a time in seconds or milliseconds, not a count. */
const TIME_DIGITS_MIN = 9;

function readLeft(name: string, cell: string, word: string): Standing {
  if (NO.test(word) || NOT_LEFT.test(word) || word === 'none' || word === 'never') return null;
  if (/reason|title|campaign|grund|moti[fv]|reden/.test(name)) return 'left';
  if (IS_ENDED.test(name) && !LEFT.test(name)) return undefined;
  if (NUMBER.test(cell)) {
    const isCount = /soft|rate|count|number|total|score|days/.test(name);
    if (cell === '1' && !isCount) return 'left';
    return cell.length >= TIME_DIGITS_MIN || /(?:at|time|date|id)$/.test(name) ? 'left' : undefined;
  }
  return FINE.test(word) || /^(?:not|never)/.test(word) ? null : 'left';
}

function readState(word: string): Standing {
  if (LEFT_HERE.test(word) || (LEFT_PART.test(word) && !NOT_LEFT.test(word))) return 'left';
  return NOT_SUBSCRIBED.test(word) || /pending|^unconfirmed$/.test(word) ? 'never' : null;
}

function readWord({ kind, name }: StandingColumn, cell: string, word: string): Standing {
  if (LEFT_WORD.test(word)) return 'left';
  if (kind === 'mention') return null;
  if (kind === 'state') return readState(word);
  const unknown = kind === 'flag' && !FLAG.test(name) ? null : undefined;
  if (kind === 'flag' && NUMBER.test(cell)) return cell === '1' ? 'fine' : unknown;
  if (NOT_LEFT.test(word) || FINE.test(word) || YES.test(word) || DATE.test(cell)) return 'fine';
  if (LEFT_HERE.test(word) || LEFT_PART.test(word)) return 'left';
  return NO.test(word) || NEVER.test(word) || NOT_SUBSCRIBED.test(word) ? 'never' : unknown;
}

/** What a cell of such a column says. */
export function readStanding(column: StandingColumn, text: string): Standing {
  const { kind, name } = column;
  const cell = text.trim();
  const word = CHECK.test(cell) ? 'yes' : CROSS.test(cell) ? 'no' : comparable(cell);
  if (kind === 'flag' && cell === '0') return 'never';
  if (kind === 'status' && cell === '0') return undefined;
  if (NOTHING.test(word)) return null;
  return kind === 'left' ? readLeft(name, cell, word) : readWord(column, cell, word);
}
