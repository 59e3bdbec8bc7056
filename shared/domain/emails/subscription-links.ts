import { DAY_MS } from '../../pure/days.ts';
import { AppError } from '../../pure/app-error.ts';
import type { Language } from '../../pure/languages/languages.ts';
import type { Feedback, SubscriptionCause, SubscriptionReason } from '../../pure/events/subscription-reasons.ts';
import type { Evidence } from '../consent/records.ts';
import { setPause, setTrackingAllowed } from '../contacts/contact-choices.ts';
import { lockContacts } from '../contacts/contact-locks.ts';
import { patchContact, setSubscribed } from '../contacts/contacts.ts';
import { addFeedback, type SubscriptionChange } from '../events/events.ts';
import { changeTopics } from '../topics/topic-choices.ts';
import { query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { number, text } from '../../database/tables.ts';
import { findLinkContact, readChoices, type LinkContact, type LinkOwner, type ReaderChoices } from './link-contact.ts';

/** How long a contact can pause all marketing on the preference page. */
export const PAUSE_DAYS = 30;

/** How recipients use the links of an email. */
type LinkReason = Extract<SubscriptionReason, 'link' | 'page' | 'one_click' | 'email'>;

/** What a contact changes on a page. What is left out stays as it is. */
export interface Wishes {
  /** What the email with the link is about: its topic, or without one all marketing. */
  emailSubject?: boolean;
  /** All marketing. */
  subscribed?: boolean;
  /** Ids of topics. Those that the page does not offer to the contact are ignored. */
  joins?: readonly string[];
  leaves?: readonly string[];
  /** true: for `PAUSE_DAYS`. */
  paused?: boolean;
  trackingAllowed?: boolean;
  /** null: no language of its own. */
  language?: Language | null;
  /** Why the contact left before. */
  feedback?: Feedback;
}

/** Spells out what `emailSubject` means. */
function spelledOut({ topics }: ReaderChoices, { emailSubject, ...wishes }: Wishes): Wishes {
  if (emailSubject === undefined) return wishes;
  const ids = topics.filter(({ isOfEmail }) => isOfEmail).map(({ id }) => id);
  if (ids.length === 0) return { ...wishes, subscribed: emailSubject };
  return emailSubject ? { ...wishes, subscribed: true, joins: ids } : { ...wishes, leaves: ids };
}

/** The wishes that change something, as far as the page offers them. */
function planOf(choices: ReaderChoices, wishes: Wishes) {
  const { subscribed, topics, pausedUntil, trackingAllowed, tracking } = choices;
  const wanted = spelledOut(choices, wishes);
  const offered = (ids: readonly string[] = []) => topics.filter(({ id }) => ids.includes(id));
  const leavesAll = wanted.subscribed === false;
  const joins = leavesAll ? [] : offered(wanted.joins);
  // Who gets nothing, and chooses some topics, wants these and no others.
  const isSelection = !subscribed && wishes.emailSubject === undefined && joins.length > 0;
  const leaves = isSelection ? topics.filter((topic) => !joins.includes(topic)) : offered(wanted.leaves);
  return {
    /** Also where nothing is left: it makes the end of a subscription by a bounce the contact's own. */
    leavesAll,
    leaves,
    /** Whether the contact ends what the email is about. */
    leavesEmail: (leavesAll && subscribed) || leaves.some(({ isOfEmail, isOn }) => isOfEmail && isOn),
    subscribes: !subscribed && (wanted.subscribed === true || isSelection),
    joins: joins.filter(({ isOn }) => !isOn),
    pauses: wanted.paused === true && !pausedUntil && subscribed && !leavesAll,
    resumes: wanted.paused === false && pausedUntil !== null,
    tracking:
      tracking === 'CONSENTED' && wanted.trackingAllowed !== trackingAllowed ? wanted.trackingAllowed : undefined,
  };
}

/**
 * Changes what the contact that a link belongs to has chosen; a repeated call changes nothing. The campaign of the email
 * counts it when the contact leaves the topic of the email, or all marketing, once for each email. Whoever subscribes
 * again ends its pause; whoever joins a topic does not, because the page shows the pause beside it.
 * @param reason how the recipient used the link
 * @returns the contact as it is now; undefined when it no longer exists; 'too often' when it cannot begin anything
 *   again for now. Leaving is always possible, and is done then, too.
 */
export async function changeChoices(
  em: Em,
  owner: LinkOwner,
  wishes: Wishes,
  reason: LinkReason,
  evidence?: Evidence,
): Promise<LinkContact | 'too often' | undefined> {
  const { emailId } = owner;
  const cause: SubscriptionCause = { reason, emailId };
  const changed = await inTransaction(em, async (tx) => {
    const contact = await findLinkContact(tx, owner);
    // Contact, email, campaign: see the order of locks at `inTransaction`.
    if (!contact || (await lockContacts(tx, contact.projectId, [contact.id], 'change')).length === 0) return undefined;
    const choices = await readChoices(tx, contact, emailId);
    const plan = planOf(choices, wishes);
    if (plan.leavesEmail) await countUnsubscription(tx, emailId);
    await endWhatIsLeft(tx, contact, plan, { cause, evidence });
    const isMore = plan.subscribes || plan.joins.length > 0 || plan.resumes || plan.tracking === true;
    const isTooOften = isMore && (await hasChosenTooOften(tx, contact.id));
    if (isMore && !isTooOften) await beginWhatIsJoined(tx, contact, plan, { cause, evidence });
    if (wishes.feedback) await addFeedback(tx, contact.id, emailId, wishes.feedback);
    const subscribed = plan.leavesAll ? false : choices.subscribed || (plan.subscribes && !isTooOften);
    return { contact: { ...contact, subscribed }, isTooOften };
  });
  if (!changed) return undefined;
  if (wishes.language !== undefined) await storeLanguage(em, changed.contact, wishes.language, cause);
  return changed.isTooOften ? 'too often' : changed.contact;
}

type Plan = ReturnType<typeof planOf>;
type Why = Omit<SubscriptionChange, 'contactId'>;

async function changeTopicsOf(
  tx: Em,
  { id, projectId }: LinkContact,
  topics: readonly { id: string }[],
  subscribed: boolean,
  why: Why,
): Promise<void> {
  const changes = topics.map((topic) => ({ contactId: id, topicId: topic.id, subscribed }));
  await changeTopics(tx, projectId, changes, why.cause, why.evidence);
}

async function endWhatIsLeft(
  tx: Em,
  contact: LinkContact,
  { leavesAll, leaves, pauses, tracking }: Plan,
  why: Why,
): Promise<void> {
  const { id, projectId } = contact;
  if (leavesAll) await setSubscribed(tx, projectId, [id], false, () => why);
  await changeTopicsOf(tx, contact, leaves, false, why);
  if (pauses) await setPause(tx, projectId, id, new Date(Date.now() + PAUSE_DAYS * DAY_MS), why);
  if (tracking === false) await setTrackingAllowed(tx, projectId, [id], false, why);
}

async function beginWhatIsJoined(
  tx: Em,
  contact: LinkContact,
  { subscribes, joins, resumes, tracking }: Plan,
  why: Why,
): Promise<void> {
  const { id, projectId } = contact;
  if (subscribes) await setSubscribed(tx, projectId, [id], true, () => why);
  await changeTopicsOf(tx, contact, joins, true, why);
  if (resumes || subscribes) await setPause(tx, projectId, id, null, why);
  if (tracking === true) await setTrackingAllowed(tx, projectId, [id], true, why);
}

/** Stores the language where `chooseLanguage` reads it. Data without room for it keeps what it has. */
async function storeLanguage(em: Em, contact: LinkContact, locale: Language | null, cause: SubscriptionCause) {
  const { id, projectId } = contact;
  await patchContact(em, projectId, id, { data: { locale } }, cause).catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
  });
}

/** As `changeChoices`, for what the email with the link is about: its topic, or without one all marketing. */
export async function changeSubscription(
  em: Em,
  owner: LinkOwner,
  subscribed: boolean,
  reason: LinkReason = 'link',
  evidence?: Evidence,
): Promise<LinkContact | 'too often' | undefined> {
  return changeChoices(em, owner, { emailSubject: subscribed }, reason, evidence);
}

/**
 * As `changeSubscription`, for an unsubscription by email. An email without a contact passes its own id as that of the
 * contact, so `findLinkContact` finds the contact who has the address now.
 */
export async function unsubscribeByEmail(em: Em, emailId: string): Promise<void> {
  const email = await queryOne(
    em,
    sql`select coalesce(contact_id, erased_contact_id, id) as "contactId" from email where id = ${emailId}`,
    { contactId: text },
  );
  if (email) await changeSubscription(em, { contactId: email.contactId, emailId }, false, 'email');
}

/**
 * How often a contact can subscribe, join one topic, end a pause or allow tracking through links in 24 hours. Each of
 * them, and each end of one, is recorded.
 */
const CHOICES_PER_DAY_MAX = 20;

/** Whether something was chosen too often; the caller has locked the contact. */
async function hasChosenTooOften(em: Em, contactId: string): Promise<boolean> {
  const often = await queryOne(
    em,
    sql`
      select count(*) from consent_record
      where contact_id = ${contactId} and state in ('subscribed', 'resumed', 'tracking_allowed')
        and cause in ('link', 'page') and created_at > now() - interval '1 day'
      group by topic_id, state having count(*) >= ${CHOICES_PER_DAY_MAX} limit 1`,
    { count: number },
  );
  return often !== undefined;
}

async function countUnsubscription(em: Em, emailId: string): Promise<void> {
  await query(
    em,
    sql`
      with marked as (
        update email set unsubscribed_at = now() where id = ${emailId} and unsubscribed_at is null returning campaign_id
      )
      update campaign c set unsubscribed_count = c.unsubscribed_count + 1 from marked m where c.id = m.campaign_id`,
  );
}
