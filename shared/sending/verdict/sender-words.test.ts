import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { judgeRefusal, type RefusalStage } from './judge-refusal.ts';
import { judgeReport } from './judge-report.ts';

/** One sentence for each subject of the rules of kind `sender`. */
const SENDER_WORDS = [
  'Message size exceeds fixed maximum message size',
  'Client host blocked using a blocklist',
  'Your address space has a poor reputation',
  'Message classified as spam',
  'A virus was found in the message',
  'Malformed Message-ID header',
  'SPF check failed',
  'DMARC policy of the domain',
  'Authentication required',
  'No PTR record',
  'Helo command rejected: need fully-qualified hostname',
  'Relaying denied',
  'Sender address rejected: Domain not found',
  'Sender verify failed',
  'Absender unbekannt',
  "L'expéditeur n'existe pas",
  'Отправитель не существует',
  '发件人地址不存在',
  'Too many invalid recipients',
  'Sending rate limit exceeded',
  'Bad sequence of commands',
  'Rejected for policy reasons',
  'Refused by the recipient',
  'AOL will not accept delivery of this message',
];
const HARD_WORDS = ['', 'User unknown', 'No such user here', 'Mailbox not found', 'Recipient address rejected'];

const stage = fc.constantFrom<RefusalStage>('mail', 'rcpt', 'data', 'report');
const code = fc.constantFrom(421, 450, 451, 452, 500, 501, 535, 550, 551, 552, 553, 554, 571);
const detail = fc.integer({ min: 0, max: 30 });
const enhancedCode = fc.option(
  fc.tuple(fc.constantFrom(4, 5), fc.integer({ min: 0, max: 7 }), detail).map((parts) => parts.join('.')),
  { nil: undefined },
);
const address = fc.emailAddress().map((text) => `<${text}>`);

const refusal = fc.record({
  said: fc.constantFrom(...SENDER_WORDS),
  hard: fc.constantFrom(...HARD_WORDS),
  isHardFirst: fc.boolean(),
  stage,
  code,
  enhancedCode,
  address,
});

describe('words about the sender', () => {
  it('never make a refusal hard, whatever the codes, the stage and the other words are', () => {
    fc.assert(
      fc.property(refusal, ({ said, hard, isHardFirst, ...given }) => {
        const words = isHardFirst ? `${hard}; ${said}` : `${said}; ${hard}`;
        const text = `${given.code} ${given.enhancedCode ?? ''} ${given.address} ${words}`;
        expect(judgeRefusal({ ...given, text }).kind).not.toBe('hard');
        expect(judgeReport({ status: given.enhancedCode ?? '5.0.0', diagnostic: text }).kind).not.toBe('hard');
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a refusal without words and without an enhanced status code', () => {
  it('is never hard', () => {
    fc.assert(
      fc.property(stage, fc.integer({ min: 500, max: 555 }), fc.string(), (at, replyCode, noise) => {
        const text = `${replyCode} ${noise.replace(/[\p{L}\p{N}#]/gu, '')}`;
        expect(judgeRefusal({ stage: at, code: replyCode, text }).kind).not.toBe('hard');
      }),
    );
  });
});

describe('judgeReport', () => {
  it.each([
    'SMTP error from remote mail server after MAIL FROM:<a@b.test>: 550 5.1.1 User unknown',
    'host mx.test said: 550 User unknown (in reply to MAIL FROM command)',
    '>>> MAIL From:<a@b.test> <<< 550 User unknown',
    'Connected to 192.0.2.1 but sender was rejected. Remote host said: 550 no such user',
  ])('recognises a refusal that came before RCPT: %s', (diagnostic) => {
    expect(judgeReport({ status: '5.1.1', diagnostic }).kind).toBe('sender');
  });
});
