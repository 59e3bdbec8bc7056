import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  compileTemplate,
  escapeHtml,
  sanitizeHeaderText,
  createRenderMeter,
  TemplateLimitError,
  TemplateSyntaxError,
  type RenderScope,
  type TemplateMode,
} from './template-language.ts';

function scopeOf(values: Record<string, unknown>): RenderScope {
  return { get: (name) => (Object.hasOwn(values, name) ? values[name] : undefined) };
}

function render(source: string, values: Record<string, unknown> = {}, mode: TemplateMode = 'text'): string {
  return compileTemplate(source, mode).render(scopeOf(values));
}

function faultOf(source: string): { message: string; line: number; column: number } {
  try {
    compileTemplate(source, 'html');
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return { message: error.message, line: error.line, column: error.column };
    throw error;
  }
  throw new Error(`compiled without a fault: ${source}`);
}

describe('placeholders', () => {
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
  ])('%s reads its value', (source, values, expected) => {
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
    '%s prints nothing when there is no such value',
    (source) => {
      expect(render(`[${source}]`, { a: {}, text: 'abc', items: ['x'] })).toBe('[]');
    },
  );

  it('finds a key that holds dots itself when descending finds nothing', () => {
    expect(render('{{utm.source}}', { 'utm.source': 'mail' })).toBe('mail');
    expect(render('{{a.b.c}}', { a: { 'b.c': 'inner' } })).toBe('inner');
    expect(render('{{a.b.c}}', { a: { b: null }, 'a.b.c': 'outer' })).toBe('outer');
    expect(render('{{a.b}}', { a: { b: 'descended' }, 'a.b': 'whole' })).toBe('descended');
  });

  it('gives up on a path of more than 32 segments', () => {
    let nested: unknown = 'deep';
    for (let level = 0; level < 40; level += 1) nested = { a: nested };
    expect(render(`[{{${Array(41).fill('a').join('.')}}}]`, nested as Record<string, unknown>)).toBe('[]');
  });
});

describe('fallbacks', () => {
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
  ])('%s with %j prints %j', (source, values, expected) => {
    expect(render(source, values)).toBe(expected);
  });
});

describe('braces that are no placeholder', () => {
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
  ])('%s stays as it is', (source) => {
    expect(render(source, { name: 'Ann' })).toBe(source);
  });

  it('does not let a stray opening swallow the next placeholder', () => {
    expect(render('Write {{ to begin. Hi {{name}}', { name: 'Ann' })).toBe('Write {{ to begin. Hi Ann');
  });

  it.each([
    ['{{{name}}', '{Ann'],
    ['{{name}}}', 'Ann}'],
    ['{{{{name}}}}', '{Ann}'],
    ['{"n":{{{name}}}}', '{"n":Ann}'],
  ])('%s becomes %s', (source, expected) => {
    expect(render(source, { name: 'Ann' })).toBe(expected);
  });
});

describe('blocks', () => {
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
  ])('#if and #unless take %j for %j', (value, expected) => {
    expect(render('{{#if value}}yes{{else}}no{{/if}}', { value })).toBe(expected ? 'yes' : 'no');
    expect(render('{{#unless value}}no{{else}}yes{{/unless}}', { value })).toBe(expected ? 'yes' : 'no');
  });

  it('prints nothing for a block without {{else}} that does not apply', () => {
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

  it('still reaches outer values inside a loop, and the own item first again after an inner loop', () => {
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

  it('takes blocks inside blocks, with white space in the tags', () => {
    const source = '{{ #if a }}{{# if b}}ab{{ else }}a{{/ if }}{{ else }}-{{ /if }}';
    expect(render(source, { a: 1, b: 1 })).toBe('ab');
    expect(render(source, { a: 1 })).toBe('a');
    expect(render(source)).toBe('-');
  });
});

describe('faults of a template', () => {
  it.each([
    ['{{#if a}}', '{{#if}} is never closed', 1, 1],
    ['a\nbc {{#each a}}\n', '{{#each}} is never closed', 2, 4],
    ['{{#if a}}{{#each b}}{{/each}}', '{{#if}} is never closed', 1, 1],
    ['\r\n\n  {{/if}}', '{{/if}} closes no block', 3, 3],
    ['{{#if a}}\n{{/each}}', '{{/each}} does not match {{#if}}', 2, 1],
    ['{{#if a}}{{#unless b}}{{/if}}{{/unless}}', '{{/if}} does not match {{#unless}}', 1, 23],
    ['x{{else}}', '{{else}} stands outside a block', 1, 2],
    ['{{#if a}}{{else}}{{else}}{{/if}}', '{{#if}} has two {{else}}', 1, 18],
    ['{{#with a}}{{/with}}', 'Unknown block "with"; there are if, unless and each', 1, 1],
    ['{{#}}', 'Unknown block ""; there are if, unless and each', 1, 1],
    ['{{/}}', 'Unknown block ""; there are if, unless and each', 1, 1],
    ['{{#if}}{{/if}}', '{{#if}} needs a path, as in {{#if name}}', 1, 1],
    ['{{#if a}}{{else if b}}{{/if}}', '{{else if b}} is not supported; put a block of its own after {{else}}', 1, 10],
  ])('%j: %s', (source, message, line, column) => {
    expect(faultOf(source)).toEqual({ message, line, column });
  });

  it('refuses blocks nested deeper than 20, and takes 20', () => {
    const nested = (depth: number): string => '{{#if a}}'.repeat(depth) + 'x' + '{{/if}}'.repeat(depth);
    expect(render(nested(20), { a: 1 })).toBe('x');
    expect(faultOf(nested(21)).message).toBe('Blocks are nested deeper than 20');
  });
});

describe('escaping', () => {
  const hostile = `<script>alert("1" + '2')</script> & more`;
  const escaped = '&lt;script&gt;alert(&quot;1&quot; + &#39;2&#39;)&lt;/script&gt; &amp; more';

  it('escapes values in HTML text and in attributes', () => {
    expect(render('<p title="{{v}}">{{v}}</p>', { v: hostile }, 'html')).toBe(`<p title="${escaped}">${escaped}</p>`);
    expect(render("<a href='{{v}}'>", { v: "' onclick='x" }, 'html')).toBe("<a href='&#39; onclick=&#39;x'>");
    expect(render('{{#each l}}{{this}}{{/each}}', { l: ['<'] }, 'html')).toBe('&lt;');
  });

  it('escapes fallback texts too', () => {
    expect(render('{{ v ?? "R & D" }}', {}, 'html')).toBe('R &amp; D');
  });

  it('prints {{{ }}} unescaped', () => {
    expect(render('{{{v}}}{{{ w ?? "<hr>" }}}', { v: '<b>x</b>' }, 'html')).toBe('<b>x</b><hr>');
  });

  it('leaves the template itself and values already escaped alone, but for their ampersand', () => {
    expect(render('&amp; <b> "', {}, 'html')).toBe('&amp; <b> "');
    expect(render('{{v}}', { v: '&lt;' }, 'html')).toBe('&amp;lt;');
  });

  it('escapes nothing in a text template', () => {
    expect(render('{{v}}{{{v}}}', { v: hostile })).toBe(hostile + hostile);
  });

  it('does not read the output of a value as template', () => {
    expect(render('{{v}}', { v: '{{w}}{{#if x}}', w: 'secret' }, 'html')).toBe('{{w}}{{#if x}}');
  });

  it('undoes the entities that visual editors write inside braces, in HTML only', () => {
    expect(render('{{&nbsp;name ?? &quot;a &amp; b&quot;&nbsp;}}', {}, 'html')).toBe('a &amp; b');
    expect(render('{{ a ?? &#39;x&#39; }}', {}, 'html')).toBe('x');
    expect(render('{{ a ?? &quot;x&quot; }}', { '&quot;x&quot;': 'as named' })).toBe('as named');
  });
});

describe('hostile data', () => {
  it.each([
    '{{constructor}}',
    '{{__proto__}}',
    '{{prototype}}',
    '{{a.constructor}}',
    '{{a.constructor.name}}',
    '{{a.__proto__}}',
    '{{a.__proto__.polluted}}',
    '{{a.b.prototype}}',
    '{{toString}}',
    '{{a.toString}}',
    '{{a.hasOwnProperty}}',
    '{{#each list}}{{this.__proto__}}{{this.constructor.name}}{{/each}}',
    '{{#each a}}{{#if @key}}{{this}}{{/if}}{{/each}}',
    '{{#each __proto__}}x{{/each}}',
  ])('%s never resolves, even where the data owns such a key', (source) => {
    const values = JSON.parse(
      '{"__proto__":"p","constructor":"c","prototype":"q","list":[{"__proto__":"p","constructor":{"name":"n"}}],' +
        '"a":{"__proto__":"p","constructor":"c","b":{"prototype":"q"}},"a.constructor":"dotted"}',
    ) as Record<string, unknown>;
    expect(render(`[${source}]`, values)).toBe('[]');
  });

  it('stops an output of more than 2,000,000 characters', () => {
    const values = { big: 'x'.repeat(300_000), list: Array(10).fill(0) };
    expect(() => render('{{#each list}}{{big}}{{/each}}', values)).toThrow(TemplateLimitError);
    expect(render('{{#each list}}{{/each}}{{big}}', values)).toHaveLength(300_000);
  });

  it('stops after 10,000 rounds of all loops together', () => {
    const list = Array(100).fill(0);
    expect(render('{{#each list}}{{#each list}}{{/each}}{{/each}}', { list: list.slice(0, 99) })).toBe('');
    expect(() => render('{{#each list}}{{#each list}}{{/each}}{{/each}}', { list })).toThrow(TemplateLimitError);
    expect(() => render('{{#each list}}x{{/each}}', { list: Array(10_001).fill(0) })).toThrow(TemplateLimitError);
  });

  it('stops a long body that is run too many times, even when it prints nothing', () => {
    const source = `{{#each list}}${'{{missing}}'.repeat(1_000)}{{/each}}`;
    expect(() => render(source, { list: Array(5_000).fill(0) })).toThrow(TemplateLimitError);
    expect(render(source, { list: Array(200).fill(0) })).toBe('');
  });

  it('counts what all parts of one email cost together', () => {
    const template = compileTemplate('{{#each list}}{{a.b.c}}{{/each}}', 'text');
    const scope = scopeOf({ list: Array(10_000).fill(0) });
    const meter = createRenderMeter();
    template.render(scope, meter);
    expect(() => {
      for (let part = 0; part < 10; part += 1) template.render(scope, meter);
    }).toThrow(TemplateLimitError);
    expect(template.render(scope)).toBe('');
  });

  it('takes 20,000 tags and not one more', () => {
    expect(render('{{a ?? "x"}}'.repeat(20_000))).toHaveLength(20_000);
    expect(() => compileTemplate('{{a}}'.repeat(20_001), 'html')).toThrow(TemplateLimitError);
  });

  it('starts every rendering anew after one that was stopped', () => {
    const template = compileTemplate('{{#each list}}{{this}}{{/each}}', 'text');
    expect(() => template.render(scopeOf({ list: Array(10_001).fill('x') }))).toThrow(TemplateLimitError);
    expect(template.render(scopeOf({ list: ['a', 'b'] }))).toBe('ab');
  });

  it.each([
    ['{{', 500_000],
    ['}}', 500_000],
    ['{{{', 333_333],
    ['{{}}', 250_000],
    ['{{a', 333_333],
    ['{{#if a}}', 110_000],
    ['{{/if}}', 140_000],
    ['{{#if a}}x{{/if}}', 60_000],
    ['{{ a ?? "', 110_000],
  ])('takes a megabyte of %s in time', (piece, times) => {
    try {
      render(piece.repeat(times) + '}}');
    } catch (error) {
      expect([TemplateSyntaxError, TemplateLimitError]).toContain((error as Error).constructor);
    }
  });

  it('takes one placeholder of a megabyte in time', () => {
    expect(render(`{{${'a.'.repeat(500_000)}}}`)).toBe('');
    expect(render(`{{${'a ?? '.repeat(99_999)} "z"}}`)).toBe('z');
    expect(() => render(`{{${'a ?? '.repeat(100_000)} "z"}}`)).toThrow(TemplateLimitError);
    expect(render(`{{a${' '.repeat(1_000_000)}b}}`)).toBe('');
  });
});

describe('sanitizeHeaderText', () => {
  it('takes out CR, LF, NUL and the Unicode line and paragraph separators', () => {
    expect(sanitizeHeaderText('a\r\nBcc: x@y\0\u2028b\u2029c')).toBe('aBcc: x@ybc');
    expect(sanitizeHeaderText('Grüße, 花 👋\tx')).toBe('Grüße, 花 👋\tx');
  });
});

describe('properties', () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '{{{',
    '}}}',
    '#if a',
    '/if',
    '#each b',
    '/each',
    'else',
    ' a ',
    '??',
    '"x"',
    '<',
    '&',
    '.',
    '\n',
  );
  const soup = fc.array(fc.oneof(piece, fc.string({ maxLength: 5 })), { maxLength: 30 }).map((parts) => parts.join(''));
  const data = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'x'), fc.jsonValue({ maxDepth: 2 }), {
    noNullPrototype: true,
  });

  it('prints a template without {{ as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom<TemplateMode>('html', 'text'), (text, mode) => {
        const source = text.replaceAll('{', '(');
        expect(render(source, {}, mode)).toBe(source);
      }),
    );
  });

  it('never fails to compile but with a TemplateSyntaxError, and renders whatever compiles', () => {
    fc.assert(
      fc.property(soup, data, (source, values) => {
        let template;
        try {
          template = compileTemplate(source, 'html');
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateSyntaxError);
          return;
        }
        expect(typeof template.render(scopeOf(values))).toBe('string');
      }),
      { numRuns: 500 },
    );
  });

  it('lets no markup character of a value into HTML', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', 'a') })), (list) => {
        const html = render('{{#each list}}{{this}}{{/each}}{{list.0}}', { list }, 'html');
        expect(html).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/);
      }),
    );
  });

  it('prints in HTML what it prints in text, escaped', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (value, other) => {
        const values = { a: value, b: other };
        const source = '{{a}}{{ missing ?? b }}{{#if a}}{{b}}{{/if}}';
        expect(render(source, values, 'html')).toBe(escapeHtml(render(source, values)));
      }),
    );
  });
});
