import { describe, expect, it } from '@jest/globals';
import type { SmtpOutcome } from '../transport/smtp-pool.ts';
import { resultOf } from './delivery-result.ts';

const RETRY_SECONDS = [1, 1, 1, 1];

const attempt = (deferrals: number, uncertainAttempts = 0) => ({
  emailId: 'id',
  subject: null,
  deferrals,
  uncertainAttempts,
  heldAt: null,
  answered: null,
});
const interrupted = (mayHaveBeenAccepted: boolean): SmtpOutcome => ({
  kind: 'interrupted',
  stage: 'data',
  mayHaveBeenAccepted,
  reply: 'the server closed the connection',
});
const rejected = (reply: string): SmtpOutcome => ({
  kind: 'rejected',
  stage: 'rcpt',
  replyCode: Number(reply.slice(0, 3)),
  reply,
  server: 'relay.test',
});

describe('resultOf', () => {
  it('defers an email whose connection broke before the content had left', () => {
    expect(resultOf(attempt(0), interrupted(false), RETRY_SECONDS)).toMatchObject({ verdict: 'deferred' });
    expect(resultOf(attempt(4), interrupted(false), RETRY_SECONDS)).toMatchObject({
      verdict: 'failed',
      error: 'given up after 5 deferrals: the server closed the connection',
    });
  });

  it('sends an email that may have been accepted twice more, then fails it as possibly arrived', () => {
    expect(resultOf(attempt(0, 0), interrupted(true), RETRY_SECONDS).verdict).toBe('uncertain');
    expect(resultOf(attempt(1, 1), interrupted(true), RETRY_SECONDS).verdict).toBe('uncertain');
    expect(resultOf(attempt(2, 2), interrupted(true), RETRY_SECONDS)).toMatchObject({
      verdict: 'failed',
      error: expect.stringMatching(/may have arrived.*3 times/),
    });
  });

  it('notes that an email may have arrived when other deferrals followed', () => {
    expect(resultOf(attempt(4, 1), interrupted(false), RETRY_SECONDS)).toMatchObject({
      verdict: 'failed',
      error: expect.stringContaining('may have arrived'),
    });
  });

  it('bounces an email only when the address is at fault', () => {
    expect(resultOf(attempt(0), rejected('550 5.1.1 No such user'), RETRY_SECONDS)).toMatchObject({
      verdict: 'bounced',
      refusal: { kind: 'hard', rule: 'no-such-user', server: 'relay.test' },
    });
    expect(resultOf(attempt(0), rejected('554 5.7.1 Blocked'), RETRY_SECONDS).verdict).toBe('deferred');
    expect(resultOf(attempt(4), rejected('554 5.7.1 Blocked'), RETRY_SECONDS).verdict).toBe('failed');
  });

  it('fails an email when the server refuses its message twice', () => {
    const tooLarge = rejected('552 5.3.4 Message too large');
    expect(resultOf(attempt(0), tooLarge, RETRY_SECONDS).verdict).toBe('deferred');
    expect(resultOf(attempt(1), tooLarge, RETRY_SECONDS)).toMatchObject({
      verdict: 'failed',
      refusal: { kind: 'sender' },
    });
  });

  it('counts no attempt for an email that came too fast, until its provider has held it for 48 hours', () => {
    const hold = {
      level: 'provider',
      reason: 'provider paused',
      words: 'fewer',
      until: '2026-01-01T00:00:00.000Z',
    } as const;
    const slowed = rejected('451 4.7.1 Rate limited');
    const hoursAgo = (hours: number) => ({ ...attempt(4), heldAt: new Date(Date.now() - hours * 3_600_000) });
    const assessment = { hold };
    for (const email of [attempt(4), hoursAgo(47)]) {
      expect(resultOf(email, slowed, RETRY_SECONDS, assessment)).toMatchObject({
        verdict: 'held',
        held: hold,
      });
    }
    expect(resultOf(hoursAgo(49), slowed, RETRY_SECONDS, assessment).verdict).toBe('failed');
  });
});
