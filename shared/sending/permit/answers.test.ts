import { describe, expect, it } from '@jest/globals';
import type { AnswerNumber } from '../../pure/deliverability.ts';
import { signsOf } from '../verdict/refusal-signs.ts';
import type { SmtpOutcome } from '../transport/smtp-pool.ts';
import { judgeRefusal } from '../verdict/judge-refusal.ts';
import { answersOf, refusedAs, type Answers, type CountedAnswers } from './answers.ts';
import { EmailCounts, OTHER, PROVIDERS_MAX } from './email-counts.ts';

const NOON = Date.parse('2026-11-25T12:00:00Z');
const HOUR = 3_600_000;

function refusal(reply: string): AnswerNumber {
  const kind = reply.startsWith('5') ? 'rejected' : reply.startsWith('4') ? 'deferred' : 'interrupted';
  const outcome = { kind, stage: 'rcpt', reply, replyCode: Number(reply.slice(0, 3)) } as SmtpOutcome;
  const verdict =
    kind === 'rejected' ? judgeRefusal({ stage: 'rcpt', code: Number(reply.slice(0, 3)), text: reply }) : undefined;
  return refusedAs(outcome, signsOf('ann@mail.test', { reply, stage: 'rcpt' }, verdict).cause);
}

describe('a refusal', () => {
  it.each<[string, AnswerNumber]>([
    ['421 4.7.0 Too many messages from your address, slow down', 'deferredSpeed'],
    ['450 4.2.1 The sending rate is too high', 'deferredSpeed'],
    ['451 4.7.650 The mail server has been temporarily rate limited due to IP reputation', 'deferredReputation'],
    [
      '421 4.7.0 [TSS04] Messages temporarily deferred due to unexpected volume or user complaints',
      'deferredReputation',
    ],
    ['450 4.7.1 Your IP is on a blocklist, please try again later', 'deferredReputation'],
    ['451 4.7.1 Greylisted, please try again in 300 seconds', 'deferredOther'],
    ['452 4.2.2 Mailbox full', 'deferredOther'],
    ['the connection broke', 'deferredOther'],
    ['550 5.1.1 User unknown', 'refusedMailbox'],
    ['550 5.1.2 Host not found: no such domain', 'refusedMailbox'],
    ['554 5.7.1 Service unavailable; client host blocked using Spamhaus', 'refusedReputation'],
    ['550 5.7.1 Rejected by policy', 'refusedReputation'],
    ['554 5.7.1 Message rejected as spam', 'refusedReputation'],
    ['552 5.2.2 Mailbox full', 'refusedOther'],
    ['550 5.7.1 Relaying denied', 'refusedOther'],
    ['552 5.3.4 Message too large', 'refusedOther'],
  ])('%s counts as %s', (reply, number) => expect(refusal(reply)).toBe(number));
});

/** The sum of the numbers of one email that is answered several times. */
function sumOf(attempts: [as: AnswerNumber, source: string, atMs: number][], dueMs = NOON) {
  const sums: Record<string, Answers> = {};
  let before: CountedAnswers | null = null;
  for (const [as, source, nowMs] of attempts) {
    const { answers, counted } = answersOf(as, source, { dueMs, before, nowMs });
    const day = `${source} ${new Date(nowMs).toISOString().slice(8, 10)}`;
    const sum = (sums[day] ??= {});
    for (const [name, count] of Object.entries(answers) as [AnswerNumber, number][])
      sum[name] = (sum[name] ?? 0) + count;
    before = counted;
  }
  return sums;
}

describe('an email that is tried again', () => {
  it('counts once a day as offered and as deferred, with the time until it was accepted', () => {
    const attempts: Parameters<typeof sumOf>[0] = [
      ['deferredSpeed', 'a', NOON + 1_000],
      ['deferredReputation', 'a', NOON + 2_000],
      ['accepted', 'a', NOON + 5_000],
    ];
    expect(sumOf(attempts)).toEqual({ 'a 25': { offered: 1, deferredSpeed: 1, accepted: 1, deliveryMs: 5_000 } });
  });

  it('counts on each day and at each source that it is offered', () => {
    expect(
      sumOf([
        ['deferredOther', 'a', NOON],
        ['deferredOther', 'b', NOON + HOUR],
        ['deferredOther', 'a', NOON + 2 * HOUR],
        ['deferredOther', 'a', NOON + 24 * HOUR],
        ['accepted', 'b', NOON + 25 * HOUR],
      ]),
    ).toEqual({
      'a 25': { offered: 1, deferredOther: 1 },
      'b 25': { offered: 1, deferredOther: 1 },
      'a 26': { offered: 1, deferredOther: 1 },
      'b 26': { offered: 1, accepted: 1, deliveryMs: 25 * HOUR },
    });
  });

  it('counts a dead mailbox that is found after a doubted refusal, and each refusal once', () => {
    const answers: AnswerNumber[] = ['refusedReputation', 'refusedOther', 'refusedMailbox', 'refusedMailbox'];
    expect(sumOf(answers.map((as, index) => [as, 'a', NOON + index]))).toEqual({
      'a 25': { offered: 1, refusedReputation: 1, refusedMailbox: 1 },
    });
  });
});

it('the numbers of a source are bounded: providers beyond the first share one row, those known by name do not', () => {
  const counts = new EmailCounts(0);
  for (let n = 0; n < PROVIDERS_MAX + 50; n++) counts.addAnswers('a', `p${n}.test`, { offered: 1 });
  counts.addAnswers('a', 'mimecast.com', { offered: 1 });
  counts.addAnswers('a', 'p0.test', { offered: 1 });
  const kept = new EmailCounts(0);
  kept.addAll(counts);
  const answers = kept.answers();
  expect(answers).toHaveLength(PROVIDERS_MAX + 2);
  const of = (name: string) => answers.find(({ provider }) => provider === name)?.answers;
  expect([of(OTHER), of('mimecast.com'), of('p0.test')]).toEqual([{ offered: 50 }, { offered: 1 }, { offered: 2 }]);
});

it('numbers of emails are stored each second while they are few, and gathered for ten when each would be a row', () => {
  const counts = new EmailCounts(0);
  for (let n = 0; n < 1_000; n++) counts.add('relay', 'project', `p${n % 200}.test`);
  expect([counts.isDue(500), counts.isDue(1_000)]).toEqual([false, true]);
  counts.add('relay', 'project', 'one-more.test');
  expect([counts.isDue(1_000), counts.isDue(10_000)]).toEqual([false, true]);
});
