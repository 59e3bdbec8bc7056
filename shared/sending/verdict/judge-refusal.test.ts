import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { judgeRefusal, type RefusalStage } from './judge-refusal.ts';
import { judgeReport } from './judge-report.ts';
import { REFUSAL_RULES } from './rules.ts';

function kindOf(stage: RefusalStage, reply: string): string {
  const [, code = '', enhancedCode] = /^(\d{3})[ -](?:([245]\.\d+\.\d+) )?/.exec(reply) ?? [];
  return judgeRefusal({ stage, code: Number(code), enhancedCode, text: reply }).kind;
}

describe('a refusal because the address will never accept mail', () => {
  it.each<[RefusalStage, string]>([
    ['rcpt', '550 5.1.1 No such user'],
    ['rcpt', '550 <joe@full.example>: Recipient address rejected: User unknown in local recipient table'],
    ['rcpt', '550 5.7.1 There is no such user at this host'],
    ['rcpt', '554 5.7.1 Unknown user'],
    ['rcpt', '553 sorry, no mailbox with that name is found here (#5.7.1)'],
    ['rcpt', '550 5.2.1 The account is closed'],
    ['rcpt', '550 Joe Doe (joe@example.com) not listed in Domino Directory'],
    ['rcpt', '550 5.1.2 Host unknown'],
    ['rcpt', '550 5.1.1 Recipient not found. Check the address and try again.'],
    ['rcpt', '550 5.1.1'],
    ['rcpt', '550 Der Empfänger ist hier unbekannt'],
    ['rcpt', '556 The domain takes no mail'],
    ['rcpt', '550 5.4.1 Recipient address rejected: Access denied. For more see the docs'],
    ['data', '550 5.1.1 No such user'],
    ['data', '554 delivery error: this user does not have a mailbox here'],
    ['report', '550 5.1.10 Recipient not found by lookup'],
  ])('is hard at %s: %s', (stage, reply) => {
    expect(kindOf(stage, reply)).toBe('hard');
  });
});

describe('a refusal because of the sender or the message', () => {
  it.each<[RefusalStage, string]>([
    ['data', '554 5.7.1 Looks like spam'],
    ['rcpt', '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.example'],
    ['rcpt', '550 5.7.1 Relaying denied'],
    ['rcpt', '550 5.1.1 Too many invalid recipients from your host'],
    ['rcpt', '550-Verification failed for <news@shop.example> 550-No Such User Here 550 Sender verify failed'],
    ['rcpt', '550 5.1.8 Sender address rejected: Domain not found'],
    ['rcpt', '550 5.7.1 Recipient address rejected: Access denied'],
    ['rcpt', '554 No thanks'],
    ['rcpt', '550 go away'],
    ['rcpt', '550 5.7.133 The sender is not authenticated for this group'],
    ['data', '550 5.7.26 This message fails the DMARC checks of its domain'],
    ['data', '550 no'],
    ['mail', '550 5.1.1 No such user'],
    ['mail', '550 Unknown user'],
    ['report', '550 5.7.1 Your message was refused for reasons of policy'],
    ['mail', '553 5.6.7 SMTPUTF8 is required, but was not offered by host mx.example.com'],
    ['rcpt', '550 5.6.7 Non-ASCII addresses not permitted for that sender/recipient'],
    ['report', '554 5.6.9 UTF-8 header message cannot be transferred to one or more recipients'],
    ['data', '550 5.6.8 UTF-8 string reply is required, but not permitted by the SMTP client'],
    ['report', '550'],
  ])('says nothing about the address at %s: %s', (stage, reply) => {
    expect(kindOf(stage, reply)).toBe('sender');
  });
});

describe('a refusal because of a passing fault', () => {
  it.each<[RefusalStage, string]>([
    ['rcpt', '552 5.2.2 Mailbox full'],
    ['rcpt', '550 5.1.1 The mailbox of this user is over quota'],
    ['data', '554 The mailbox has exceeded its storage'],
    ['rcpt', '552 Not today'],
    ['rcpt', '450 4.1.1 User unknown, address verification is in progress'],
    ['data', '550 5.3.0 Internal server error'],
    ['rcpt', '550 5.7.1 Greylisted'],
    ['report', '421 4.4.2 Connection timed out'],
  ])('is temporary, whatever its class, at %s: %s', (stage, reply) => {
    expect(kindOf(stage, reply)).toBe('temporary');
  });
});

describe('judgeRefusal', () => {
  it('ignores the words in an address', () => {
    expect(kindOf('rcpt', '550 5.1.1 <spam-policy@blocked.example>: user unknown')).toBe('hard');
    expect(kindOf('data', '554 5.7.1 Refused: mail of no.such.user@unknown.example')).toBe('sender');
  });

  it('says whether the same message may be accepted later', () => {
    const judge = (text: string) => judgeRefusal({ stage: 'data', code: 552, text });
    expect(judge('552 5.3.4 Message size exceeds the limit')).toMatchObject({ kind: 'sender', mayPass: false });
    expect(judge('552 Mailbox full')).toMatchObject({ kind: 'temporary', mayPass: true });
    expect(judge('554 5.7.1 This is spam')).toMatchObject({ kind: 'sender', mayPass: false });
    expect(judge('554 5.7.1 blocked by our list')).toMatchObject({ kind: 'sender', mayPass: true, rule: 'listed' });
  });

  it('judges any text in little CPU time', async () => {
    const texts = ['user '.repeat(400), 'address is is is '.repeat(120), '550 '.repeat(500), '<'.repeat(2_000)];
    const cpuMs = await cpuMsOf(() => {
      for (const text of [...texts, 'あ'.repeat(1_000), 'адрес '.repeat(160), 'adres nie '.repeat(100)]) {
        for (let times = 0; times < 5; times++) judgeRefusal({ stage: 'rcpt', code: 550, text });
      }
    });
    expect(cpuMs).toBeLessThan(200);
  });
});

describe('judgeReport', () => {
  it.each([
    [{ status: '5.1.1', diagnostic: '550 5.1.1 No such user' }, 'hard'],
    [{ status: '5.1.1', diagnostic: '' }, 'hard'],
    [{ status: '5.0.0', diagnostic: '550 User unknown' }, 'hard'],
    [{ status: '5.0.0', diagnostic: '' }, 'sender'],
    [{ status: '5.7.1', diagnostic: '554 5.7.1 blocked' }, 'sender'],
    [{ status: '5.2.2', diagnostic: '' }, 'temporary'],
    [{ status: '4.4.7', diagnostic: '' }, 'temporary'],
  ])('judges %j as %s', (report, kind) => {
    expect(judgeReport(report).kind).toBe(kind);
  });
});

describe('the rules', () => {
  it('each have an id of their own, a source, and a condition', () => {
    expect(new Set(REFUSAL_RULES.map((rule) => rule.id)).size).toBe(REFUSAL_RULES.length);
    for (const rule of REFUSAL_RULES) {
      expect(rule.source).not.toBe('');
      expect([rule.code, rule.enhanced, rule.words].some((each) => each !== undefined)).toBe(true);
    }
  });
});
