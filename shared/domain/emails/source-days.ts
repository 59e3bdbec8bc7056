import { ANSWER_NUMBERS } from '../../pure/deliverability.ts';
import { LIMITS } from '../../pure/limits.ts';
import type { Answers, CountedAnswers } from '../../sending/permit/answers.ts';
import { OTHER, PROVIDERS_MAX } from '../../sending/permit/email-counts.ts';
import { partsOfAllowance } from '../../sending/permit/keys.ts';
import type { AnswerCount, EmailNumbers } from '../../sending/ports.ts';
import { isNamedProvider } from '../../sending/verdict/mx-provider.ts';
import { columnsOf, inSql, joinSql, json, query, sql, SqlFragment, TODAY, type Em } from '../../database/sql.ts';
import { number, pick, tables, text, type RowOf } from '../../database/tables.ts';

declare module '../../database/column-types.ts' {
  interface ColumnTypes {
    'email.answered': CountedAnswers;
  }
}

/** Numbers of a source and a provider. */
const NUMBERS = pick(tables.sourceDay, ...ANSWER_NUMBERS);
export type SourceResults = RowOf<typeof NUMBERS>;

const SOURCE_DAY = { ...pick(tables.sourceDay, 'source', 'provider'), day: text, ...NUMBERS };
/** What a provider made of the emails of a source on a day, such as `2026-11-30` in UTC. */
export type SourceDay = RowOf<typeof SOURCE_DAY>;

export interface SourceDayFilter {
  /** The first and the last day, in UTC. */
  from: string;
  to: string;
  source?: string | undefined;
  provider?: string | undefined;
}

const COLUMNS = ANSWER_NUMBERS.map((name) => new SqlFragment(inSql(name)));
const each = (form: (column: SqlFragment) => SqlFragment): SqlFragment => joinSql(COLUMNS.map(form), ', ');
const SUMS = joinSql(
  ANSWER_NUMBERS.map((name) => new SqlFragment(`sum(d.${inSql(name)})::bigint as "${name}"`)),
  ', ',
);
const NO_RESULTS = Object.fromEntries(ANSWER_NUMBERS.map((name) => [name, 0])) as Record<keyof SourceResults, number>;

/** Numbers of a project and a provider. */
interface ProjectNumbers {
  projectId: string;
  provider: string;
  sent: number;
  complained: number;
}

/**
 * Adds numbers to the days of projects and of sources, in one statement. A source has rows for the first providers of a
 * day, and for those known by name; the others share one.
 */
async function addNumbers(
  em: Em,
  ofProjects: readonly ProjectNumbers[],
  answers: readonly AnswerCount[],
): Promise<void> {
  const rows = answers.map(({ source, provider, answers: numbers }) => ({
    source,
    provider,
    is_own: provider === OTHER || isNamedProvider(provider),
    ...Object.fromEntries(ANSWER_NUMBERS.map((name) => [inSql(name), Math.round(numbers[name] ?? 0)])),
  }));
  await query(
    em,
    sql`
      with projects_counted as (
        insert into provider_day as d (project_id, provider, day, sent, complained)
        select project_id, provider, ${TODAY}, sum(sent), sum(complained)
        from unnest(
          ${ofProjects.map((row) => row.projectId)}::uuid[], ${ofProjects.map((row) => row.provider)}::text[],
          ${ofProjects.map((row) => row.sent)}::int[], ${ofProjects.map((row) => row.complained)}::int[]
        ) as t (project_id, provider, sent, complained)
        group by project_id, provider order by project_id, provider
        on conflict (project_id, provider, day) do update
        set sent = d.sent + excluded.sent, complained = d.complained + excluded.complained
      ),
      counts as (
        select * from jsonb_to_recordset(${json(rows)}::jsonb)
          as t (source text, provider text, is_own boolean, ${each((column) => sql`${column} bigint`)})
      ),
      known as (
        select source, provider from source_day where day = ${TODAY} and source in (select source from counts)
      ),
      named as (
        select c.*, c.is_own or k.provider is not null
          or (select count(*) from known n where n.source = c.source)
            + row_number() over (partition by c.source, c.is_own or k.provider is not null order by c.offered desc)
            <= ${PROVIDERS_MAX} as has_row
        from counts c left join known k on k.source = c.source and k.provider = c.provider
      )
      insert into source_day as d (source, provider, day, ${each((column) => column)})
      select source, case when has_row then provider else ${OTHER} end, ${TODAY}, ${each((column) => sql`sum(${column})`)}
      from named group by 1, 2 order by 1, 2
      on conflict (source, provider, day) do update set ${each((column) => sql`${column} = d.${column} + excluded.${column}`)}`,
  );
}

/** Counts what workers report: emails that were handed over, and what providers answered. */
export async function countEmails(em: Em, { sent, answers }: EmailNumbers): Promise<void> {
  if (sent.length + answers.length === 0) return;
  await addNumbers(
    em,
    sent.map(({ count, ...row }) => ({ ...row, sent: count, complained: 0 })),
    answers,
  );
}

/**
 * Counts what a report says later, in the transaction that records it.
 * @param carrier of the email; null when it is not known, and then no source has the report
 * @param complaint of a project, to the provider of the recipient
 */
export async function countReport(
  tx: Em,
  carrier: string | null,
  answers: Answers,
  complaint?: Pick<ProjectNumbers, 'projectId' | 'provider'>,
): Promise<void> {
  const { subject: source, provider } = partsOfAllowance(carrier ?? '');
  await addNumbers(
    tx,
    complaint ? [{ ...complaint, sent: 0, complained: 1 }] : [],
    carrier === null ? [] : [{ source, provider, answers }],
  );
}

/** What providers made of the emails of sources, by day: of the providers and sources with the most emails. */
export async function listSourceDays(em: Em, { from, to, source, provider }: SourceDayFilter): Promise<SourceDay[]> {
  const conditions = [sql`day between ${from}::date and ${to}::date`];
  if (source !== undefined) conditions.push(sql`source = ${source}`);
  if (provider !== undefined) conditions.push(sql`provider = ${provider}`);
  return query(
    em,
    sql`
      with largest as (
        select source, provider from source_day where ${joinSql(conditions, ' and ')}
        group by source, provider order by sum(offered) desc, source, provider limit ${LIMITS.deliverabilityResults}
      )
      select source, provider, day::text, ${columnsOf(NUMBERS)} from source_day join largest using (source, provider)
      where ${joinSql(conditions, ' and ')} order by source, provider, day`,
    SOURCE_DAY,
  );
}

/**
 * What providers made of the emails of sources since days in UTC, such as `2026-11-30`: in the order of the places, and
 * with 0 in all numbers where there were none.
 * @param to the last day; without it, each day is meant alone
 */
export async function resultsOf(
  em: Em,
  places: readonly Pick<SourceDay, 'source' | 'provider' | 'day'>[],
  to?: string,
): Promise<SourceResults[]> {
  if (places.length === 0) return [];
  const found = await query(
    em,
    sql`
      select n::int, ${SUMS} from unnest(
        ${places.map(({ source }) => source)}::text[], ${places.map(({ provider }) => provider)}::text[],
        ${places.map(({ day }) => day)}::date[]
      ) with ordinality as k (source, provider, since, n) join source_day d using (source, provider)
      where d.day between k.since and coalesce(${to ?? null}::date, k.since) group by n`,
    { n: number, ...NUMBERS },
  );
  const results = new Map(found.map(({ n, ...numbers }) => [n, numbers]));
  return places.map((_place, index) => results.get(index + 1) ?? NO_RESULTS);
}
