import { describe, expect, it } from '@jest/globals';
import { faultOf, render } from '../../../tests/support/templates.ts';

describe('a placeholder', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['{{name}}', { name: 'Ann' }, 'Ann'],
    ['{{ name }}', { name: 'Ann' }, 'Ann'],
    ['{{first name}}', { 'first name': 'Ann' }, 'Ann'],
    ['{{profile.tier}}', { profile: { tier: 'gold' } }, 'gold'],
    ['{{ profile . home town }}', { profile: { 'home town': 'Ulm' } }, 'Ulm'],
    ['{{items.1}}', { items: ['a', 'b'] }, 'b'],
    ['{{items.1.name}}', { items: [{}, { name: 'b' }] }, 'b'],
    ['{{items.length}}', { items: ['a', 'b'] }, '2'],
    ['{{größe}} {{名}}', { größe: 'L', 名: '花' }, 'L 花'],
    ['{{a}}{{b}}', { a: 1, b: 2 }, '12'],
  ])('reads its value: %s', (source, values, expected) => {
    expect(render(source, values)).toBe(expected);
  });

  it.each<[unknown, string]>([
    ['text', 'text'],
    ['', ''],
    [42, '42'],
    [3.14, '3.14'],
    [0, '0'],
    [true, 'true'],
    [false, 'false'],
    ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00Z'],
    [null, ''],
    [undefined, ''],
    [{ a: 1 }, ''],
    [['a', 'b'], ''],
  ])('prints %j as %j', (value, expected) => {
    expect(render('{{value}}', { value })).toBe(expected);
  });

  it.each(['{{missing}}', '{{a.missing}}', '{{missing.b.c}}', '{{text.length}}', '{{items.9}}', '{{items.-1}}'])(
    'prints nothing when there is no such value: %s',
    (source) => {
      expect(render(`[${source}]`, { a: {}, text: 'abc', items: ['x'] })).toBe('[]');
    },
  );

  it('finds a key that contains dots when no path of keys leads to a value', () => {
    expect(render('{{utm.source}}', { 'utm.source': 'mail' })).toBe('mail');
    expect(render('{{a.b.c}}', { a: { 'b.c': 'inner' } })).toBe('inner');
    expect(render('{{a.b.c}}', { a: { b: null }, 'a.b.c': 'outer' })).toBe('outer');
    expect(render('{{a.b}}', { a: { b: 'descended' }, 'a.b': 'whole' })).toBe('descended');
  });

  it('prints nothing for a path of more than 32 segments', () => {
    let nested: unknown = 'deep';
    for (let level = 0; level < 40; level += 1) nested = { a: nested };
    expect(render(`[{{${Array(41).fill('a').join('.')}}}]`, nested as Record<string, unknown>)).toBe('[]');
  });
});

describe('a placeholder with fallbacks', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['{{ name ?? "friend" }}', {}, 'friend'],
    ['{{ name ?? "friend" }}', { name: null }, 'friend'],
    ['{{ name ?? "friend" }}', { name: 'Ann' }, 'Ann'],
    ['{{ name ?? "friend" }}', { name: '' }, ''],
    ['{{ name ?? "friend" }}', { name: 0 }, '0'],
    ['{{ name ?? "friend" }}', { name: false }, 'false'],
    ["{{ name ?? 'friend' }}", {}, 'friend'],
    ['{{name??"friend"}}', {}, 'friend'],
    ['{{ a ?? b ?? "c" }}', { b: 'B' }, 'B'],
    ['{{ a ?? b ?? "c" }}', {}, 'c'],
    ['{{ a.x ?? b.y ?? 5 }}', {}, '5'],
    ['{{ a ?? 5.50 }}', {}, '5.50'],
    ['{{ a ?? -3 }}', {}, '-3'],
    ['{{ a ?? "what?? no" }}', {}, 'what?? no'],
    ['{{ a ?? "it\'s" }}', {}, "it's"],
    ['{{ a ?? "" }}', {}, ''],
    ['{{ a ?? }}', {}, ''],
    ['{{ a ?? ?? "c" }}', {}, 'c'],
    ['{{ "quoted" }}', {}, 'quoted'],
    ["{{ it's }}", { "it's": 'a key' }, 'a key'],
    ['{{ "a" b }}', { '"a" b': 'a key too' }, 'a key too'],
  ])('is printed: %s with %j as %j', (source, values, expected) => {
    expect(render(source, values)).toBe(expected);
  });
});

describe('braces that are not a placeholder', () => {
  it.each([
    'Hello {{name',
    '{{',
    'a }} b',
    '{{}}',
    '{{   }}',
    '{{{}}}',
    '{ {name} }',
    'a { b } c',
    '@media x { .a { color: red }}',
  ])('stay as they are: %s', (source) => {
    expect(render(source, { name: 'Ann' })).toBe(source);
  });

  it('do not swallow the next placeholder', () => {
    expect(render('Write {{ to begin. Hi {{name}}', { name: 'Ann' })).toBe('Write {{ to begin. Hi Ann');
  });

  it.each([
    ['{{{name}}', '{Ann'],
    ['{{name}}}', 'Ann}'],
    ['{{{{name}}}}', '{Ann}'],
    ['{"n":{{{name}}}}', '{"n":Ann}'],
  ])('stay around a placeholder: %s becomes %s', (source, expected) => {
    expect(render(source, { name: 'Ann' })).toBe(expected);
  });
});

describe('a template with blocks', () => {
  it.each<[unknown, boolean]>([
    [true, true],
    ['x', true],
    [1, true],
    [-1, true],
    [['x'], true],
    [{}, true],
    ['false', true],
    [false, false],
    ['', false],
    [0, false],
    [null, false],
    [undefined, false],
    [[], false],
  ])('takes %j as %j in #if and #unless', (value, expected) => {
    expect(render('{{#if value}}yes{{else}}no{{/if}}', { value })).toBe(expected ? 'yes' : 'no');
    expect(render('{{#unless value}}no{{else}}yes{{/unless}}', { value })).toBe(expected ? 'yes' : 'no');
  });

  it('prints nothing for a block without {{else}} whose condition is false', () => {
    expect(render('[{{#if a}}x{{/if}}{{#unless b}}y{{/unless}}]', { b: 1 })).toBe('[]');
  });

  it('loops over an array with this, this.name and @index', () => {
    const items = [{ name: 'Ann', tags: ['x', 'y'] }, { name: 'Bob' }];
    expect(render('{{#each items}}{{@index}}:{{this.name}} {{/each}}', { items })).toBe('0:Ann 1:Bob ');
    expect(render('{{#each items}}{{this}},{{/each}}', { items: ['a', 2, null, { b: 1 }] })).toBe('a,2,,,');
    expect(render('{{#each items}}{{this.tags.1 ?? "-"}}{{/each}}', { items })).toBe('y-');
  });

  it('loops over the values of an object with @key', () => {
    const source = '{{#each prices}}{{@index}} {{@key}}={{this}};{{/each}}';
    expect(render(source, { prices: { tea: 2, cake: 3 } })).toBe('0 tea=2;1 cake=3;');
  });

  it('reads outer values inside a loop, and its own item again after an inner loop', () => {
    const values = { sep: '|', rows: [{ name: 'r', cells: [1, 2] }] };
    const source =
      '{{#each rows}}{{#each this.cells}}{{this}}{{@index}}{{sep}}{{/each}}{{this.name}}{{@index}}{{/each}}';
    expect(render(source, values)).toBe('10|21|r0');
  });

  it.each([undefined, null, [], {}, '', 'text', 7, true])('prints {{else}} for an #each over %j', (items) => {
    expect(render('{{#each items}}x{{else}}none{{/each}}', { items })).toBe('none');
  });

  it('knows this and @index only inside a loop', () => {
    expect(render('{{this}}{{@index}}{{#each a}}{{else}}{{this}}{{/each}}', { this: 'key' })).toBe('keykey');
    expect(render('{{#each a}}{{#if this}}{{this}}{{/if}}{{#unless @index}}!{{/unless}}{{/each}}', { a: [0, 5] })).toBe(
      '!5',
    );
  });

  it('nests blocks, with white space in the tags', () => {
    const source = '{{ #if a }}{{# if b}}ab{{ else }}a{{/ if }}{{ else }}-{{ /if }}';
    expect(render(source, { a: 1, b: 1 })).toBe('ab');
    expect(render(source, { a: 1 })).toBe('a');
    expect(render(source)).toBe('-');
  });
});

describe('a template', () => {
  it.each([
    ['{{#if a}}', '{{#if}} is never closed', 1, 1],
    ['a\nbc {{#each a}}\n', '{{#each}} is never closed', 2, 4],
    ['{{#if a}}{{#each b}}{{/each}}', '{{#if}} is never closed', 1, 1],
    ['\r\n\n  {{/if}}', '{{/if}} does not close a block', 3, 3],
    ['{{#if a}}\n{{/each}}', '{{/each}} does not match {{#if}}', 2, 1],
    ['{{#if a}}{{#unless b}}{{/if}}{{/unless}}', '{{/if}} does not match {{#unless}}', 1, 23],
    ['x{{else}}', '{{else}} is outside of a block', 1, 2],
    ['{{#if a}}{{else}}{{else}}{{/if}}', '{{#if}} has two {{else}}', 1, 18],
    ['{{#with a}}{{/with}}', 'Unknown block "with"; the blocks are if, unless and each', 1, 1],
    ['{{#}}', 'Unknown block ""; the blocks are if, unless and each', 1, 1],
    ['{{/}}', 'Unknown block ""; the blocks are if, unless and each', 1, 1],
    ['{{#if}}{{/if}}', '{{#if}} needs a path, as in {{#if name}}', 1, 1],
    ['{{#if a}}{{else if b}}{{/if}}', '{{else if b}} is not supported; put a block of its own after {{else}}', 1, 10],
  ])('is refused with the place of its fault: %j, %s', (source, message, line, column) => {
    expect(faultOf(source)).toEqual({ message, line, column });
  });

  it('may nest blocks 20 deep, and not 21', () => {
    const nested = (depth: number): string => '{{#if a}}'.repeat(depth) + 'x' + '{{/if}}'.repeat(depth);
    expect(render(nested(20), { a: 1 })).toBe('x');
    expect(faultOf(nested(21)).message).toBe('Blocks are nested deeper than 20');
  });
});
