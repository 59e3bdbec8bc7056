import { allowedAt, daysFor, stepsOf, type RemainingPlan } from '../../pure/warm-up.ts';
import { query, sql, type Em } from '../../database/sql.ts';
import { number, pick, tables, text } from '../../database/tables.ts';
import type { ProviderFinder } from '../../sending/verdict/mx-provider.ts';
import { marketingSourcesOf } from '../emails/sources.ts';
import { listWarmUps, usedToday } from '../emails/warm-ups.ts';
import { audiencePredicate, type StatedAudience } from './audience.ts';

export interface WarmUpForecast {
  /** On which day from today on its last email goes. */
  days: number;
  /** The provider that takes the most days, and why it takes these. */
  provider: string;
  words: string;
}

function wordsOf(
  days: number,
  emails: number,
  provider: string,
  plans: readonly (RemainingPlan & { name: string })[],
): string {
  const sources = plans.map(({ name, steps, step, used }) => {
    const left = Math.max(0, allowedAt(steps, step) - used);
    return `source ${name} is on day ${step + 1} of ${steps.length} of its warm-up and sends ${left} more today`;
  });
  return `This campaign will take ${days} days, because ${emails} of its emails go to ${provider}: ${sources.join(', ')}.`;
}

/** Domains of an audience that are looked at: those with the most recipients. */
const DOMAINS_MAX = 1_000;

/**
 * How many days a campaign takes whose mail goes over sources that warm up only; undefined when it takes one, or some of
 * its mail may go over another source. What other campaigns want is left out.
 */
export async function forecastWarmUp(
  em: Em,
  campaign: StatedAudience,
  asOf: Date,
  providerOf: ProviderFinder,
): Promise<WarmUpForecast | undefined> {
  const sources = await query(
    em,
    sql`
      select name, warm_up as "warmUp" ${marketingSourcesOf(sql`${campaign.projectId}`)}`,
    pick(tables.source, 'name', 'warmUp'),
  );
  if (sources.length === 0 || sources.some(({ warmUp }) => warmUp === null)) return undefined;
  const domains = await query(
    em,
    sql`
      select split_part(c.email, '@', 2) as domain, count(*)::int as emails from contact c
      where ${await audiencePredicate(em, campaign, asOf)} group by 1 order by 2 desc limit ${DOMAINS_MAX}`,
    { domain: text, emails: number },
  );
  const perProvider = new Map<string, number>();
  await Promise.all(
    domains.map(async ({ domain, emails }) => {
      const provider = await providerOf(domain);
      perProvider.set(provider, (perProvider.get(provider) ?? 0) + emails);
    }),
  );
  const places = await listWarmUps(
    em,
    sources.map(({ name }) => name),
  );
  let longest: WarmUpForecast | undefined;
  for (const [provider, emails] of perProvider) {
    const plans = sources.flatMap(({ name, warmUp }) => {
      if (!warmUp) return [];
      const place = places.find((each) => each.source === name && each.provider === provider);
      const steps = stepsOf(warmUp, provider);
      return [{ name, steps, step: place?.position.step ?? warmUp.step, used: place ? usedToday(place) : 0 }];
    });
    const days = daysFor(emails, plans);
    if (days > (longest?.days ?? 1)) longest = { days, provider, words: wordsOf(days, emails, provider, plans) };
  }
  return longest;
}
