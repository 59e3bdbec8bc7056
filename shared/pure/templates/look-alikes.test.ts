import { describe, expect, it } from '@jest/globals';
import { findLookAlikes } from './look-alikes.ts';

describe('findLookAlikes', () => {
  it.each([
    ['Hi ${name}, ${ user.name }', ['${name}', '${ user.name }']],
    ['Hi #{name} {$name} {first_name}', ['#{name}', '{$name}', '{first_name}']],
    ['Hi %%FNAME%% [[name]] %recipient.first%', ['%%FNAME%%', '[[name]]', '%recipient.first%']],
    ['{name} {name}', ['{name}']],
  ])('finds the look-alikes in %j', (text, expected) => expect(findLookAlikes(text, 9)).toEqual(expected));

  it.each([
    'Hi {{name}} {{{html}}} {{ a ?? "b" }}',
    'Save 20 % or 30 %, 100%% sure, {half off}, {}, $5 {1}, [link], a[b[0]]',
    'JSON {"a": 1} and x{y:z}',
  ])('finds nothing in %j', (text) => expect(findLookAlikes(text, 9)).toEqual([]));

  it('finds at most as many as asked for', () => {
    expect(findLookAlikes('{a} {b} {c}', 2)).toEqual(['{a}', '{b}']);
  });
});
