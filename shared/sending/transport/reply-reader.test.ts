import { describe, expect, it } from '@jest/globals';
import { ReplyReader } from './reply-reader.ts';

describe('the reader of replies', () => {
  it.each(['\n', '\r\n', '250-x\r\n', '2'])('ends a server that sends nothing but %j', (unit) => {
    const reader = new ReplyReader();
    const chunk = Buffer.from(unit.repeat(16_384));
    const verdicts = Array.from({ length: 8 }, () => reader.push(chunk, () => true));
    expect(verdicts.at(-1)).toBe(false);
  });

  it('passes over empty lines between replies, however many replies there are', () => {
    const reader = new ReplyReader();
    const replies: string[] = [];
    for (let i = 0; i < 50; i++) {
      const isWell = reader.push(Buffer.from(`${'\r\n'.repeat(5_000)}250 ok\r\n`), (reply) => replies.push(reply) > 0);
      expect(isWell).toBe(true);
    }
    expect(replies).toEqual(Array.from({ length: 50 }, () => '250 ok'));
  });
});
