import { isoText, json, sql, query, type Em, type SqlFragment } from '../../database/sql.ts';
import { remainingMs, type Hold, type WaitingReason } from '../../pure/emails/hold.ts';
import { outboxInsert } from '../../durable/outbox/outbox.ts';
import type { SourceUse } from '../../sending/ports.ts';

/** What sources, rules and pools hold mail for. A change of one of them may let mail go that waits for another one. */
export const HELD_REASONS = ['no source', 'traffic rule', 'warm-up'] as const satisfies readonly WaitingReason[];

/** Stands for all projects in the outbox. */
export const ALL_PROJECTS = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
/** Workers that send know by then what is so now, and what they decided before is stored. */
const KNOWN_SECONDS = 2;

const wakeInsert = (projectId = ALL_PROJECTS): SqlFragment =>
  outboxInsert('heldMail', projectId, [projectId], { delaySeconds: KNOWN_SECONDS });

/**
 * Lets mail of a project, or of all, ask again a moment after the caller's transaction, because that may have ended what
 * holds it. A caller who changes a source sets its `changed_at`: what a worker decides later on what it knew before holds
 * mail only briefly.
 */
export async function wakeHeldMail(tx: Em, projectId?: string): Promise<void> {
  await query(tx, wakeInsert(projectId));
}

/** A hold as it is stored, null for none: it ends by the clock of the database, not by that of the worker. */
export function storedHold(hold: Hold | undefined): SqlFragment {
  const ms = hold ? remainingMs(hold, Date.now()) : 0;
  const until = isoText(sql`now() + ${ms}::float8 * interval '1 millisecond'`);
  return sql`(${hold ? json(hold) : null}::jsonb || jsonb_build_object('until', ${until}))`;
}

/**
 * A stored hold, null once it has ended: while workers hold emails, they write it again at most about five seconds after
 * its end.
 */
export function currentHold(hold: SqlFragment): SqlFragment {
  return sql`case when (${hold} ->> 'until')::timestamptz > now() - interval '5 seconds' then ${hold} end`;
}

/** The rules of a worker, with the speed of projects that have none of their own. */
export interface RulesInUse extends NonNullable<SourceUse['rules']> {
  emailsPerSecond: number;
}

/** A statement's part that notes which rules a worker has. */
export function saidRules(rules: RulesInUse | undefined): SqlFragment {
  const { emailsPerSecond = null, seconds = 0 } = rules ?? {};
  // Workers with the same rules and different speeds are told apart.
  const digest = rules ? `${rules.digest} ${rules.emailsPerSecond}` : null;
  const endsAt = sql`now() + ${seconds}::int * interval '1 second'`;
  return sql`
    insert into rules_in_use (digest, emails_per_second, ends_at)
    select ${digest}::text, ${emailsPerSecond}::float8, ${endsAt}
    where ${digest}::text is not null and not exists (
      select from rules_in_use
      where digest = ${digest} and ends_at between ${endsAt} - interval '1 second' and ${endsAt}
    )
    on conflict (digest) do update set ends_at = excluded.ends_at`;
}

/**
 * Lets held mail ask again once no worker has rules any more that others have replaced. When no worker has their speed
 * any more, what is booked at it counts no more, and the projects that booked it ask again.
 */
export async function forgetOldRules(em: Em): Promise<void> {
  await query(
    em,
    sql`
      with gone as (
        delete from rules_in_use r where ends_at < now() and exists (select from rules_in_use n where n.ends_at > r.ends_at)
        returning digest, emails_per_second
      ),
      unbooked as (
        delete from project_permit b using project p
        where p.id = b.project_id and p.emails_per_second is null and b.next_free_at > now() and exists (
          select from gone g where not exists (
            select from rules_in_use r where not exists (select from gone where digest = r.digest)
              and r.emails_per_second is not distinct from g.emails_per_second
          )
        )
        returning b.project_id as id
      ),
      woken as (
        insert into outbox (id, project_id, kind, subject_id, available_at)
        select everpost_uuid_v7(), id, 'heldMail', id, now() + ${KNOWN_SECONDS}::int * interval '1 second' from unbooked
      ),
      known as (select name from source where exists (select from gone) order by name for no key update),
      changed as (update source s set changed_at = now() from known k where k.name = s.name)
      ${wakeInsert()} where exists (select from gone)`,
  );
}
