import { uuidV7 } from '../../platform/uuid.ts';
import { validationError, type FieldError } from '../../pure/app-error.ts';
import type { DoubleOptIn } from '../../pure/double-opt-in.ts';
import { readDataPatch } from '../../pure/contacts/custom-data.ts';
import { ruledPatch, type PublicKeyRules } from '../../pure/public-key-rules.ts';
import type { Language } from '../../pure/languages/languages.ts';
import { optInState } from '../../database/constants.ts';
import { json, query, queryOne, sql, inTransaction, type Em } from '../../database/sql.ts';
import { boolean, nullable, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { addToOutbox } from '../../durable/outbox/outbox.ts';
import { evidenceOf, wordingId, type Evidence } from '../consent/records.ts';
import { setSubscribed, upsertContacts, type UpsertedContact } from '../contacts/contacts.ts';
import { respell } from '../suppressions/spellings.ts';
import { suppressionJoin } from '../suppressions/suppressions.ts';
import { changeTopics } from '../topics/topic-choices.ts';
import { expireOptIn } from './advance.ts';
import { applyFormData } from './confirm.ts';
import { findConfirmationSource } from './confirmation-mail.ts';
import {
  isExpired,
  isMissingSomething,
  lockOptIn,
  readOptIn,
  recordMissing,
  settingsOf,
  type OptIn,
} from './opt-in.ts';

/** A checked request of POST /v1/subscribe. */
export interface SubscribeRequest {
  projectId: string;
  /** A normalised address. */
  email: string;
  /** Keys of topics; all marketing when empty. */
  topics: readonly string[];
  data?: Record<string, unknown> | undefined;
  language?: Language | undefined;
  /** The words that the form showed. */
  wording?: string | undefined;
  /** Whether private topics may be asked for. */
  mayJoinPrivate: boolean;
  rules: PublicKeyRules | null;
  evidence: Evidence;
}

const CHOSEN_TOPIC = {
  ...pick(tables.topic, 'id', 'key', 'defaultSubscription', 'visibility', 'doubleOptIn'),
  choice: nullable(boolean),
};
type ChosenTopic = RowOf<typeof CHOSEN_TOPIC>;

/** The topics of a request, with the choices of a contact, whose address may be unknown. */
async function findTopics(em: Em, projectId: string, keys: readonly string[], email: string): Promise<ChosenTopic[]> {
  if (keys.length === 0) return [];
  return query(
    em,
    sql`
      select t.id, t.key, t.default_subscription as "defaultSubscription", t.visibility, t.double_opt_in as "doubleOptIn",
        s.subscribed as choice
      from topic t left join contact c on c.project_id = t.project_id and c.email = ${email}
        left join topic_subscription s on s.topic_id = t.id and s.contact_id = c.id
      where t.project_id = ${projectId} and t.key = any(${[...keys]}::text[])`,
    CHOSEN_TOPIC,
  );
}

async function readSettings(em: Em, projectId: string): Promise<DoubleOptIn> {
  const row = await queryOne(em, sql`select double_opt_in as settings from project where id = ${projectId}`, {
    settings: tables.project.doubleOptIn,
  });
  return settingsOf(row?.settings ?? null);
}

/**
 * Refuses a request for what it asks, whoever it is about.
 * @throws AppError VALIDATION_ERROR for topics that are unknown or private, and for a project that cannot send
 */
async function assertPossible(
  em: Em,
  { projectId, topics: keys, mayJoinPrivate }: SubscribeRequest,
  settings: DoubleOptIn,
  topics: readonly ChosenTopic[],
): Promise<void> {
  const known = new Set(topics.filter((t) => mayJoinPrivate || t.visibility === 'public').map(({ key }) => key));
  const faults = keys.flatMap((key, index): FieldError[] =>
    known.has(key)
      ? []
      : [
          {
            field: `topics.${index}`,
            message: `There is no public topic with the key "${key}"`,
            code: 'unknown_topic',
          },
        ],
  );
  if (faults.length > 0) throw validationError(faults);
  const needsConfirmation =
    topics.length === 0 ? settings.isRequired : topics.some((topic) => topic.doubleOptIn ?? settings.isRequired);
  if (!needsConfirmation || (await findConfirmationSource(em, projectId, settings))) return;
  const message =
    settings.from === null
      ? 'This project cannot send confirmations, because it has no verified sender domain'
      : `This project cannot send confirmations from ${settings.from}, because its domain is not verified`;
  throw validationError([{ field: 'doubleOptIn.from', message, code: 'no_sender' }]);
}

async function isSuppressed(em: Em, projectId: string, email: string): Promise<boolean> {
  const row = await queryOne(
    em,
    sql`
      select s.reason from (select ${projectId}::uuid as project_id, ${email}::text as email) a
      ${suppressionJoin(sql`a.project_id`, sql`a.email`)}`,
    { reason: nullable(text) },
  );
  return row !== undefined && row.reason !== null;
}

/**
 * Takes a request of a form. What has to be confirmed waits in an opt-in, whose workflow sends the confirmation; the
 * rest counts at once, unless the contact has left it before. A suppressed address gets nothing. Nobody learns from the
 * outcome what is known of the address.
 * @throws AppError VALIDATION_ERROR as `assertPossible`
 */
export async function subscribe(em: Em, request: SubscribeRequest): Promise<void> {
  const { projectId, email } = request;
  const settings = await readSettings(em, projectId);
  await assertPossible(em, request, settings, await findTopics(em, projectId, request.topics, email));
  await inTransaction(em, async (tx) => {
    await respell(tx, projectId, [email]);
    if (await isSuppressed(tx, projectId, email)) return;
    const cause = { reason: 'form' } as const;
    const [contact] = await upsertContacts(tx, { projectId, emails: [email], subscribedDefault: false, cause });
    if (!contact) return;
    // The contact is locked now, so these choices stay until the end.
    const topics = await findTopics(tx, projectId, request.topics, email);
    const evidence = {
      ...request.evidence,
      wordingId: request.wording === undefined ? null : await wordingId(tx, request.wording),
    };
    const asked = { request, settings, contact, topics, evidence };
    const isSubscribed = await subscribeAtOnce(tx, asked);
    await openOptIn(tx, asked, isSubscribed);
  });
}

interface Asked {
  request: SubscribeRequest;
  settings: DoubleOptIn;
  contact: UpsertedContact;
  topics: readonly ChosenTopic[];
  evidence: Evidence;
}

function formDataOf({ data, rules, language }: SubscribeRequest): Wait['form'] {
  const patch = readDataPatch(data);
  const { stored, removed } = rules ? ruledPatch(rules, patch) : patch;
  return { language: language ?? null, data: { ...Object.fromEntries(removed.map((key) => [key, null])), ...stored } };
}

/**
 * Whether the contact has left everything, or pauses. A form proves nothing about who filled it, so what somebody has
 * ended comes back only when they confirm.
 */
function hasEnded({ optedOutAt, pausedUntil }: UpsertedContact): boolean {
  return optedOutAt !== null || (pausedUntil !== null && pausedUntil > new Date());
}

/** Subscribes to what needs no confirmation, and was not ended before. @returns whether the contact is subscribed now */
async function subscribeAtOnce(tx: Em, { request, settings, contact, topics, evidence }: Asked): Promise<boolean> {
  const now = topics.filter(isAtOnce({ settings, contact }));
  const isAll = topics.length === 0 && !settings.isRequired && !hasEnded(contact);
  if (!isAll && now.length === 0) return contact.subscribed;
  const { projectId } = request;
  const cause = { reason: 'form' } as const;
  const locale = typeof contact.data['locale'] === 'string' ? contact.data['locale'] : null;
  await applyFormData(tx, { projectId, contactId: contact.id, locale }, formDataOf(request));
  await setSubscribed(tx, projectId, [contact.id], true, () => ({ cause, evidence }));
  const choices = now.map(({ id }) => ({ contactId: contact.id, topicId: id, subscribed: true }));
  await changeTopics(tx, projectId, choices, cause, evidence);
  return true;
}

/** Whether a topic counts at once: it needs no confirmation, and the contact has neither left it nor `hasEnded`. */
function isAtOnce({ settings, contact }: Pick<Asked, 'settings' | 'contact'>): (topic: ChosenTopic) => boolean {
  return ({ doubleOptIn, choice }) => !(doubleOptIn ?? settings.isRequired) && choice !== false && !hasEnded(contact);
}

/** Has what the contact still lacks wait for a confirmation. */
async function openOptIn(tx: Em, asked: Asked, isSubscribed: boolean): Promise<void> {
  const { request, settings, contact, topics, evidence } = asked;
  const waiting = topics
    .filter((topic) => !isAtOnce(asked)(topic))
    .filter(({ choice, defaultSubscription }) => !isSubscribed || !(choice ?? defaultSubscription === 'opt_in'));
  if (isSubscribed && waiting.length === 0 && !hasEnded(contact)) return;
  await waitForConfirmation(tx, {
    projectId: request.projectId,
    contactId: contact.id,
    settings,
    evidence,
    topicIds: waiting.map(({ id }) => id),
    isFirst: contact.isNew || contact.isPending,
    form: formDataOf(request),
  });
}

interface Wait {
  projectId: string;
  contactId: string;
  settings: DoubleOptIn;
  topicIds: string[];
  form: Pick<OptIn, 'language' | 'data'>;
  /** Whether the contact exists for this only. */
  isFirst: boolean;
  evidence: Evidence;
}

/** The open opt-in of a contact. One whose time is over is ended first. */
async function findOpen(tx: Em, contactId: string): Promise<{ open?: OptIn; ended?: OptIn }> {
  const found = await queryOne(
    tx,
    sql`select id from opt_in where contact_id = ${contactId} and state = ${optInState.pending}`,
    { id: tables.optIn.id },
  );
  const optIn = found && (await lockOptIn(tx, found.id));
  if (!optIn) return {};
  if (optIn.expiresAt > new Date()) return { open: optIn };
  await expireOptIn(tx, optIn);
  return { ended: optIn };
}

/** Adds to the open opt-in of a contact, or opens one, and has a confirmation sent. The contact is locked. */
async function waitForConfirmation(tx: Em, wait: Wait): Promise<void> {
  const { projectId, contactId, settings, topicIds, evidence, form } = wait;
  const { open, ended } = await findOpen(tx, contactId);
  const id = open?.id ?? uuidV7();
  const inDays = (days: number) => sql`now() + ${days}::int * interval '1 day'`;
  const hasReminder = settings.remindAfterDays > 0 && settings.remindAfterDays < settings.expireAfterDays;
  await query(
    tx,
    sql`
      with pending as (update contact set is_pending = true where id = ${contactId} and not subscribed)
      insert into opt_in as o (id, project_id, contact_id, topic_ids, language, data, client_address, wording_id, is_first,
        remind_at, expires_at)
      values (${id}, ${projectId}, ${contactId}, ${topicIds}::uuid[], ${form.language}, ${json(form.data)}::jsonb,
        ${evidence.clientAddress ?? null}, ${evidence.wordingId ?? null}, ${ended?.isFirst ?? wait.isFirst},
        ${hasReminder ? inDays(settings.remindAfterDays) : sql`null`}, ${inDays(settings.expireAfterDays)})
      on conflict (id) do update set
        topic_ids = array(select distinct unnest(o.topic_ids || excluded.topic_ids)), data = o.data || excluded.data,
        language = coalesce(excluded.language, o.language), client_address = excluded.client_address,
        wording_id = coalesce(excluded.wording_id, o.wording_id), expires_at = excluded.expires_at,
        is_mail_wanted = true, due_at = now()`,
  );
  const after = await readOptIn(tx, id);
  if (after) {
    const topics = after.topics.filter((topic) => !open?.topicIds.includes(topic.id));
    const isKnown = open !== undefined || after.subscribed;
    await recordMissing(tx, { ...after, topics, subscribed: isKnown }, 'pending', evidence);
  }
  if (!open?.isMailWanted) await addToOutbox(tx, 'optIn', projectId, [id]);
}

/** Opens an opt-in again that has expired, and has a confirmation sent, if the address may get one. @returns the opt-in */
export async function askAgain(em: Em, id: string, clientAddress: string | undefined): Promise<OptIn | undefined> {
  return inTransaction(em, async (tx) => {
    const optIn = await lockOptIn(tx, id);
    if (!optIn || !isExpired(optIn) || !isMissingSomething(optIn)) return optIn;
    const evidence = evidenceOf(clientAddress, optIn.clientAddresses);
    const { projectId, contactId, topicIds, isFirst, language } = optIn;
    const settings = settingsOf(optIn.settings);
    await waitForConfirmation(tx, {
      projectId,
      contactId,
      settings,
      topicIds,
      isFirst,
      evidence,
      form: { language, data: {} },
    });
    return optIn;
  });
}
