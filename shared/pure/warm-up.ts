import { DAY_MS } from './days.ts';
import { ANY, type ShapingFile } from './traffic-rules.ts';

/**
 * What a new source sends to one provider on each day of its warm-up. It begins as Twilio SendGrid's schedule does (50,
 * 100, 500 … 1,000,000 within three weeks; twilio.com/docs/sendgrid, "Warming Up an IP Address"), doubles at most, as
 * guides of other services advise (OneSignal, Infobip, Resend), and takes 26 days.
 */
export const DEFAULT_PLAN: readonly number[] = [
  50, 100, 200, 400, 600, 1_000, 1_500, 2_200, 3_300, 5_000, 7_000, 10_000, 14_000, 20_000, 28_000, 40_000, 55_000,
  75_000, 100_000, 140_000, 200_000, 280_000, 400_000, 550_000, 750_000, 1_000_000,
];
/** The plan that is used when none is named. A plan of this name in `SHAPING_FILE` replaces the built-in one. */
export const USUAL_PLAN = 'default';

/** The warm-up of a source: its plan, by provider, and the step at which it begins at a provider. */
export interface SourceWarmUp {
  plan: string;
  step: number;
  perDay: Record<string, readonly number[]>;
}

export type WarmUpSetback = 'repeated' | 'stepped back';

/** Where a source is in its plan at one provider. */
export interface WarmUpPosition {
  /** The UTC day, `YYYY-MM-DD`. */
  day: string;
  /** The index of the plan's day; its length once the source is warm. */
  step: number;
  /** Why the day before was repeated, or a step back was taken; null when it was not. */
  reason: string | null;
  /** Which of both it was. */
  setback: WarmUpSetback | null;
  /** The UTC day on which the plan went on last. */
  movedOn: string | null;
}

/** What a provider made of the mail of a day. */
export interface DayResults {
  /** Emails that it answered. */
  offered: number;
  accepted: number;
  complaints: number;
  /** Refused because the mailbox does not exist. */
  hard: number;
  /** Deferred or refused for speed or reputation. */
  against: number;
}

export type WarmUpOutcome = 'same' | 'next' | 'warm' | WarmUpSetback;

/** Fewer emails of a day say nothing, unless they are half of what was allowed. */
const RESULTS_MIN = 20;
/** A day with less mail than this part of its allowance does not show that the provider takes more. */
export const USED_SHARE = 0.5;
/** One email alone is no sign, however few there were. */
const SIGNS_MIN = 2;
/**
 * Percent at which a day is bad, and at which it is so bad that the plan steps back. Complaints: Google asks senders to
 * stay below 0.1 % and never to reach 0.3 % (support.google.com/a/answer/81126). Mailboxes that do not exist: Amazon SES
 * reviews accounts at 5 %, and may pause them at 10 % (docs.aws.amazon.com/ses, "Reputation metrics"). No provider names
 * a figure for deferrals.
 */
const BOUNDS = [
  { bad: 0.1, worse: 0.3, words: 'of the accepted emails were reported as spam', of: 'accepted', count: 'complaints' },
  { bad: 5, worse: 10, words: 'of the mailboxes do not exist', of: 'offered', count: 'hard' },
  { bad: 5, worse: 20, words: 'was deferred or refused for speed or reputation', of: 'offered', count: 'against' },
] as const;

/** When the UTC day of a time ends. */
export const dayEndOf = (nowMs: number): number => (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;

/** The plan of a name for a source: more specific ones of the file first, then the built-in one; undefined without any. */
export function planOf(
  { plans = [] }: Pick<ShapingFile, 'plans'>,
  name: string,
  source: string,
): SourceWarmUp['perDay'] | undefined {
  const own = plans.filter((plan) => plan.name === name && [ANY, source].includes(plan.source));
  if (own.length === 0 && name !== USUAL_PLAN) return undefined;
  const sorted = [...own.filter((plan) => plan.source === ANY), ...own.filter((plan) => plan.source !== ANY)];
  return Object.fromEntries([
    [ANY, DEFAULT_PLAN],
    ...sorted.map(({ provider, perDay }) => [provider, perDay] as const),
  ]);
}

/** The amounts of the days of a plan at a provider. */
export function stepsOf({ perDay }: Pick<SourceWarmUp, 'perDay'>, provider: string): readonly number[] {
  return perDay[provider] ?? perDay[ANY] ?? DEFAULT_PLAN;
}

/** What a source may send on a day of its plan; Infinity when it is warm. */
export function allowedAt(steps: readonly number[], step: number): number {
  return steps[step] ?? Infinity;
}

/** The worst sign of a day, with words; undefined for a good day. */
function badSign(results: DayResults): { isWorse: boolean; words: string } | undefined {
  const found = BOUNDS.flatMap(({ bad, worse, words, of, count }) => {
    const percent = (results[count] * 100) / Math.max(1, results[of]);
    if (percent < bad || results[count] < SIGNS_MIN) return [];
    return [{ isWorse: percent >= worse, words: `${percent.toFixed(percent < 1 ? 2 : 0)} % ${words}` }];
  });
  return found.find(({ isWorse }) => isWorse) ?? found[0];
}

/**
 * The position on a new UTC day: the next day of the plan, the same one again after bad signs, or the one before after
 * very bad ones. A day with little mail changes nothing. A source that is warm stays warm.
 * @param results of the day of `before`; undefined without mail
 */
export function positionOn(
  today: string,
  before: WarmUpPosition,
  steps: readonly number[],
  results: DayResults | undefined,
): WarmUpPosition & { outcome: WarmUpOutcome } {
  const same = { ...before, day: today, outcome: 'same' as const };
  if (!results || before.step >= steps.length) return same;
  const enough = allowedAt(steps, before.step) * USED_SHARE;
  if (results.offered < Math.min(RESULTS_MIN, enough)) return same;
  const sign = badSign(results);
  if (sign) {
    const setback = sign.isWorse && before.step > 0 ? 'stepped back' : 'repeated';
    const what = setback === 'repeated' ? `${before.day} is repeated` : `One step back after ${before.day}`;
    const step = before.step - (setback === 'repeated' ? 0 : 1);
    return { ...same, step, reason: `${what}: ${sign.words}`, setback, outcome: setback };
  }
  if (results.offered < enough) return { ...same, reason: null, setback: null };
  const step = before.step + 1;
  return {
    day: today,
    step,
    reason: null,
    setback: null,
    movedOn: today,
    outcome: step < steps.length ? 'next' : 'warm',
  };
}

/** What signs of the days before did to a warm-up; undefined for nothing. */
export function consequenceOf({ setback }: Pick<WarmUpPosition, 'setback'>): string | undefined {
  if (setback === null) return undefined;
  return setback === 'stepped back' ? 'warm-up stepped back' : 'a day of the warm-up is repeated';
}

/** What is left of a plan: its amounts, the step of today, and how many emails went today. */
export interface RemainingPlan {
  steps: readonly number[];
  step: number;
  used: number;
}

/** On which day from today on the last of some emails goes, over sources that warm up, if no day is bad. */
export function daysFor(emails: number, plans: readonly RemainingPlan[]): number {
  let left = emails + plans.reduce((sum, { used }) => sum + used, 0);
  for (let day = 1; ; day++) {
    left -= plans.reduce((sum, { steps, step }) => sum + allowedAt(steps, step + day - 1), 0);
    if (left <= 0 || plans.length === 0) return day;
  }
}
