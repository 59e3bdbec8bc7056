import { z } from 'zod';
import { DAY_MS } from './days.ts';
import { dnsDomainOf } from './emails/email-address.ts';
import { LIMITS } from './limits.ts';

/** The rates of a rule, and the time that each is about, in milliseconds. */
export const RATE_MS = { perSecond: 1_000, perMinute: 60_000, perHour: 3_600_000, perDay: DAY_MS } as const;
export type Rate = keyof typeof RATE_MS;
export const RATES = Object.keys(RATE_MS) as Rate[];

export const LIMIT_NAMES = [...RATES, 'connections', 'messagesPerConnection'] as const;
export type LimitName = (typeof LIMIT_NAMES)[number];
/** What one source may send to one provider. A missing limit is none. */
export type Limits = Partial<Record<LimitName, number>>;

/** Whether two rules have the same limits. */
export function isSameLimits(one: Limits, other: Limits): boolean {
  return LIMIT_NAMES.every((name) => one[name] === other[name]);
}

/** Stands for every provider, each by itself. */
export const ANY = '*';

const amount = z.number().int('must be a whole number').min(1).max(1_000_000_000);
const rateOf = (time: string, example: number) =>
  amount
    .nullable()
    .optional()
    .meta({ description: `The most messages within any ${time}`, examples: [example] });
const rates = {
  perSecond: rateOf('second', 10),
  perMinute: rateOf('minute', 300),
  perHour: rateOf('hour', 5_000),
  perDay: rateOf('day', 50_000),
};
const PROVIDER = /^(?!.*\.\d+$)(?:\*|[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+)$/u;
export const provider = z
  .string()
  .max(253)
  // Not as a pattern: those of JSON Schema have no flags, and many programs know no \p.
  .refine((text) => PROVIDER.test(text), {
    message: 'must be a domain such as gmail.com, or *',
    params: { code: 'invalid_string' },
  })
  .transform(dnsDomainOf)
  .describe('The domain of a provider, such as gmail.com; * is every provider, each by itself');
const poolName = z.string().regex(/^[\w.-]{1,63}$/, 'takes 1 to 63 letters, digits, ".", "_" and "-"');

/** A traffic rule of `SHAPING_FILE`, or a built-in one. null lifts the limit of a less specific rule. */
export const trafficRuleSchema = z.strictObject({
  provider,
  source: z.string().min(1).max(255).default(ANY),
  ...rates,
  connections: amount.nullable().optional(),
  messagesPerConnection: amount.nullable().optional(),
  because: z.string().max(500).optional(),
});
export type TrafficRule = z.infer<typeof trafficRuleSchema>;

/** The pool of sources of each stream of a project's mail. A stream without one uses the pool of its name, or `default`. */
export const projectPoolsSchema = z.strictObject({
  transactional: poolName.optional(),
  marketing: poolName.optional(),
});
export type ProjectPools = z.infer<typeof projectPoolsSchema>;

/** The rates of a project at providers, over all sources together. */
export const projectRulesSchema = z
  .array(
    z
      .strictObject({ provider, ...rates })
      .meta({ id: 'TrafficRule', description: 'What a project sends to a provider at most' }),
  )
  .max(LIMITS.projectRules)
  .refine((rules) => new Set(rules.map((rule) => rule.provider)).size === rules.length, 'must name each provider once');
export type ProjectRule = z.infer<typeof projectRulesSchema>[number];

/** What a project says about its mail. */
export interface ProjectShaping {
  pools: ProjectPools | null;
  rules: readonly ProjectRule[] | null;
}

/** A plan of `SHAPING_FILE`: what a source that warms up may send to a provider on each day. */
const warmUpPlanSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[\w.-]{1,63}$/, 'takes 1 to 63 letters, digits, ".", "_" and "-"')
    .default('default'),
  source: z.string().min(1).max(255).default(ANY),
  provider: provider.default(ANY),
  perDay: z.array(amount).min(1).max(365),
});

/** Refuses what occurs a second time in a list of the file. */
function once(items: readonly { source: string; provider: string; name?: string }[], context: z.RefinementCtx): void {
  const known = new Set<string>();
  for (const [index, { name, source, provider: named }] of items.entries()) {
    const words = `${name === undefined ? '' : `plan ${name}, `}source ${source} and provider ${named}`;
    const message = `names ${words} a second time`;
    if (known.has(words)) context.addIssue({ code: 'custom', path: [index], message });
    known.add(words);
  }
}

export const shapingFileSchema = z.strictObject({
  defaults: z.enum(['mx', 'all', 'none']).default('mx'),
  rules: z.array(trafficRuleSchema).max(10_000).default([]).superRefine(once),
  plans: z.array(warmUpPlanSchema).max(1_000).superRefine(once).optional(),
});
export type ShapingFile = z.infer<typeof shapingFileSchema>;

/** A limit that holds, and the rule that it comes from. */
export interface EffectiveLimit {
  value: number;
  rule: TrafficRule;
}

/**
 * The limits of a source at a provider. Each limit comes from the most specific rule that has it: one for the source
 * and the provider, then one for the provider, then one for the source, then one for all.
 * @param rules the less important first, among rules that are equally specific
 */
export function limitsOf(
  rules: readonly TrafficRule[],
  source: string,
  providerName: string,
): Partial<Record<LimitName, EffectiveLimit>> {
  const weightOf = (rule: TrafficRule): number => (rule.provider === ANY ? 0 : 2) + (rule.source === ANY ? 0 : 1);
  const matching = rules.filter(
    (rule) => [ANY, source].includes(rule.source) && [ANY, providerName].includes(rule.provider),
  );
  const sorted = matching.toSorted((a, b) => weightOf(b) - weightOf(a) || rules.indexOf(b) - rules.indexOf(a));
  const found = LIMIT_NAMES.flatMap((name) => {
    const rule = sorted.find((each) => each[name] !== undefined);
    const value = rule?.[name];
    return rule && typeof value === 'number' ? [[name, { value, rule }] as const] : [];
  });
  return Object.fromEntries(found);
}
