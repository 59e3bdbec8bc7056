import { needsSubscription, type EmailType } from '../../pure/emails/email-types.ts';
import { joinSql, sql, type SqlFragment } from '../../database/sql.ts';

/**
 * What an email is for. `transactional`: it reaches everybody, as does a test that somebody sends to a named address.
 * `marketing`: it goes to an audience or follows from an automation, so the contact must have subscribed. `requested`:
 * marketing that a caller sends to named recipients; the caller answers for their consent, unless they withdrew it.
 */
export const PURPOSES = ['transactional', 'marketing', 'requested'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** Why somebody may not receive an email. */
export type Refusal = 'suppressed' | 'unsubscribed' | 'opted out';

/** What is known of a recipient. What is missing or null refuses nothing: an address may have no contact. */
export interface Recipient {
  /** Why the address is suppressed. */
  suppression?: string | null;
  subscribed?: boolean | null;
  /** When the contact withdrew consent. */
  optedOutAt?: Date | null;
}

interface Rule {
  refusal: Refusal;
  purposes: readonly Purpose[];
  /** A suppression is of an address, and may come at any time, so it is decided when the email is handed over. */
  about: 'address' | 'contact';
  /** Over `contact c`, and the suppression `s` of its address (`suppressionJoin`). */
  sql: SqlFragment;
  applies: (recipient: Recipient) => boolean;
}

/** Who may not receive what, the most important reason first. Nothing else decides it. */
const RULES: readonly Rule[] = [
  {
    refusal: 'suppressed',
    purposes: PURPOSES,
    about: 'address',
    sql: sql`s.reason is not null`,
    applies: ({ suppression }) => Boolean(suppression),
  },
  {
    refusal: 'unsubscribed',
    purposes: ['marketing'],
    about: 'contact',
    sql: sql`not c.subscribed`,
    applies: ({ subscribed }) => subscribed === false,
  },
  {
    refusal: 'opted out',
    purposes: ['requested'],
    about: 'contact',
    sql: sql`c.opted_out_at is not null`,
    applies: ({ optedOutAt }) => Boolean(optedOutAt),
  },
];

/**
 * The purpose of an email of a type.
 * @param isRequested whether a caller names the recipients; otherwise an audience or an automation does
 */
export function purposeOf(type: EmailType, isRequested = false): Purpose {
  if (!needsSubscription(type)) return 'transactional';
  return isRequested ? 'requested' : 'marketing';
}

function noneOf(rules: readonly Rule[]): SqlFragment {
  if (rules.length === 0) return sql`true`;
  return sql`not (${joinSql(
    rules.map((rule) => rule.sql),
    ' or ',
  )})`;
}

const rulesOf = (purpose: Purpose) => RULES.filter(({ purposes }) => purposes.includes(purpose));

/** Whether the contact `c` may receive email of a purpose at its address, whose suppression is `s` (`suppressionJoin`). */
export function mayReceive(purpose: Purpose): SqlFragment {
  return noneOf(rulesOf(purpose));
}

/** Whether the contact `c` has consented to a purpose, whatever its address: the part of `mayReceive` about contacts. */
export function hasConsented(purpose: Purpose): SqlFragment {
  return noneOf(rulesOf(purpose).filter(({ about }) => about === 'contact'));
}

/** As `mayReceive`, for a recipient in memory: why it may not receive email of a purpose; undefined if it may. */
export function refusalOf(purpose: Purpose, recipient: Recipient): Refusal | undefined {
  return rulesOf(purpose).find(({ applies }) => applies(recipient))?.refusal;
}
