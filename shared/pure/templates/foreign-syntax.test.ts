import { describe, expect, it } from '@jest/globals';
import { findForeignSyntax } from './foreign-syntax.ts';

describe('findForeignSyntax', () => {
  it.each([
    ['Hi {{ firstName | upcase }}', 1, 4],
    ['a\n{% if plan == "pro" %}b{% endif %}', 2, 1],
    ['{%- assign x = 1 -%}', 1, 1],
    ['{{> footer}}', 1, 1],
    ['<p><%= name %></p>', 1, 4],
    ['Hi *|FNAME|*', 1, 4],
  ])('finds what another language means by %j', (source, line, column) => {
    expect(findForeignSyntax(source)).toMatchObject({ line, column });
  });

  it.each([
    'Hi {{name ?? "a | b"}}, {{{html}}} {{#if a}}b{{/if}}',
    '<style>@keyframes x{0%{opacity:0}100%{opacity:1}}</style>',
    'Save 20 % | Now {half off} <a href="?x=%7B%25">',
    '5 * | 3 | * and a < b %',
  ])('leaves %j alone', (source) => expect(findForeignSyntax(source)).toBeUndefined());

  it('takes time in proportion to the text, whatever it is', () => {
    const startedAt = performance.now();
    for (const piece of ['{{', '{%', '{% a', '<%', '*|A', '{{a', '{{ a |', '"{{'])
      findForeignSyntax(piece.repeat(200_000));
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });
});
