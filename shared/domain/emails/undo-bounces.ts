import { z } from 'zod';
import { momentSchema } from '../../pure/filters/instant-schema.ts';
import { lockRecipients } from '../contacts/contact-locks.ts';
import { setSubscribed } from '../contacts/contacts.ts';
import { suppressionReason } from '../../database/constants.ts';
import {
  isoText,
  joinSql,
  likePattern,
  query,
  queryOne,
  sql,
  inTransaction,
  type SqlFragment,
  type Em,
} from '../../database/sql.ts';
import { jsonAs, nullable, number, tables, text } from '../../database/tables.ts';
import { normalizeAddress, spellingsOf } from '../../pure/emails/email-address.ts';
import { domainNameSchema } from '../domains/domain-name.ts';
import { removeBounceSuppressions } from '../suppressions/suppressions.ts';

const WORDS_LENGTH_MAX = 500;

/** A selection of a project's hard bounces. */
export const bounceSelectionSchema = z.object({
  since: momentSchema.describe('The first moment at which they were recorded'),
  until: momentSchema.optional().describe('The moment before which they were recorded; now when omitted'),
  provider: domainNameSchema.optional().meta({ description: 'The domain of the recipients', examples: ['gmail.com'] }),
  words: z
    .optional(z.string().min(1).max(WORDS_LENGTH_MAX))
    .meta({ description: "A part of the server's words, in any case", examples: ['Relaying denied'] }),
});
export type BounceSelection = z.output<typeof bounceSelectionSchema>;

export interface BounceUndo {
  /** Hard bounces that were selected and had not been undone before. */
  emails: number;
  /** Contacts that are subscribed again. */
  subscribed: number;
  /** Addresses that may get email again. */
  unsuppressed: number;
  /** The first recipients; null for those who were erased. */
  addresses: (string | null)[];
  /** Whether emails are left because one call takes a limited number; the next call takes them. */
  hasMore: boolean;
}

const CHUNK = 500;
/** The most that one call takes: some seconds of work. */
const EMAILS_MAX = 20_000;
const ADDRESSES_SHOWN = 20;

/** The emails `e` of a selection, as a predicate that fits the index `email_by_hard_bounce`. */
function bounceConditions(projectId: string, { since, until, provider, words }: BounceSelection): SqlFragment {
  const conditions = [
    sql`e.project_id = ${projectId} and e.bounced_at >= ${since} and e.bounced_at < ${until ?? sql`'infinity'`}`,
    sql`e.bounced_at is not null and e.refusal ->> 'kind' = 'hard' and e.refusal ->> 'undoneAt' is null`,
    sql`(e.refusal @> '{"unsubscribed": true}' or e.refusal @> '{"suppressed": true}')`,
  ];
  if (provider !== undefined)
    conditions.push(sql`split_part(e.to_address, '@', -1) = any(${spellingsOf(normalizeAddress(provider))}::text[])`);
  if (words !== undefined) conditions.push(sql`e.error ilike ${likePattern(words)}`);
  return joinSql(conditions, ' and ');
}

async function undoChunk(
  em: Em,
  projectId: string,
  emailIds: string[],
  by: { by?: 'operator' },
): Promise<Omit<BounceUndo, 'addresses'>> {
  return inTransaction(em, async (tx) => {
    // Contacts before emails: see the order of locks at `inTransaction`.
    await lockRecipients(tx, emailIds);
    const undone = await query(
      tx,
      sql`
        with locked as materialized (
          select id from email where id = any(${emailIds}::uuid[]) and refusal ->> 'undoneAt' is null
          order by id for no key update
        )
        update email e set refusal = e.refusal || jsonb_build_object('undoneAt', ${isoText(sql`now()`)})
        from locked l where e.id = l.id
        returning e.id,
          (select c.id from contact c where c.id = e.contact_id and c.bounced_email_id = e.id) as "bouncedContactId"`,
      { id: text, bouncedContactId: nullable(text) },
    );
    const emailOf = new Map(undone.flatMap(({ id, bouncedContactId: contact }) => (contact ? [[contact, id]] : [])));
    const causeOf = (contactId: string) => ({
      cause: { reason: 'bounce_undone', emailId: emailOf.get(contactId) ?? '', ...by } as const,
    });
    const contactIds = [...emailOf.keys()];
    const subscribed = contactIds.length > 0 ? await setSubscribed(tx, projectId, contactIds, true, causeOf) : [];
    const unsuppressed = await removeBounceSuppressions(
      tx,
      undone.map((row) => row.id),
    );
    return { emails: undone.length, subscribed: subscribed.length, unsuppressed, hasMore: false };
  });
}

/**
 * Undoes the consequences of hard bounces. Contacts that lost their subscription because of one of them are subscribed
 * again, and addresses that were suppressed because of one may get email again. A contact that was unsubscribed for
 * another reason, or that has complained, stays as it is. The emails keep their outcome, and store when it was undone,
 * so a repeated call takes only what is left.
 */
export async function undoBounces(
  em: Em,
  projectId: string,
  selection: BounceSelection,
  by: { by?: 'operator' } = {},
): Promise<BounceUndo> {
  const total: BounceUndo = { emails: 0, subscribed: 0, unsuppressed: 0, addresses: [], hasMore: false };
  for (let taken = 0; ;) {
    const chunk = await query(
      em,
      sql`
        select e.id, e.to_address as address from email e where ${bounceConditions(projectId, selection)}
        order by e.bounced_at, e.id limit ${CHUNK}`,
      { id: tables.email.id, address: tables.email.toAddress },
    );
    if (chunk.length === 0) return total;
    if (taken >= EMAILS_MAX) return { ...total, hasMore: true };
    const undone = await undoChunk(
      em,
      projectId,
      chunk.map((email) => email.id),
      by,
    );
    taken += chunk.length;
    total.emails += undone.emails;
    total.subscribed += undone.subscribed;
    total.unsuppressed += undone.unsuppressed;
    total.addresses.push(...chunk.slice(0, ADDRESSES_SHOWN - total.addresses.length).map((email) => email.address));
  }
}

/** What `undoBounces` would do now. */
export async function previewBounceUndo(em: Em, projectId: string, selection: BounceSelection): Promise<BounceUndo> {
  const counts = await queryOne(
    em,
    sql`
      with bounced as materialized (
        select e.id, e.project_id, e.to_address, e.contact_id, e.bounced_at from email e
        where ${bounceConditions(projectId, selection)} order by e.bounced_at, e.id limit ${EMAILS_MAX + 1}
      )
      select count(*) as emails,
        count(*) filter (where exists (
          select from contact c where c.id = b.contact_id and c.bounced_email_id = b.id)) as subscribed,
        (select count(*) from suppression s
          where s.project_id = ${projectId} and s.reason = ${suppressionReason.HARD_BOUNCE} and s.email_id in (select id from bounced)
        ) as unsuppressed,
        (select coalesce(json_agg(f.to_address order by f.bounced_at, f.id), '[]') from (
          select * from bounced order by bounced_at, id limit ${ADDRESSES_SHOWN}) f) as addresses
      from bounced b`,
    {
      subscribed: number,
      addresses: jsonAs<(string | null)[]>(),
      emails: number,
      unsuppressed: number,
    },
  );
  const found = counts ?? { emails: 0, subscribed: 0, unsuppressed: 0, addresses: [] };
  return { ...found, hasMore: found.emails > EMAILS_MAX };
}
