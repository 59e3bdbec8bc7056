import { NIL } from 'uuid';
import { needsSubscription, type EmailType } from '../../pure/emails/email-types.ts';
import { joinSql, sql, type SqlFragment } from '../../database/sql.ts';
import type { RowOf, tables } from '../../database/tables.ts';

/**
 * What an email is for. `transactional`: it reaches everybody, as does a test that somebody sends to a named address.
 * `marketing`: it goes to an audience or follows from an automation, so the contact must have subscribed. `requested`:
 * marketing that a caller sends to named recipients; the caller answers for their consent, unless they withdrew it.
 */
export const PURPOSES = ['transactional', 'marketing', 'requested'] as const;
export type Purpose = (typeof PURPOSES)[number];

/** Why somebody may not receive an email. */
export const REFUSALS = [
  ...(['suppressed', 'pending', 'unsubscribed', 'opted out', 'paused', 'left topic', 'not in topic'] as const),
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** What an email is about, as far as consent depends on it. */
export type TopicRef = Pick<RowOf<(typeof tables)['topic']>, 'id' | 'defaultSubscription'>;

/** What is known of a recipient. What is missing or null refuses nothing: an address may have no contact. */
export interface Recipient {
  /** Why the address is suppressed. */
  suppression?: string | null;
  subscribed?: boolean | null;
  /** When the contact withdrew consent. */
  optedOutAt?: Date | null;
  /** Whether the contact has not confirmed a subscription yet. */
  isPending?: boolean | null;
  /** Until when the contact wants no marketing. */
  pausedUntil?: Date | null;
  /** What the contact chose for the topic of the email; null without a choice. It counts only where `id` is known. */
  topicChoice?: boolean | null;
  /** Absent where the address has no contact: then the default of the topic refuses nothing. */
  id?: string | null;
}

interface Rule {
  refusal: Refusal;
  purposes: readonly Purpose[];
  /** A suppression is of an address, and may come at any time, so it is decided when the email is handed over. */
  about: 'address' | 'contact' | 'topic';
  /** Over `contact c`, and the suppression `s` of its address (`suppressionJoin`). */
  sql: (topic: TopicRef, chose: Chose) => SqlFragment;
  applies: (recipient: Recipient, topic: TopicRef) => boolean;
}

/** The choice of the contact `c` about a topic; null without one, and where the email has no topic. */
export function topicChoice(topicId: string | undefined): SqlFragment {
  if (topicId === undefined) return sql`null::boolean`;
  return sql`(select t.subscribed from topic_subscription t where t.topic_id = ${topicId}::uuid and t.contact_id = c.id)`;
}

/** Whether the contact `c` has made a choice about the topic of the email, and this one. */
type Chose = (subscribed: boolean) => SqlFragment;

/** The contacts of a statement that goes through many in the order of their ids. */
export interface IdRange {
  after: string;
  last: SqlFragment;
}

/** One look-up for each contact, or with a range one for all, which takes a third of the time. */
function choiceIn({ id }: TopicRef, range: IdRange | undefined): Chose {
  const who = range
    ? sql`t.contact_id > ${range.after}::uuid and t.contact_id <= ${range.last}`
    : sql`t.contact_id = c.id`;
  return (subscribed) => sql`
    c.id in (select t.contact_id from topic_subscription t
      where t.topic_id = ${id}::uuid and t.subscribed = ${subscribed}::boolean and ${who})`;
}

const MARKETING: readonly Purpose[] = ['marketing', 'requested'];

/** Who may not receive what, the most important reason first. Nothing else decides it. */
const RULES: readonly Rule[] = [
  {
    refusal: 'suppressed',
    purposes: PURPOSES,
    about: 'address',
    sql: () => sql`s.reason is not null`,
    applies: ({ suppression }) => Boolean(suppression),
  },
  {
    refusal: 'pending',
    purposes: MARKETING,
    about: 'contact',
    sql: () => sql`c.is_pending`,
    applies: ({ isPending }) => isPending === true,
  },
  {
    refusal: 'unsubscribed',
    purposes: ['marketing'],
    about: 'contact',
    sql: () => sql`not c.subscribed`,
    applies: ({ subscribed }) => subscribed === false,
  },
  {
    refusal: 'opted out',
    purposes: ['requested'],
    about: 'contact',
    sql: () => sql`c.opted_out_at is not null`,
    applies: ({ optedOutAt }) => Boolean(optedOutAt),
  },
  {
    refusal: 'paused',
    purposes: MARKETING,
    about: 'contact',
    sql: () => sql`coalesce(c.paused_until > now(), false)`,
    applies: ({ pausedUntil }) => Boolean(pausedUntil && pausedUntil.getTime() > Date.now()),
  },
  {
    refusal: 'left topic',
    purposes: MARKETING,
    about: 'topic',
    sql: (_topic, chose) => chose(false),
    applies: (recipient) => recipient.topicChoice === false,
  },
  {
    // A caller answers for the consent of recipients whom the request names.
    refusal: 'not in topic',
    purposes: ['marketing'],
    about: 'topic',
    sql: ({ defaultSubscription }, chose) => (defaultSubscription === 'opt_in' ? sql`false` : sql`not ${chose(true)}`),
    applies: (recipient, { defaultSubscription }) =>
      defaultSubscription === 'opt_out' && Boolean(recipient.id) && recipient.topicChoice !== true,
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

type About = Rule['about'];

function rulesOf(purpose: Purpose, topic: TopicRef | null, about: readonly About[]): readonly Rule[] {
  return RULES.filter(
    (rule) => rule.purposes.includes(purpose) && about.includes(rule.about) && (topic || rule.about !== 'topic'),
  );
}

/** Rules about topics are asked only where there is one. */
const NO_TOPIC: TopicRef = { id: NIL, defaultSubscription: 'opt_in' };

function noneOf(purpose: Purpose, topic: TopicRef | null, about: readonly About[], range?: IdRange): SqlFragment {
  const rules = rulesOf(purpose, topic, about);
  // Who is not in a topic includes who left it, so one look-up for each contact is enough.
  const mustJoin = topic?.defaultSubscription === 'opt_out' && rules.some((rule) => rule.refusal === 'not in topic');
  const asked = mustJoin ? rules.filter((rule) => rule.refusal !== 'left topic') : rules;
  const of = topic ?? NO_TOPIC;
  const refusals = asked.map((rule) => rule.sql(of, choiceIn(of, range)));
  return refusals.length === 0 ? sql`true` : sql`not (${joinSql(refusals, ' or ')})`;
}

/**
 * Whether the contact `c` may receive email of a purpose, about a topic, at its address, whose suppression is `s`
 * (`suppressionJoin`).
 */
export function mayReceive(purpose: Purpose, topic: TopicRef | null = null): SqlFragment {
  return noneOf(purpose, topic, ['address', 'contact', 'topic']);
}

/**
 * Whether the contact `c` has consented to a purpose and a topic, whatever its address: the part of `mayReceive` about
 * contacts.
 */
export function hasConsented(purpose: Purpose, topic: TopicRef | null = null, range?: IdRange): SqlFragment {
  return noneOf(purpose, topic, ['contact', 'topic'], range);
}

/** As `hasConsented`: why the contact `c` has not consented, as a `Refusal`; null if it has. */
export function consentRefusal(purpose: Purpose, topic: TopicRef | null): SqlFragment {
  const rules = rulesOf(purpose, topic, ['contact', 'topic']);
  if (rules.length === 0) return sql`null::text`;
  const of = topic ?? NO_TOPIC;
  const cases = rules.map((rule) => sql`when ${rule.sql(of, choiceIn(of, undefined))} then ${rule.refusal}::text`);
  return sql`(case ${joinSql(cases, ' ')} end)`;
}

/** As `mayReceive`, for a recipient in memory: why it may not receive such email; undefined if it may. */
export function refusalOf(purpose: Purpose, recipient: Recipient, topic: TopicRef | null = null): Refusal | undefined {
  const rules = rulesOf(purpose, topic, ['address', 'contact', 'topic']);
  return rules.find(({ applies }) => applies(recipient, topic ?? NO_TOPIC))?.refusal;
}
