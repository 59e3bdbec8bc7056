import { describe, expect, it } from '@jest/globals';
import { parseSmtpReply, replyCodeOf } from './smtp-reply.ts';

describe('parseSmtpReply and replyCodeOf', () => {
  it.each([
    ['550 5.1.1 No such user', { replyCode: 550, enhancedCode: '5.1.1', reply: '550 5.1.1 No such user' }],
    ['451 Try later', { replyCode: 451, reply: '451 Try later' }],
    ['250', { replyCode: 250, reply: '250' }],
    ['550-5.7.1 one\n550 5.7.1 two', { replyCode: 550, enhancedCode: '5.7.1', reply: '550-5.7.1 one 550 5.7.1 two' }],
    ['554 5.7 is no code', { replyCode: 554, reply: '554 5.7 is no code' }],
    ['552 1.2.3.4 is blocked', { replyCode: 552, reply: '552 1.2.3.4 is blocked' }],
    ['550 5.1.1', { replyCode: 550, enhancedCode: '5.1.1', reply: '550 5.1.1' }],
    ['550 a\0b\ud800', { replyCode: 550, reply: '550 a b\ufffd' }],
  ])('read %j', (text, expected) => {
    expect(parseSmtpReply(text)).toEqual(expected);
    expect(replyCodeOf(text)).toBe(expected.replyCode);
  });

  it.each(['', 'hello', '55', '5500 x', '150 x', '250.1', '250\n'])('find no reply in %j', (text) => {
    expect(parseSmtpReply(text)).toBeUndefined();
    expect(replyCodeOf(text)).toBeUndefined();
  });

  it('cut long replies', () => {
    expect(parseSmtpReply(`550 ${'x'.repeat(5000)}`)?.reply).toHaveLength(1000);
  });
});
