import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { findForeignSyntax } from './foreign-syntax.ts';

describe('findForeignSyntax', () => {
  it.each([
    ['Hi {{ firstName | upcase }}', 1, 4, 'filter'],
    ['{{ price | times: 1. }}', 1, 1, 'filter'],
    ['{{ name | default: "a ?? b" }}', 1, 1, 'filter'],
    ['{{#each items as |item|}}x{{/each}}', 1, 1, 'filter'],
    ['a\n{% if plan == "pro" %}b{% endif %}', 2, 1, '{{#if}}'],
    ['{%- assign x = 5 % 3 -%}', 1, 1, '{{#if}}'],
    ['{{> footer}}', 1, 1, 'includes'],
    ['<p><%= name %></p>', 1, 4, '{{name}}'],
    ['<% if (a % 2) { %>', 1, 1, '{{name}}'],
    ['{{a}}{{b}}\nHi *|FNAME|*', 2, 4, '{{name}}'],
    ['*|IF:PLAN=pro|*', 1, 1, '{{name}}'],
    ['*|fname|*', 1, 1, '{{name}}'],
    ['{{^paid}}x{{/paid}}', 1, 1, '{{#unless name}}'],
    ['{{^}}', 1, 1, '{{else}}'],
    ['{{&name}}', 1, 1, '{{{name}}}'],
    ['{{&amp;name}}', 1, 1, '{{{name}}}'],
    ['{{! note }}', 1, 1, 'comment'],
    ['{{!-- note --}}', 1, 1, 'comment'],
    ['{{ .FirstName }}', 1, 1, '{{name}}'],
    ['{{../name}}', 1, 1, '{{name}}'],
    ['{{~name~}}', 1, 1, '{{name}}'],
    ['{{=<% %>=}}', 1, 1, '{{name}}'],
    ['{{#unless @last}}, {{/unless}}', 1, 1, '{{@index}}'],
    ['{{#each .Items}}x{{/each}}', 1, 1, '{{name}}'],
    ['{{if .Paid}}', 1, 1, '{{#if name}}'],
    ['{{endif}}', 1, 1, '{{/if}}'],
    ['{{#if plan == "pro"}}x{{/if}}', 1, 1, 'expression'],
    ['{{#if a &amp;&amp; b}}x{{/if}}', 1, 1, 'expression'],
    ['{{#if count > 3}}x{{/if}}', 1, 1, 'expression'],
    ['{{#if !paid}}x{{/if}}', 1, 1, 'expression'],
    ['{{ paid ? "yes" : "no" }}', 1, 1, 'expression'],
    ['{{ name || "friend" }}', 1, 1, '?? "friend"'],
    ['{{#if (eq plan "pro")}}x{{/if}}', 1, 1, 'calls'],
    ['{{ name.upper() }}', 1, 1, 'calls'],
    ['{{ items[0].name }}', 1, 1, '{{list.0}}'],
    ['{{formatDate date "YYYY"}}', 1, 1, 'text beside'],
    ["{{ name default:'friend' }}", 1, 1, 'text beside'],
    ['{{<b>name</b>}}', 1, 1, 'markup'],
  ])('finds the syntax of another language in %j', (source, line, column, message) => {
    expect(findForeignSyntax(source, 'html')).toMatchObject({
      line,
      column,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    'Hi {{name ?? "a | b"}}, {{{html}}} {{#if a}}b{{else}}c{{/if}}{{#each items}}{{this.name}}{{@index}}{{@key}}{{/each}}',
    '{{name ?? "it\'s (\u003cb>x</b>) == {% if %} || *|X|*"}} {{ a ?? "b ?? c | d" ?? \'e | f\' }}',
    "{{name ?? &quot;a | b&quot;}} {{&nbsp;name&nbsp;}} {{ it's }} {{price (EUR)}} {{first name}} {{$id}} {{end}} {{if}}",
    '{{"{% if x %}"}} {{ "*|FNAME|*" }} {{ "<%= name %>" }}',
    '<style>@keyframes x{0%{opacity:0}100%{opacity:1}}</style>',
    '<!--[if mso]><table><![endif]--> ${name} %%name%% a || b && c',
    'Save 20 % | Now {half off} <a href="?x=%7B%25">',
    '5 * | 3 | * and a < b %',
    'Write {{ to begin a <b>tag</b>',
  ])('finds nothing in %j', (source) => expect(findForeignSyntax(source, 'html')).toBeUndefined());

  it('decodes character references in HTML only', () => {
    expect(findForeignSyntax('{{a ?? &quot;x | y&quot;}}', 'text')).toBeDefined();
  });

  it('quotes only the beginning of what it finds', () => {
    expect(findForeignSyntax(`{{ a | ${'b'.repeat(500)} }}`, 'text')?.message.length).toBeLessThan(200);
  });

  it('reads megabytes of any text in seconds of CPU time', async () => {
    const pieces = [
      '{{',
      '{%',
      '{% a',
      '<%',
      '*|A',
      '{{a',
      '{{ a |',
      '"{{',
      '{{"',
      "{{'}}",
      '{{?? "}}',
      '{{?? ',
      '{{a?b:',
      ' ? ',
      ' < ',
      " '",
      ' "',
      'a[1',
    ];
    const cpuMs = await cpuMsOf(() => {
      for (const piece of pieces) {
        findForeignSyntax(piece.repeat(200_000), 'html');
        findForeignSyntax(`{{${piece.replaceAll(/[{}]/g, '').repeat(200_000)}}}`, 'html');
      }
    });
    expect(cpuMs).toBeLessThan(6_000);
  });
});
