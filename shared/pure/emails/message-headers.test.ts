import { describe, expect, it } from '@jest/globals';
import { isHeaderName, isProtectedHeader, PROTECTED_HEADERS } from './message-headers.ts';

describe('protected headers', () => {
  it('holds lower-case names only', () => {
    for (const name of PROTECTED_HEADERS) {
      expect(name).toBe(name.toLowerCase());
    }
  });

  it.each(['From', 'SUBJECT', 'Message-Id', 'Content-Type', 'Content-X-Anything', 'Resent-To', 'ARC-Seal', 'Bcc'])(
    'protects %s',
    (name) => {
      expect(isProtectedHeader(name)).toBe(true);
    },
  );

  it.each(['Reply-To', 'X-Campaign', 'In-Reply-To', 'References', 'List-Unsubscribe', 'Precedence', 'Contentment'])(
    'leaves %s to the caller',
    (name) => {
      expect(isProtectedHeader(name)).toBe(false);
    },
  );
});

describe('header names', () => {
  it('accepts printable ASCII without a colon', () => {
    expect(isHeaderName('X-Entity-Ref-ID')).toBe(true);
    expect(isHeaderName("!#$%&'*+-.^_`|~")).toBe(true);
  });

  it.each(['', 'X Y', 'X:', 'X\r\nY', 'Ünï', 'X\t', 'x'.repeat(77)])('refuses %j', (name) => {
    expect(isHeaderName(name)).toBe(false);
  });
});
