import { describe, expect, it } from '@jest/globals';
import { isHeaderName, isProtectedHeader, isRelayHeader, PROTECTED_HEADERS } from './message-headers.ts';

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

describe('headers that give orders to relays', () => {
  it.each([
    'X-SMTPAPI',
    'x-mc-Tags',
    'X-SES-CONFIGURATION-SET',
    'X-Mailgun-Variables',
    'X-PM-Message-Stream',
    'X-MJ-CustomID',
    'X-MSYS-API',
    'X-SG-EID',
    'X-Mailin-Tag',
    'X-SMTP2GO-Account',
    'X-virtual-MTA',
    'X-Job',
  ])('include %s', (name) => {
    expect(isRelayHeader(name)).toBe(true);
  });

  it.each(['X-Campaign', 'X-Mailer', 'X-Priority', 'X-Job-Id', 'X-Entity-Ref-ID', 'X-MS-Has-Attach'])(
    'do not include %s',
    (name) => {
      expect(isRelayHeader(name)).toBe(false);
    },
  );

  it('can be allowed by name or as a family', () => {
    const allowed = ['x-smtpapi', 'x-mc-*'];
    expect(['X-SmtpApi', 'X-MC-Tags'].map((name) => isRelayHeader(name, allowed))).toEqual([false, false]);
    const others = ['X-SmtpApi-More', 'X-SES-Message-Tags', 'X-SES-Configuration-Set'];
    expect(others.map((name) => isRelayHeader(name, [...allowed, 'x-ses-c']))).toEqual([true, true, true]);
  });
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
