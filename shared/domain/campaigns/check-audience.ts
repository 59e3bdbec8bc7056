import type { DataPath, DataValue, Placeholder } from '../../pure/templates/placeholders.ts';
import { joinSql, query, queryOne, sql, type SqlFragment, type Em } from '../../database/sql.ts';
import { consentRefusal, purposeOf, REFUSALS, type Refusal } from '../consent/consent.ts';
import { nullable, number, numbers, oneOf } from '../../database/tables.ts';
import { suppressionJoin } from '../suppressions/suppressions.ts';
import { findEmailTopic } from '../topics/email-topics.ts';
import { audiencePredicate, statedAudiencePredicate, type StatedAudience } from './audience.ts';

/**
 * Counts the contacts that a campaign would reach, or not reach, if it were sent now. The freeze has the same
 * predicate.
 * @throws AppError BAD_REQUEST when the condition makes no sense, TOPIC_NOT_FOUND
 */
export async function countAudience(em: Em, campaign: StatedAudience, asOf: Date) {
  const topic = await findEmailTopic(em, campaign.projectId, campaign.topicId);
  const rows = await query(
    em,
    sql`
      select ${consentRefusal(purposeOf(campaign.type), topic)} as refusal, count(*)::int as matching,
        count(s.reason)::int as suppressed
      from contact c ${suppressionJoin(sql`c.project_id`, sql`c.email`)}
      where ${await statedAudiencePredicate(em, campaign, asOf)} group by 1`,
    { refusal: nullable(oneOf(...REFUSALS)), matching: number, suppressed: number },
  );
  const of = (...reasons: (Refusal | null)[]): number =>
    rows.reduce((sum, { refusal, matching }) => sum + (reasons.includes(refusal) ? matching : 0), 0);
  const queued = of(null);
  const suppressed = rows.find(({ refusal }) => refusal === null)?.suppressed ?? 0;
  return {
    /** Contacts that match the audience, with or without consent. */
    matching: rows.reduce((sum, { matching }) => sum + matching, 0),
    /** Recipients of a campaign that is sent now: its `totalRecipients`. */
    queued,
    receiving: queued - suppressed,
    /** Each of the others is counted once, with the most important reason. */
    unsubscribed: of('unsubscribed'),
    pending: of('pending'),
    paused: of('paused'),
    topic: of('left topic', 'not in topic'),
    suppressed,
  };
}

/** Recipients whose data is read. */
const CHECKED_MAX = 100_000;

function valueAt({ keys, whole }: DataPath): SqlFragment {
  return sql`nullif(c.data #> ${[...keys]}::text[], 'null'), nullif(c.data -> ${whole}::text, 'null')`;
}

function firstOf({ paths }: DataValue): SqlFragment {
  return paths.length === 0 ? sql`null::jsonb` : sql`coalesce(${joinSql(paths.map(valueAt), ', ')})`;
}

/** The rule of the template language: objects, arrays and empty texts print nothing. */
function printsNothing(value: DataValue): SqlFragment {
  const first = firstOf(value);
  return sql`
    (case when ${first} is null then ${!value.hasFallback}::boolean
      else jsonb_typeof(${first}) in ('object', 'array') or ${first} = '""' end)`;
}

/** The rule of `#if`. */
function isTruthy(value: DataValue): SqlFragment {
  return sql`(coalesce(${firstOf(value)}, 'null') not in ('null', 'false', '0', '""', '[]'))`;
}

function isEmpty({ value, conditions }: Placeholder): SqlFragment {
  const printed = conditions.map((condition) =>
    condition.isNegated ? sql`not ${isTruthy(condition.value)}` : isTruthy(condition.value),
  );
  return joinSql([...printed, printsNothing(value)], ' and ');
}

/** Counts the recipients for whom each placeholder prints nothing. Placeholders that always print are left out. */
export async function countEmptyPlaceholders(
  em: Em,
  campaign: StatedAudience,
  placeholders: Placeholder[],
  asOf: Date,
) {
  if (placeholders.length === 0) return { checked: 0, empty: [] };
  const counts = placeholders.map((placeholder) => sql`count(*) filter (where ${isEmpty(placeholder)})`);
  const row = await queryOne(
    em,
    sql`
      select count(*)::int as checked, array[${joinSql(counts, ', ')}]::int[] as counts from (
        select c.data from contact c where ${await audiencePredicate(em, campaign, asOf)}
        order by c.created_at, c.id limit ${CHECKED_MAX}
      ) c`,
    { checked: number, counts: numbers },
  );
  const perSource = new Map<string, number>();
  placeholders.forEach(({ source }, index) => {
    const count = row?.counts[index] ?? 0;
    if (count > 0) perSource.set(source, Math.max(perSource.get(source) ?? 0, count));
  });
  return {
    checked: row?.checked ?? 0,
    empty: [...perSource].map(([placeholder, recipients]) => ({ placeholder, recipients })),
  };
}
