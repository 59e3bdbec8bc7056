import { expect, it } from '@jest/globals';
import { toDomainName } from './domain-name.ts';

it.each([
  [' Mail.Shop.Example. ', 'mail.shop.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['bücher。example', 'xn--bcher-kva.example'],
])('%p is the domain name %s', (text, name) => {
  expect(toDomainName(text)).toBe(name);
});

it.each([
  'shop.example/news',
  'shop.example/',
  'shop.example?a',
  'shop.example#a',
  'shop.example\\a',
  'shop.ex\tample',
  'shop.ex%61mple',
  'https://shop.example',
  'ada@shop.example',
  'shop.example:80',
  'shop',
  '192.0.2.1',
  '0x7f.1',
])('%p is no domain name', (text) => {
  expect(toDomainName(text)).toBeUndefined();
});
