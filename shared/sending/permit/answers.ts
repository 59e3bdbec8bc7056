import { dayOf } from '../../pure/days.ts';
import type { AnswerNumber } from '../../pure/deliverability.ts';
import type { SmtpOutcome } from '../transport/smtp-pool.ts';
import type { RefusalSigns } from '../verdict/refusal-signs.ts';

export type Answers = Partial<Record<AnswerNumber, number>>;

/** What was counted of an email that servers put off. It is stored with the email, because any worker may try it again. */
export interface CountedAnswers {
  /** When a server first answered, in milliseconds since 1970. */
  firstMs: number;
  /** What was counted on the latest day (in UTC), by source. */
  bySource: Record<string, { day: string; as: AnswerNumber[] }>;
  /** Whether a report of its failure was counted. */
  isReported?: true;
  /** Whether its latest try was spared, because no server was asked. */
  isSpared?: true;
}

/** What to count of a refusal. The reply code says whether it is one for now or for good, whatever we make of it. */
export function refusedAs(outcome: SmtpOutcome, cause: RefusalSigns['cause']): AnswerNumber {
  if (outcome.kind === 'rejected') {
    if (cause === 'mailbox') return 'refusedMailbox';
    return cause === 'reputation' ? 'refusedReputation' : 'refusedOther';
  }
  if (cause === 'speed') return 'deferredSpeed';
  return cause === 'reputation' ? 'deferredReputation' : 'deferredOther';
}

/**
 * The numbers that one answer adds. An email counts once a day and source as offered, as deferred and as refused, however
 * often it is tried.
 * @param dueMs when the email was due; without one, when a server first answered
 */
export function answersOf(
  as: AnswerNumber,
  source: string,
  { dueMs, before, nowMs }: { dueMs: number; before: CountedAnswers | null; nowMs: number },
): { answers: Answers; counted: CountedAnswers } {
  const day = dayOf(nowMs);
  const known = before?.bySource[source];
  const today = known?.day === day ? known.as : [];
  const counted = {
    firstMs: before?.firstMs ?? nowMs,
    bySource: { ...before?.bySource, [source]: { day, as: today.includes(as) ? today : [...today, as] } },
  };
  const isKind = (kind: string) => today.some((each) => each.startsWith(kind) && as.startsWith(kind));
  const isRepeated = today.includes(as) || (as !== 'refusedMailbox' && (isKind('deferred') || isKind('refused')));
  const answers: Answers = {
    ...(today.length === 0 && { offered: 1 }),
    ...(!isRepeated && { [as]: 1 }),
    ...(as === 'accepted' && { deliveryMs: Math.max(0, nowMs - dueMs) }),
  };
  return { answers, counted };
}
