import { describe, expect, it } from '@jest/globals';
import { readInboundMessage } from './inbound-message.ts';

const ORIGINAL = 'Subject: News\nX-Mark: folded\n  mark\n\nHello';

function reportOf(raw: string): { feedbackType: string; evidence: string } | undefined {
  const message = readInboundMessage(Buffer.from(raw), 'fbl@isp.test');
  return message.kind === 'complaint' ? message.report : undefined;
}

function arf(fields: string, reportType = 'message/feedback-report'): string {
  const head = 'Content-Type: multipart/report; report-type=feedback-report; boundary=x1x';
  return `${head}\n\n--x1x\n\nwords\n--x1x\nContent-Type: ${reportType}\n\n${fields}\n--x1x\nContent-Type: message/rfc822\n\n${ORIGINAL}\n--x1x--`;
}

describe('a report of a feedback loop', () => {
  it.each(['abuse', 'fraud', 'opt-out', 'not-spam', 'auth-failure'])('has the feedback type %s', (type) => {
    expect(reportOf(arf(`Feedback-Type: ${type}\nVersion: 1`))).toMatchObject({ feedbackType: type });
  });

  it('may have comments beside its type', () => {
    expect(reportOf(arf('Feedback-Type: (seen) Abuse (spam)'))).toMatchObject({ feedbackType: 'abuse' });
  });

  it('is recognized by its fields when its part has another type', () => {
    expect(reportOf(arf('Feedback-Type: Abuse\nVersion: 0.1', 'text/plain'))).toMatchObject({ feedbackType: 'abuse' });
  });

  it('contains the message with folded lines joined, and the envelope sender', () => {
    const report = reportOf(arf('Feedback-Type: abuse\nOriginal-Mail-From: <bounce@shop.test>'));
    expect(report?.evidence).toContain('X-Mark: foldedmark');
    expect(report?.evidence).toContain('<bounce@shop.test>');
  });

  it('of Outlook.com is recognized without a report part', () => {
    const inner = `X-HmXmrOriginalRecipient: joe@home.test\n${ORIGINAL}`;
    const raw = `From: staff@hotmail.com\nSubject: complaint about message\nContent-Type: multipart/mixed; boundary=x1x\n\n--x1x\nContent-Type: message/rfc822\n\n${inner}\n--x1x--`;
    const bare = `From: staff@hotmail.com\nSubject: complaint about message\nContent-Type: message/rfc822\n\n${inner}`;
    for (const each of [raw, bare]) {
      expect(reportOf(each)).toMatchObject({ feedbackType: 'abuse', evidence: expect.stringContaining('foldedmark') });
    }
  });

  it('may be the message that Apple Mail sends to unsubscribe its user', () => {
    const raw =
      'From: joe@home.test\nSubject: unsubscribe\n\nApple Mail sent this email to unsubscribe from the message "News".';
    expect(reportOf(raw)).toMatchObject({ feedbackType: 'opt-out' });
  });
});
