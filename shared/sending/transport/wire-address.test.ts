import { describe, expect, it } from '@jest/globals';
import { needsUtf8, toRecipientAddress, toWireAddress, UnsendableAddressError } from './wire-address.ts';

describe('toWireAddress', () => {
  it.each([
    ['ann@example.org', 'ann@example.org'],
    ['Ann.O_Neil+tag@Sub.Example.org', 'Ann.O_Neil+tag@Sub.Example.org'],
    [' ann@example.org ', 'ann@example.org'],
    ['ann@BÜCHER.example', 'ann@xn--bcher-kva.example'],
    ['"ann lee"@example.org', '"ann lee"@example.org'],
    ['"a@b"@example.org', '"a@b"@example.org'],
    ['ann@[127.0.0.1]', 'ann@[127.0.0.1]'],
  ])('writes %s as %s', (address, expected) => {
    expect(toWireAddress(address)).toBe(expected);
  });

  it.each([
    '',
    'ann',
    '@example.org',
    'ann@',
    'änn@example.org',
    'a b@example.org',
    'ann@exa mple.org',
    'ann@example.org\r\nX: y',
    '"ann\r\n"@example.org',
    'ann,bob@example.org',
    '<ann@example.org>',
    'ann@[x\r\n]',
    `${'a'.repeat(320)}@example.org`,
  ])('refuses %j', (address) => {
    expect(() => toWireAddress(address)).toThrow(UnsendableAddressError);
  });
});

describe('toRecipientAddress', () => {
  it.each([
    ['jörg@bücher.example', 'jörg@xn--bcher-kva.example', true],
    ['संपर्क@डाटामेल.भारत', 'संपर्क@xn--c2bd4bq1db8d.xn--h2brj9c', true],
    ['用户@example.org', '用户@example.org', true],
    ['ann@BÜCHER.example', 'ann@xn--bcher-kva.example', false],
  ])('writes %s as %s', (address, expected, isUtf8) => {
    expect(toRecipientAddress(address)).toBe(expected);
    expect(needsUtf8(address)).toBe(isUtf8);
  });

  it.each([
    'jö rg@example.org',
    'jö\u00a0rg@example.org',
    'jörg\r\n@example.org',
    'jörg>@example.org',
    'jö,rg@example.org',
    'jörg@xn--ü.test',
  ])('refuses %j', (address) => expect(() => toRecipientAddress(address)).toThrow(UnsendableAddressError));
});
