import { DAY_MS, dayOf } from '../../pure/days.ts';
import { ANSWER_NUMBERS, signsOfDays, type DayNumbers, type Sign } from '../../pure/deliverability.ts';
import { consequenceOf } from '../../pure/warm-up.ts';
import { dnsDomainOf } from '../../pure/emails/email-address.ts';
import { recipientProviderOf } from '../../sending/verdict/recipient-provider.ts';
import type { ProviderFinder } from '../../sending/verdict/mx-provider.ts';
import { LIMITS } from '../../pure/limits.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { number } from '../../database/tables.ts';
import { listProjectDays } from './complaint-rates.ts';
import { listSourceDays } from './source-days.ts';
import { listWarmUps } from './warm-ups.ts';

/** The numbers of a day; those of a project have no source. */
type DayOfSource = { source: string | null; provider: string; day: string } & DayNumbers;

/** What a provider made of the emails of a source, or of a project. Numbers that nobody has counted are missing. */
export interface DeliverabilityResult {
  /** Null for the numbers of one project, which no source has. */
  source: string | null;
  provider: string;
  totals: DayNumbers;
  days: ({ day: string } & DayNumbers)[];
  signs: Sign[];
  /** Why the warm-up of the source repeats a day or stepped back at the provider; null where it did not. */
  warmUpReason: string | null;
}

export interface DeliverabilityQuery {
  /** The latest days, with today. */
  days: number;
  source?: string | undefined;
  /** A provider, or a domain of its people. */
  provider?: string | undefined;
}

const dayBefore = (days: number): string => dayOf(Date.now() - days * DAY_MS);

function totalsOf(days: readonly DayNumbers[]): DayNumbers {
  const known = ANSWER_NUMBERS.filter((name) => days.some((day) => day[name] !== undefined));
  return Object.fromEntries(known.map((name) => [name, days.reduce((sum, day) => sum + (day[name] ?? 0), 0)]));
}

/**
 * What providers made of our mail, those with the most emails first. The numbers of a source are of all projects: a
 * project sees them when it is alone in the installation, else what was counted of its own mail.
 * @param providerOf finds the provider of a domain
 * @param projectId undefined for the operator
 */
export async function readDeliverability(
  em: Em,
  asked: DeliverabilityQuery,
  providerOf: ProviderFinder,
  projectId?: string,
): Promise<{ from: string; to: string; isOfProject: boolean; results: DeliverabilityResult[] }> {
  const [from, to] = [dayBefore(asked.days - 1), dayBefore(0)];
  const projects =
    projectId === undefined ? [] : await query(em, sql`select 1 as one from project limit 2`, { one: number });
  const isOfProject = projectId !== undefined && projects.length > 1;
  // Streaks may have begun before the days that are asked for.
  const filter = { ...asked, from: dayBefore(LIMITS.deliverabilityDays - 1), to };
  // Mail to a domain is counted under the domain's name, or that of its provider, as far as that was known.
  const ways: ProviderFinder[] = [dnsDomainOf, recipientProviderOf, providerOf];
  let rows: DayOfSource[] = [];
  for (const nameOf of asked.provider === undefined ? ways.slice(0, 1) : ways) {
    const named = { ...filter, provider: asked.provider && (await nameOf(asked.provider)) };
    rows = isOfProject ? await listProjectDays(em, projectId, named) : await listSourceDays(em, named);
    if (rows.length > 0) break;
  }
  const warmUps = isOfProject ? [] : await listWarmUps(em, asked.source === undefined ? undefined : [asked.source]);
  const groups = Map.groupBy(rows, ({ source, provider }) => JSON.stringify([source, provider]));
  const sources = new Set(rows.map(({ source }) => source));
  const results = [...groups.values()].map((group) => {
    const { source = null, provider = '' } = group[0] ?? {};
    const shown = group.filter(({ day }) => day >= from);
    const name = sources.size > 1 && source !== null ? source : undefined;
    const warmUp = warmUps.find((each) => each.source === source && each.provider === provider);
    const consequence = warmUp && consequenceOf(warmUp.position);
    const signs = signsOfDays({ provider, source: name, days: group, today: to, consequence });
    const warmUpReason = warmUp?.position.reason ?? null;
    return { source, provider, totals: totalsOf(shown), days: shown, signs, warmUpReason };
  });
  const sizeOf = ({ totals }: DeliverabilityResult) => totals.offered ?? totals.accepted ?? 0;
  const found = results.filter(({ days, signs }) => days.length + signs.length > 0);
  return { from, to, isOfProject, results: found.sort((left, right) => sizeOf(right) - sizeOf(left)) };
}
