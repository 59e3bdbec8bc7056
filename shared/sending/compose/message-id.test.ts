import { describe, expect, it } from '@jest/globals';
import { messageIdOf } from './message-id.ts';

describe('a Message-ID', () => {
  it.each([
    ['news@example.com', 'id@example.com'],
    ['news@münchen.example', 'id@xn--mnchen-3ya.example'],
    ['news@xn--mnchen-3ya.example', 'id@xn--mnchen-3ya.example'],
    ['news@MÜNCHEN.example', 'id@xn--mnchen-3ya.example'],
  ])('is at the domain of %s, in ASCII', (from, expected) => {
    expect(messageIdOf('id', from)).toBe(expected);
  });
});
