import { describe, expect, it } from '@jest/globals';
import { missingFields, readSubmittedMessage } from './submitted-message.ts';

const read = (text: string, allowed: string[] = []) =>
  readSubmittedMessage(Buffer.from(text.replaceAll('\n', '\r\n'), 'utf8'), allowed);
const withFrom = (from: string) => read(`From: ${from}\nSubject: x\n\nbody\n`).from;

describe('the sender of a submitted message', () => {
  it.each([
    ['a@shop.example', { address: 'a@shop.example' }],
    ['<a@shop.example>', { address: 'a@shop.example' }],
    ['Shop <a@shop.example>', { address: 'a@shop.example', name: 'Shop' }],
    ['"Shop, Inc. <x@y>" <a@shop.example>', { address: 'a@shop.example', name: 'Shop, Inc. <x@y>' }],
    ['"a \\"quoted\\" name" <a@shop.example>', { address: 'a@shop.example', name: 'a "quoted" name' }],
    ['a@shop.example (Shop, the)', { address: 'a@shop.example' }],
    ['=?utf-8?q?B=C3=BCcher?= <a@shop.example>', { address: 'a@shop.example', name: 'Bücher' }],
    ['Bücher <a@bücher.example>', { address: 'a@bücher.example', name: 'Bücher' }],
    ['Shop\n <a@shop.example>', { address: 'a@shop.example', name: 'Shop' }],
  ])('%j', (from, sender) => expect(withFrom(from)).toEqual(sender));

  it.each([
    'a@shop.example, b@shop.example',
    'a@shop.example <b@shop.example> <c@shop.example>',
    '<a@shop.example> b@shop.example',
    'Shop',
    '',
    '"open <a@shop.example>',
    'a@shop.example (open',
    'Friends: a@shop.example, b@shop.example;',
  ])('%j is refused', (from) => {
    const refused = () => {
      const { address } = withFrom(from);
      if (!address.includes('@')) throw new Error('no address');
    };
    expect(refused).toThrow();
  });
});

describe('a submitted message', () => {
  it('stays octet for octet when nothing has to go', () => {
    const raw = Buffer.from('From: a@b.example\r\nX-Odd :  \t two  spaces\r\n folded\r\n\r\nb\xf6dy\r\n', 'latin1');
    expect(readSubmittedMessage(raw, []).content).toBe(raw);
  });

  it('loses orders for relays unless the operator allows them', () => {
    const text = 'From: a@b.example\nX-SES-Configuration-Set: x\nX-PM-Tag: y\n\nbody\n';
    expect(read(text).content.toString()).toBe('From: a@b.example\r\n\r\nbody\r\n');
    expect(read(text, ['x-pm-*']).content.toString()).toContain('X-PM-Tag: y');
  });

  it('may be a header alone', () => {
    expect(read('From: a@b.example\nBcc: c@d.example\n').content.toString()).toBe('From: a@b.example\r\n\r\n');
  });

  it.each(['\nFrom: a@b.example\n\nbody\n', 'Hello\nFrom: a@b.example\n\n', 'From: a@b.example\nA name: x\n\n'])(
    '%j is refused, because it does not begin with a header',
    (text) => expect(() => read(text)).toThrow('must begin with its header'),
  );

  it('is refused without a From header', () => {
    expect(() => read('Subject: x\n\nbody\n')).toThrow('has no From header');
  });

  it('tells whether it says itself that a program sent it', () => {
    expect(read('From: a@b.example\nAuto-Submitted: auto-replied\n\n').hasAutoSubmitted).toBe(true);
    expect(read('From: a@b.example\n\n').hasAutoSubmitted).toBe(false);
  });

  it('gets Date and Message-ID only if it lacks them', () => {
    const date = new Date('2026-01-02T03:04:05Z');
    expect(missingFields(read('From: a@b.example\n\n'), 'id@b.example', date)).toBe(
      'Message-ID: <id@b.example>\r\nDate: Fri, 02 Jan 2026 03:04:05 +0000\r\n',
    );
    expect(missingFields(read('From: a@b.example\ndate: x\nMESSAGE-ID: <y>\n\n'), 'id', date)).toBe('');
    const odd = read('Message-ID:\nDate:\n \nFrom: a@b.example\nMessage-Id: <y>\nMESSAGE-ID: <z>\n\nbody\n');
    expect([odd.messageId, odd.content.toString()]).toEqual([
      '<y>',
      'From: a@b.example\r\nMessage-Id: <y>\r\n\r\nbody\r\n',
    ]);
    expect(missingFields(odd, 'id', date)).toBe('Date: Fri, 02 Jan 2026 03:04:05 +0000\r\n');
  });

  it('has few tags of any characters, as API mail has', () => {
    const tagsOf = (...values: string[]) =>
      read(`From: a@b.example\n${values.map((value) => `X-Everpost-Tag: ${value}\n`).join('')}\n`).tags;
    expect(tagsOf('welcome, a b', 'welcome')).toEqual(['welcome', 'a b']);
    expect(tagsOf('<b>, 50 % & "more"')).toEqual(['<b>', '50 % & "more"']);
    expect(tagsOf('=?utf-8?q?gr=C3=B6=C3=9Fe=2C_=E6=96=B0?=', 'größe')).toEqual(['größe', '新']);
    expect(tagsOf('x'.repeat(100))).toEqual(['x'.repeat(100)]);
    expect(() => tagsOf('x'.repeat(101))).toThrow('A tag (X-Everpost-Tag) has at most 100 characters');
    expect(() => tagsOf(Array.from({ length: 11 }, (_, i) => `t${i}`).join())).toThrow('at most 10 tags');
  });

  it('with an endless header is refused before it is read', () => {
    expect(() => read(`From: a@b.example\n${'X: y\n'.repeat(100_000)}`)).toThrow('longer than 262144 bytes');
  });
});
