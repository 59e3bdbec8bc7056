import { LIMITS } from '../../pure/limits.ts';
import { query, queryOne, sql, TODAY, type Em } from '../../database/sql.ts';
import { number, tables, text, type RowOf } from '../../database/tables.ts';
import type { SourceDayFilter } from './source-days.ts';

/** How often recipients at a provider reported emails of a project as spam, over the last seven UTC days. */
const COMPLAINT_RATE = { provider: tables.providerDay.provider, sent: number, complained: number };
export type ComplaintRate = RowOf<typeof COMPLAINT_RATE>;

/** When a rate is too high. */
export interface ComplaintLimit {
  /** Percent. */
  rateMax: number;
  /** Rates of fewer emails are ignored. */
  emailsMin: number;
}

const WINDOW_DAYS = 7;
const RATES_MAX = 50;
const IN_WINDOW = sql`day > ${TODAY} - ${WINDOW_DAYS}::int`;

/** The rates of a project: those with the most complaints first, then those with the most emails. */
export async function listComplaintRates(em: Em, projectId: string): Promise<ComplaintRate[]> {
  return query(
    em,
    sql`
      select provider, sum(sent)::int as sent, sum(complained)::int as complained
      from provider_day where project_id = ${projectId} and ${IN_WINDOW}
      group by provider order by 3 desc, 2 desc, 1 limit ${RATES_MAX}`,
    COMPLAINT_RATE,
  );
}

/** What was counted of a project by provider and UTC day, of the providers with the most emails. */
export async function listProjectDays(em: Em, projectId: string, { from, to, source, provider }: SourceDayFilter) {
  const ofProject = sql`
    project_id = ${projectId} and day between ${from}::date and ${to}::date
      and provider = coalesce(${provider ?? null}, provider) and ${source === undefined}::boolean`;
  const rows = await query(
    em,
    sql`
      with largest as (
        select provider from provider_day where ${ofProject}
        group by provider order by sum(sent) desc, provider limit ${LIMITS.deliverabilityResults}
      )
      select provider, day::text, sent as accepted, complained as complaints from provider_day join largest using (provider)
      where ${ofProject} order by provider, day`,
    { provider: text, day: text, accepted: number, complaints: number },
  );
  return rows.map((row) => ({ ...row, source: null }));
}

/**
 * The highest rate of a project above the limit; undefined when there is none. It reads only providers with complaints.
 */
export async function findExcessiveRate(
  em: Em,
  projectId: string,
  { rateMax, emailsMin }: ComplaintLimit,
): Promise<ComplaintRate | undefined> {
  return queryOne(
    em,
    sql`
      select provider, sum(sent)::int as sent, sum(complained)::int as complained
      from provider_day
      where project_id = ${projectId} and ${IN_WINDOW} and provider in (
        select provider from provider_day where project_id = ${projectId} and complained > 0 and ${IN_WINDOW}
      )
      group by provider
      having sum(sent) >= ${emailsMin}::int and sum(complained) * 100 >= sum(sent) * ${rateMax}::float8
      order by sum(complained)::float8 / sum(sent) desc limit 1`,
    COMPLAINT_RATE,
  );
}
