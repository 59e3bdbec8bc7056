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
const NO_STANDING = /ur[li]$|link|token|href|password/;
const LEFT =
  /unsub|opt(?:ed|s|ing)?out|bounc|complain|spam|abuse|blacklist|blocklist|suppress|cleaned|undeliver|donot|dontmail|^dnc|noemail|nomail|quarantin|desabonn|desinscri|abgemeld|abmeld|uitgeschreven|afgemeld|disiscri|descadastr|fechabaja/;
/** They say that somebody has left only when nothing else is named beside them, as in `deleted items`. */
const LEFT_ALONE =
  /clean|blocked|banned|inactive|disabled|deactivated|deleted|removed|invalid|revoked|withdrawn|gesperrt/;
const STATE = /^(?:address)?(?:state|estado|stato|standing|lifecycle)$/;
const STATUS = /status|state|statut|estado|stato/;
const FLAG =
  /subscri|opt(?:ed)?in|consent|permission|newsletter|marketing|mailing|gdpr|active|enabled|confirmed|verified|mailable|contactable|deliverab|reachable|abonn|inscri|angemeldet|einwillig|suscri|iscri/;
const MENTION = /event|result|reason|type|list|group|category|kind/;

/** Words that leave the meaning of a name as it is. */
const FILLERS = [
  'subscri(?:ptions?|bers?|bed?|be)|newsletters?|marketing|e?mail(?:s|ing|ings|able|address)?|address|messages?',
  'contact(?:s|able)?|members?|lists?|audience|users?|accounts?|customers?|recipients?|profiles?|persons?|people',
  'opt(?:ed|ing)?(?:in|out)|double|single|consent|permissions?|given|stat(?:us|ut|e)|estado|stato|current(?:ly)?',
  'deliver(?:y|ability|able|ed)|reachable|global(?:ly)?|accepts?|allows?|receives?|wants?|communications?|legal|basis',
  'gdpr|preferences?|flag|hard|inactive|active|enabled|disabled|deactivated|deleted|removed|blocked|banned|invalid',
  'revoked|withdrawn|clean|confirmed|verified|einwilligung|abonn(?:e|ent|ement|iert)s?|inscrite?|gesperrt|angemeldet',
  'mailchimp|listmonk|sendgrid|resend|brevo|mailerlite|klaviyo|hubspot|activecampaign|sendinblue|postmark|mailjet',
  'all|from|for|the|has|can|was|is|of|to|my',
].join('|');
const DETAILS = 'timestamp|time|date|since|reason|campaign|title|other|at|on|by|id';
const FILLERS_ONLY = new RegExp(`^(?:${FILLERS})+$`);
const FILLERS_AND_DETAILS_ONLY = new RegExp(`^(?:${FILLERS}|${DETAILS})+$`);

/** How a column speaks of subscriptions; undefined when it does not. @param header its name in the file */
export function standingColumn(header: string): StandingColumn | undefined {
  const name = comparable(header);
  if (NO_STANDING.test(name) || (OTHER_CHANNEL.test(name) && !name.includes('mail'))) return undefined;
  const kindOf = (): StandingColumn['kind'] | undefined => {
    if (LEFT.test(name) || (LEFT_ALONE.test(name) && FILLERS_AND_DETAILS_ONLY.test(name))) return 'left';
    if (STATE.test(name)) return 'state';
    const isStatus = STATUS.test(name);
    if (isStatus || FLAG.test(name)) return FILLERS_ONLY.test(name) ? (isStatus ? 'status' : 'flag') : 'mention';
    return MENTION.test(name) ? 'mention' : undefined;
  };
  const kind = kindOf();
  return kind && { kind, name };
}

const NOTHING = /^(?:0*|null|nil|na|nan|undefined|unset|empty|0001010[12]t?0*z?|19700101.*)$/;
const NO = /^(?:no|n|false|f|off|non|nein|nee)$/;
const YES = /^(?:yes|y|true|t|on|oui|si|ja|sim|x)$/;
const NOT_LEFT = /^(?:not?|never|un)(?:bounc|block|black|unsub|suppress|complain|optedout|spam)/;
const FINE =
  /^(?:re)?(?:subscri(?:bed?|ber)|active|enabled|(?:double|single|confirmed)?opt(?:ed)?ins?|(?:email)?(?:confirmed|verified)|valid|ok(?:ay)?|deliver(?:able|ed)|opened|clicked|sent|mailable|marketing(?:contact)?|express(?:ed)?|explicit|implied|implicit|granted|given|accepted|allowed|normal|regular|engaged|member|registered|live|current|good|healthy|whitelisted|allowlisted|aktiv|acti[ef]f?|attivo|ativo|activo|abonniert|angemeldet|abonnee?|inscrite?|suscrito|iscritto|inscrito|ingeschreven|aangemeld)$/;
const NEVER =
  /^(?:not.*|non.*|never.*|no(?:consent|permissions?|optin|e?mail)|.*pending.*|unconfirmed|awaiting.*|waiting.*|unverified|transactional|none|paused|snoozed)$/;
/** Words that can mean nothing but that somebody is not to be written to. */
const LEFT_WORD =
  /^(?:(?:is|has|global(?:ly)?|hard|soft|email|mail|manual(?:ly)?|auto|list|admin|user|markedas|reportedas)*)(?:unsub(?:scribed?|scribes?)?(?:fromall(?:emails?)?)?|opt(?:ed)?outs?|bounced?|bounces|complain(?:ed|ts?|er)|(?:marked)?spam(?:complaints?|reports?|med|trap)?|abuse(?:complaints?|reports?)?|blacklist(?:ed)?|blocklist(?:ed)?|suppress(?:ed|ion)|cleaned|undeliverable|donot(?:mail|email|contact|send)|desabonnee?|desinscrite?|abgemeldet|uitgeschreven|afgemeld|disiscritto|dadodebaja|descadastrado)$/;
const LEFT_PART = /unsub|opt(?:ed)?out|bounc|complain|spam|abuse|blacklist|blocklist|suppress|cleaned|undeliver|donot/;
/** Words that say so in a column about subscriptions. */
const LEFT_HERE =
  /^(?:inactive|disabled|deactivated|cancell?ed|removed|deleted|archived|block(?:ed)?|banned|suspended|invalid|rejected|denied|refused|withdrawn|revoked|declined|expired|held|onhold|quarantined?|junk|unengaged|dormant|lapsed|gone|stopped|closed|out|left|dead|failed|dropped|inaktiv|inacti[ef]f?|inactivo|inattivo|inativo|gesperrt|baja)$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
const DATE = /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})\b/;
/** So many digits are a time in seconds or milliseconds, not a count. */
const TIME_DIGITS_MIN = 9;

function readLeft(name: string, cell: string, word: string): Standing {
  if (NO.test(word) || NOT_LEFT.test(word) || word === 'none' || word === 'never') return null;
  if (/reason|title|campaign/.test(name)) return 'left';
  if (NUMBER.test(cell)) {
    const isCount = /soft|rate|count|number|total|score|days/.test(name);
    if (cell === '1' && !isCount) return 'left';
    return cell.length >= TIME_DIGITS_MIN || /(?:at|time|date|id)$/.test(name) ? 'left' : undefined;
  }
  return FINE.test(word) || /^(?:not|never)/.test(word) ? null : 'left';
}

function readWord(kind: StandingColumn['kind'], cell: string, word: string): Standing {
  if (LEFT_WORD.test(word)) return 'left';
  if (kind === 'mention') return null;
  if (kind === 'state') return LEFT_HERE.test(word) ? 'left' : /pending|^unconfirmed$/.test(word) ? 'never' : null;
  if (kind === 'flag' && NUMBER.test(cell)) return cell === '1' ? 'fine' : undefined;
  if (NOT_LEFT.test(word) || FINE.test(word) || YES.test(word) || DATE.test(cell)) return 'fine';
  if (LEFT_HERE.test(word) || LEFT_PART.test(word)) return 'left';
  return NO.test(word) || NEVER.test(word) ? 'never' : undefined;
}

/** What a cell of such a column says. */
export function readStanding({ kind, name }: StandingColumn, text: string): Standing {
  const cell = text.trim();
  const word = comparable(cell);
  if (kind === 'flag' && cell === '0') return 'never';
  if (kind === 'status' && cell === '0') return undefined;
  if (NOTHING.test(word)) return null;
  return kind === 'left' ? readLeft(name, cell, word) : readWord(kind, cell, word);
}
