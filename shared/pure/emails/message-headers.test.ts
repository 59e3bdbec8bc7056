import { describe, expect, it } from '@jest/globals';
import { isHeaderName, isProtectedHeader, PROTECTED_HEADERS } from './message-headers.ts';

describe('protected headers', () => {
  it('have lower-case names in the set', () => {
    for (const name of PROTECTED_HEADERS) {
      expect(name).toBe(name.toLowerCase());
    }
  });

  it.each(['From', 'SUBJECT', 'Message-Id', 'Content-Type', 'Content-X-Anything', 'Resent-To', 'ARC-Seal', 'Bcc'])(
    'include %s',
    (name) => {
      expect(isProtectedHeader(name)).toBe(true);
    },
  );

  it.each(['Reply-To', 'X-Campaign', 'In-Reply-To', 'References', 'List-Unsubscribe', 'Precedence', 'Contentment'])(
    'do not include %s',
    (name) => {
      expect(isProtectedHeader(name)).toBe(false);
    },
  );
});

describe('header names', () => {
  it('may be printable ASCII without a colon', () => {
    expect(isHeaderName('X-Entity-Ref-ID')).toBe(true);
    expect(isHeaderName("!#$%&'*+-.^_`|~")).toBe(true);
  });

  it.each(['', 'X Y', 'X:', 'X\r\nY', 'Ünï', 'X\t', 'x'.repeat(77)])('cannot be %j', (name) => {
    expect(isHeaderName(name)).toBe(false);
  });
});
