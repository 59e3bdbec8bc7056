import { describe, expect, it } from '@jest/globals';
import { toWireAddress, UnsendableAddressError } from './wire-address.ts';

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
