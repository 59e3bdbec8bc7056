import { DAY_MS } from './days.ts';

/** What can be counted of the emails of a source at a provider on a day. */
export type DayNumbers = Readonly<Partial<Record<AnswerNumber, number>>>;
export const ANSWER_NUMBERS = [
  ...(['offered', 'accepted', 'deferredSpeed', 'deferredReputation', 'deferredOther'] as const),
  ...(['refusedMailbox', 'refusedReputation', 'refusedOther', 'complaints', 'deliveryMs'] as const),
] as const;
export type AnswerNumber = (typeof ANSWER_NUMBERS)[number];

/** A number that says something of a provider's opinion, and from which percent on. */
export interface SignRule {
  sign: Exclude<AnswerNumber, 'offered' | 'accepted' | 'deliveryMs'>;
  /** What it is a percentage of. */
  of: 'offered' | 'accepted';
  /** Percent at which a day has the sign, and at which it is urgent. */
  watch: number;
  urgent: number;
  /** What follows the provider and the percentage. */
  words: string;
  /** Where the percentages come from. */
  because: string;
}

const OURS = 'no provider publishes a figure; a provider that is content defers or refuses next to nothing';
export const SIGN_RULES: readonly SignRule[] = [
  {
    sign: 'complaints',
    of: 'accepted',
    watch: 0.1,
    urgent: 0.3,
    words: 'of the recipients complain',
    because: 'Google, Email sender guidelines (support.google.com/mail/answer/81126): below 0.1 %, never 0.3 %',
  },
  {
    sign: 'refusedMailbox',
    of: 'offered',
    watch: 5,
    urgent: 10,
    words: 'because the address does not exist',
    because: 'Amazon SES, reputation metrics: below 5 %; at 10 % sending may be paused',
  },
  { sign: 'refusedReputation', of: 'offered', watch: 1, urgent: 5, words: 'for reputation or policy', because: OURS },
  { sign: 'deferredReputation', of: 'offered', watch: 2, urgent: 10, words: 'for reputation', because: OURS },
  { sign: 'deferredSpeed', of: 'offered', watch: 5, urgent: 30, words: 'for speed', because: OURS },
  { sign: 'refusedOther', of: 'offered', watch: 5, urgent: 20, words: 'for other reasons', because: OURS },
  {
    sign: 'deferredOther',
    of: 'offered',
    watch: 30,
    urgent: 60,
    words: 'for other reasons',
    because: 'greylisting defers the first email to each recipient, which is no opinion',
  },
];

/** A sign that a provider shows now. */
export interface Sign {
  sign: SignRule['sign'];
  isUrgent: boolean;
  /** Of all days since its first one. */
  percent: number;
  /** The first day of the present streak, such as `2026-11-24`. */
  since: string;
  sentence: string;
}

export interface SignInput {
  provider: string;
  /** Named in the sentence where a provider gets mail over several sources. */
  source?: string | undefined;
  /** In the order of their days; days without mail may be missing. */
  days: readonly ({ day: string } & DayNumbers)[];
  /** Today in UTC. */
  today: string;
  /** What was done about signs that have a cause, such as `warm-up stepped back`. */
  consequence?: string | undefined;
}

/** Fewer events, or events among fewer emails, are no sign; a day with fewer emails and no event ends no streak. */
const EVENTS_MIN = 3;
export const EMAILS_MIN = 20;
const DAY_EMAILS_MIN = 5;
const NAMES: Readonly<Record<string, string>> = {
  'gmail.com': 'Gmail',
  'outlook.com': 'Outlook',
  'onmicrosoft.com': 'Microsoft 365',
  'yahoo.com': 'Yahoo',
  'icloud.com': 'iCloud',
  'gmx.net': 'GMX',
  other: 'The rest',
};
/** The name of a provider as people say it. */
export const providerName = (provider: string): string => NAMES[provider] ?? provider;
/** Percent with one decimal, at most 100. */
export const percentOf = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.min(100, Math.round((part / whole) * 1_000) / 10);

/** `today`, `since Tuesday` within a week, else `since 3 November`. */
function sinceWords(day: string, today: string): string {
  const age = (Date.parse(today) - Date.parse(day)) / DAY_MS;
  if (age < 1) return 'today';
  const form = age < 7 ? ({ weekday: 'long' } as const) : ({ day: 'numeric', month: 'long' } as const);
  return `since ${new Intl.DateTimeFormat('en-GB', { ...form, timeZone: 'UTC' }).format(Date.parse(day))}`;
}

/** The days since the first day of the present streak; empty when the latest day with mail does not have the sign. */
function streakOf({ sign, of, watch }: SignRule, days: SignInput['days']): SignInput['days'] {
  let first = days.length;
  for (let index = days.length - 1; index >= 0; index--) {
    const events = days[index]?.[sign] ?? 0;
    const emails = days[index]?.[of] ?? 0;
    if (events > 0 && events * 100 >= emails * watch) first = index;
    else if (events > 0 || emails >= DAY_EMAILS_MIN) break;
  }
  return days.slice(first);
}

/** What a provider makes of our mail now, the most urgent first, each in one sentence; empty when it is content. */
export function signsOfDays({ provider, source, days, today, consequence }: SignInput): Sign[] {
  const signs = SIGN_RULES.flatMap((rule): Sign[] => {
    const { sign, of, urgent, words } = rule;
    const streak = streakOf(rule, days);
    const sum = (name: AnswerNumber): number => streak.reduce((total, day) => total + (day[name] ?? 0), 0);
    const [events, emails, since = ''] = [sum(sign), sum(of), streak[0]?.day];
    if (events < EVENTS_MIN || emails < EMAILS_MIN) return [];
    const percent = percentOf(events, emails);
    const verb = sign === 'complaints' ? ':' : sign.startsWith('deferred') ? ' defers' : ' refuses';
    const mail = source === undefined ? '' : ` of the mail over ${source}`;
    const done = consequence === undefined || sign.endsWith('Other') ? '' : `; ${consequence}`;
    const sentence = `${providerName(provider)}${verb} ${percent} %${mail} ${words} ${sinceWords(since, today)}${done}`;
    const isUrgent = percent >= urgent;
    return [{ sign, isUrgent, percent, since, sentence }];
  });
  return signs.toSorted((left, right) => Number(right.isUrgent) - Number(left.isUrgent));
}
