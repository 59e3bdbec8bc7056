import type { Brand } from '../../pure/brand.ts';
import { DOUBLE_OPT_IN, type DoubleOptIn } from '../../pure/double-opt-in.ts';
import type { Language } from '../../pure/languages/languages.ts';
import { columnsOf, queryOne, sql, type Em } from '../../database/sql.ts';
import { boolean, jsonAs, nullable, pick, tables, text, type RowOf } from '../../database/tables.ts';
import { recordConsents, type ConsentState, type Evidence } from '../consent/records.ts';
import { lockContacts } from '../contacts/contact-locks.ts';
import { BRAND } from '../projects/brand.ts';
import type { TopicTexts } from '../topics/topic.entity.ts';

/** A topic that an opt-in is about. */
export interface OptInTopic {
  id: string;
  name: string;
  texts: TopicTexts;
  /** Whether the contact has it already. */
  isHeld: boolean;
}

/** The columns of an opt-in by their names in the table, to which the other columns are added. */
const ROW = {
  ...pick(tables.optIn, 'id', 'projectId', 'contactId', 'topicIds', 'state', 'language', 'data', 'isFirst', 'mails'),
  ...pick(tables.optIn, 'isMailWanted', 'remindAt', 'dueAt', 'expiresAt', 'clientAddress', 'wordingId'),
};
const OPT_IN = {
  ...ROW,
  email: tables.contact.email,
  subscribed: tables.contact.subscribed,
  isPaused: boolean,
  locale: nullable(text),
  settings: tables.project.doubleOptIn,
  brand: jsonAs<Brand>(),
  clientAddresses: tables.project.clientAddresses,
  topics: jsonAs<OptInTopic[]>(),
};
/** A subscription that waits for its confirmation, or waited, with its contact and project. */
export type OptIn = RowOf<typeof OPT_IN>;

/** The settings of a project, with the defaults of those it has not set. */
export function settingsOf(stored: Partial<DoubleOptIn> | null): DoubleOptIn {
  return { ...DOUBLE_OPT_IN, ...stored };
}

export function topicName({ name, texts }: Pick<OptInTopic, 'name' | 'texts'>, language: Language): string {
  return texts[language]?.name ?? name;
}

/** Reads an opt-in. @returns undefined when it, or its contact, no longer exists */
export async function readOptIn(em: Em, id: string, isLocked = false): Promise<OptIn | undefined> {
  return queryOne(
    em,
    sql`
      select ${columnsOf(ROW, 'o')}, c.email, c.subscribed, coalesce(c.paused_until > now(), false) as "isPaused",
        c.data ->> 'locale' as locale,
        p.double_opt_in as settings, ${BRAND} as brand, p.client_addresses as "clientAddresses",
        (
          select coalesce(jsonb_agg(jsonb_build_object('id', t.id, 'name', t.name, 'texts', t.texts,
            'isHeld', c.subscribed and coalesce(s.subscribed, t.default_subscription = 'opt_in'))
            order by t.created_at, t.id), '[]')
          from topic t left join topic_subscription s on s.topic_id = t.id and s.contact_id = c.id
          where t.id = any(o.topic_ids)
        ) as topics
      from opt_in o join contact c on c.id = o.contact_id join project p on p.id = o.project_id
      where o.id = ${id} ${isLocked ? sql`for no key update of o` : sql``}`,
    OPT_IN,
  );
}

/** As `readOptIn`, with locks on the contact and then the opt-in: see the order of locks at `inTransaction`. */
export async function lockOptIn(tx: Em, id: string): Promise<OptIn | undefined> {
  const owner = await queryOne(
    tx,
    sql`select project_id as "projectId", contact_id as "contactId" from opt_in where id = ${id}`,
    pick(tables.optIn, 'projectId', 'contactId'),
  );
  if (!owner) return undefined;
  await lockContacts(tx, owner.projectId, [owner.contactId], 'change');
  return readOptIn(tx, id, true);
}

/** Whether an opt-in can no longer be confirmed, also where its workflow has not ended it yet. */
export function isExpired({ state, expiresAt }: Pick<OptIn, 'state' | 'expiresAt'>): boolean {
  return state === 'expired' || (state === 'pending' && expiresAt <= new Date());
}

/** Whether the contact lacks something that the opt-in is about: all marketing, which a pause holds back, or topics. */
export function isMissingSomething({
  subscribed,
  isPaused,
  topics,
}: Pick<OptIn, 'subscribed' | 'isPaused' | 'topics'>): boolean {
  return !subscribed || (topics.length === 0 ? isPaused : topics.some(({ isHeld }) => !isHeld));
}

/** Records a state of all that the contact lacks: of all marketing, and of topics. */
export async function recordMissing(
  tx: Em,
  { projectId, contactId, subscribed, topics }: Pick<OptIn, 'projectId' | 'contactId' | 'subscribed' | 'topics'>,
  state: ConsentState,
  evidence?: Evidence,
): Promise<void> {
  const missing = topics.filter(({ isHeld }) => !isHeld).map(({ id }) => id);
  await recordConsents(
    tx,
    projectId,
    [...(subscribed ? [] : [null]), ...missing].map((topicId) => ({
      contactId,
      topicId,
      state,
      cause: { reason: 'form' },
      evidence,
    })),
  );
}
