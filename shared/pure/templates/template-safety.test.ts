import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { render, scopeOf } from '../../../tests/support/templates.ts';
import { findForeignSyntax } from './foreign-syntax.ts';
import {
  compileTemplate,
  createRenderMeter,
  escapeHtml,
  sanitizeHeaderText,
  TemplateLimitError,
  TemplateSyntaxError,
  type TemplateMode,
} from './template-language.ts';

describe('a template that prints values', () => {
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

  it('does not escape the template itself, and escapes the ampersand of an escaped value again', () => {
    expect(render('&amp; <b> "', {}, 'html')).toBe('&amp; <b> "');
    expect(render('{{v}}', { v: '&lt;' }, 'html')).toBe('&amp;lt;');
  });

  it('escapes nothing in text mode', () => {
    expect(render('{{v}}{{{v}}}', { v: hostile })).toBe(hostile + hostile);
  });

  it('does not read a printed value as a template', () => {
    expect(render('{{v}}', { v: '{{w}}{{#if x}}', w: 'secret' }, 'html')).toBe('{{w}}{{#if x}}');
  });

  it('decodes the entities that visual editors write inside braces, in HTML only', () => {
    expect(render('{{&nbsp;name ?? &quot;a &amp; b&quot;&nbsp;}}', {}, 'html')).toBe('a &amp; b');
    expect(render('{{ a ?? &#39;x&#39; }}', {}, 'html')).toBe('x');
    expect(render('{{ a ?? &quot;x&quot; }}', { '&quot;x&quot;': 'as named' })).toBe('as named');
  });
});

describe('the template language', () => {
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
  ])('resolves %s to nothing, even where the data has such a key', (source) => {
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

  it('stops a long loop body after too many rounds, even when it prints nothing', () => {
    const source = `{{#each list}}${'{{missing}}'.repeat(1_000)}{{/each}}`;
    expect(() => render(source, { list: Array(5_000).fill(0) })).toThrow(TemplateLimitError);
    expect(render(source, { list: Array(200).fill(0) })).toBe('');
  });

  it('counts the cost of all parts of one email together', () => {
    const template = compileTemplate('{{#each list}}{{a.b.c}}{{/each}}', 'text');
    const scope = scopeOf({ list: Array(10_000).fill(0) });
    const meter = createRenderMeter();
    template.render(scope, meter);
    expect(() => {
      for (let part = 0; part < 10; part += 1) template.render(scope, meter);
    }).toThrow(TemplateLimitError);
    expect(template.render(scope)).toBe('');
  });

  it('accepts 20,000 tags and not one more', () => {
    expect(render('{{a ?? "x"}}'.repeat(20_000))).toHaveLength(20_000);
    expect(() => compileTemplate('{{a}}'.repeat(20_001), 'html')).toThrow(TemplateLimitError);
  });

  it('starts a rendering from zero after one that was stopped', () => {
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
  ])('compiles or refuses a megabyte of %s', (piece, times) => {
    try {
      render(piece.repeat(times) + '}}');
    } catch (error) {
      expect([TemplateSyntaxError, TemplateLimitError]).toContain((error as Error).constructor);
    }
  });

  it('accepts 50 names and texts in one tag and 5,000 characters, and not one more', () => {
    const spaces = (count: number) => ' '.repeat(count);
    expect(render(`{{${'a ?? '.repeat(49)}"z"}}`)).toBe('z');
    expect(() => render(`{{${'a ?? '.repeat(50)}"z"}}`)).toThrow(TemplateLimitError);
    expect(() => render(`{{${'??'.repeat(50)}"z"}}`)).toThrow(TemplateLimitError);
    expect(() => render(`{{#if ${'a ?? '.repeat(50)}"z"}}{{/if}}`)).toThrow(TemplateLimitError);
    expect(render(`{{a${spaces(4_998)}b}}`)).toBe('');
    expect(() => render(`{{a${spaces(4_999)}b}}`)).toThrow(TemplateLimitError);
    expect(() => render(`{{#each ${spaces(4_999)}b}}{{/each}}`)).toThrow(TemplateLimitError);
  });

  it('accepts 40,000 names and texts in all tags together, and not one more', () => {
    expect(render(`${'{{a ?? "x"}}'.repeat(19_999)}{{a ?? b}}`)).toHaveLength(19_999);
    expect(() => render(`${'{{a ?? "x"}}'.repeat(19_999)}{{a ?? b ?? c}}`)).toThrow(TemplateLimitError);
  });

  it('refuses a tag of megabytes in little CPU time', async () => {
    const cpuMs = await cpuMsOf(() => {
      for (const piece of ['a??', '??', '?? ', '"??', 'a.', '"', ' ', '&amp;']) {
        const source = `{{${piece.repeat(Math.floor(4_000_000 / piece.length))}x}}`;
        expect(() => compileTemplate(source, 'html')).toThrow(TemplateLimitError);
        expect(findForeignSyntax(source, 'html')).toBeUndefined();
      }
    });
    expect(cpuMs).toBeLessThan(1_000);
  });
});

describe('sanitizeHeaderText', () => {
  it('removes CR, LF, NUL and the Unicode line and paragraph separators', () => {
    expect(sanitizeHeaderText('a\r\nBcc: x@y\0\u2028b\u2029c')).toBe('aBcc: x@ybc');
    expect(sanitizeHeaderText('Grüße, 花 👋\tx')).toBe('Grüße, 花 👋\tx');
  });
});

describe('the template language, for any template and data,', () => {
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

  it('throws only a TemplateSyntaxError when compiling, and renders any template that compiles', () => {
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

  it('escapes every markup character of a value in HTML', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', 'a') })), (list) => {
        const html = render('{{#each list}}{{this}}{{/each}}{{list.0}}', { list }, 'html');
        expect(html).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/);
      }),
    );
  });

  it('prints the escaped output of text mode in HTML mode', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (value, other) => {
        const values = { a: value, b: other };
        const source = '{{a}}{{ missing ?? b }}{{#if a}}{{b}}{{/if}}';
        expect(render(source, values, 'html')).toBe(escapeHtml(render(source, values)));
      }),
    );
  });
});
