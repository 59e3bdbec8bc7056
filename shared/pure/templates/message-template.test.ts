import { isStringOneByteRepresentation } from 'node:v8';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { scopeOf } from '../../../tests/support/templates.ts';
import { htmlToText } from '../../sending/compose/html-to-text.ts';
import { compileMessageSteps, type CompiledMessageTemplate, type RenderedMessage } from './message-template.ts';
import { TemplateLimitError, TemplateSyntaxError } from './template-language.ts';

function compileAtOnce(
  source: Parameters<typeof compileMessageSteps>[0],
  tools: { htmlToText: (html: string) => string },
): CompiledMessageTemplate {
  const steps = compileMessageSteps(source, tools);
  for (let step = steps.next(); ;) {
    if (step.done) return step.value;
    step = steps.next(step.value === 'pause' ? '' : tools.htmlToText(step.value.convert));
  }
}

function render(source: { subject?: string; html: string }, values: Record<string, unknown> = {}): RenderedMessage {
  return compileAtOnce({ subject: '', ...source }, { htmlToText }).render(scopeOf(values));
}

/** The text part. It must have the words of the converted HTML part. */
function textOf(html: string, values: Record<string, unknown> = {}): string {
  const message = render({ html }, values);
  expect(message.text.trim().split(/\s+/)).toEqual(htmlToText(message.html).trim().split(/\s+/));
  return message.text;
}

describe('the subject', () => {
  it('is plain text on one line', () => {
    const values = { name: 'Ann & "Bob"\r\nBcc: evil@example.com', x: '<b>\u2028\0' };
    expect(render({ subject: 'Hi {{name}}{{x}}\u2029!', html: '' }, values).subject).toBe(
      'Hi Ann & "Bob"Bcc: evil@example.com<b>!',
    );
  });

  it('is cut at 998 characters, never within a surrogate pair', () => {
    expect(render({ subject: '{{a}}', html: '' }, { a: 'x'.repeat(2_000) }).subject).toBe('x'.repeat(998));
    expect(render({ subject: '{{a}}', html: '' }, { a: `${'x'.repeat(997)}👋` }).subject).toBe('x'.repeat(997));
    expect(render({ subject: '{{a}}', html: '' }, { a: `${'x'.repeat(996)}👋y` }).subject).toBe(`${'x'.repeat(996)}👋`);
  });
});

describe('the text part', () => {
  it('has unescaped values and decoded entities', () => {
    expect(textOf('<p>Caf&eacute; &amp; {{name}} &lt;3</p>', { name: 'R&D' })).toBe('Café & R&D <3');
    expect(render({ html: '<p>{{v}}</p>' }, { v: '<b>x</b> & y' })).toEqual({
      subject: '',
      html: '<p>&lt;b&gt;x&lt;/b&gt; &amp; y</p>',
      text: '<b>x</b> & y',
    });
  });

  it('shows links with placeholders in the address, the text or both', () => {
    const values = { url: 'https://e.test/?a=1&b=2', name: 'Ann' };
    expect(textOf('<a href="{{url}}">Open, {{name}}</a>', values)).toBe('Open, Ann <https://e.test/?a=1&b=2>');
    expect(textOf('<a href="{{ url }}">{{url}}</a>', values)).toBe('https://e.test/?a=1&b=2');
    expect(textOf('<a href="https://e.test/{{#if vip}}vip{{else}}all{{/if}}?u={{name}}">x</a>', values)).toBe(
      'x <https://e.test/all?u=Ann>',
    );
    expect(textOf('<a href="{{ link ?? "https://e.test" }}">x</a>')).toBe('x <https://e.test>');
  });

  it('follows blocks around elements without leaving gaps', () => {
    const html = '<p>Hi</p>\n{{#if vip}}\n<p>Thanks</p>\n{{else}}\n<p>Join</p>\n{{/if}}\n<p>Bye</p>';
    expect(textOf(html, { vip: true })).toBe('Hi\n\nThanks\n\nBye');
    expect(textOf(html)).toBe('Hi\n\nJoin\n\nBye');
    expect(textOf('<p>Hi{{#if a}}, {{a}}{{/if}}!</p>', { a: 'Ann' })).toBe('Hi, Ann!');
  });

  it('follows loops over list items and table rows', () => {
    const items = [
      { name: 'Tea', price: 2 },
      { name: 'Cake', price: 3 },
    ];
    expect(textOf('<ul>{{#each items}}<li>{{this.name}}</li>{{/each}}</ul>', { items })).toBe(' * Tea\n * Cake');
    const table =
      '<p>Order</p><table>{{#each items}}<tr><td>{{this.name}}</td><td>{{this.price}}</td></tr>{{/each}}</table><p>Bye</p>';
    expect(textOf(table, { items })).toBe('Order\n\nTea 2\nCake 3\n\nBye');
  });

  it('follows blocks and loops inside quotes', () => {
    const html = '<blockquote>{{#if a}}<p>yes</p>{{/if}}<ul>{{#each l}}<li>{{this}}</li>{{/each}}</ul></blockquote>x';
    expect(textOf(html, { l: ['a', 'b'] })).toContain(' * a\n>  * b\n');
  });

  it('numbers the items of a list made by a loop', () => {
    const html = '<ol>{{#each items}}<li>{{this}}</li>{{/each}}</ol>';
    expect(textOf(html, { items: ['a', 'b'] })).toBe(' 1. a\n 2. b');
  });

  it('strips the markup of an unescaped value, and keeps plain text', () => {
    expect(textOf('<div>{{{raw}}}</div>', { raw: '<b>bold</b> &amp; <i>more</i>' })).toBe('bold & more');
    expect(textOf('<div>{{{raw}}}</div>', { raw: 'plain' })).toBe('plain');
  });

  it.each([
    ['half a block in a comment', '<p>a</p><!-- {{#if x}} --><p>{{x}}</p>{{/if}}<p>c</p>'],
    ['half a block in an attribute', '<p {{#if x}}class="x">a{{/if}}<b>c</b></p>'],
    ['half a block in a skipped element', '<style>{{#if x}}</style><p>{{x}}</p>{{/if}}'],
  ])('has the words of the HTML part even with %s', (_name, html) => {
    expect(textOf(html, { x: 'b' })).toContain(htmlToText(render({ html }, { x: 'b' }).html).trim());
    textOf(html);
  });

  it('leaves out placeholders in hidden preheaders, comments and styles', () => {
    const html =
      '<head><style>.a{color:{{color}}}</style></head><body><div style="display:none">{{pre}}</div>' +
      '<!-- {{note}} --><p>Hi</p><img src="{{src}}" alt="{{alt}}"></body>';
    expect(textOf(html, { color: 'red', pre: 'P', note: 'N', src: 'S', alt: 'A' })).toBe('Hi\n\nA');
  });

  it('takes no smuggled mark for a placeholder, neither as a character nor as an entity', () => {
    const html = '<p>{{a}} \uFDD00\uFDD2 &#xFDD0;7&#xFDD2; &#xFDD1;9&#xFDD2;</p>';
    expect(render({ html }, { a: 'x' }).text).toContain('x 0 ');
    expect(() => render({ html: '{{#if a}}x{{/if}}&#xFDD1;0&#xFDD2;' }, { a: 'x' })).not.toThrow();
  });

  it('takes one octet a character in memory, although the marks of its derivation are beyond Latin-1', () => {
    const { html, text } = render({ html: '<p>Hello {{name}},</p><p>this text is for {{name}}.</p>' }, { name: 'Ann' });
    expect(text).toContain('this text is for Ann.');
    expect([html, text].map(isStringOneByteRepresentation)).toEqual([true, true]);
  });

  it('keeps characters of all kinds', () => {
    const kinds = 'é ’ 👋 \ud83d {{x}} ü ’';
    expect(textOf(`<p>${kinds}</p>`, { x: '👋' })).toBe(kinds.replace('{{x}}', '👋'));
  });

  it('prints {{ that the author wrote as entities', () => {
    expect(render({ html: '<p>&#123;&#123;a}} {{a}}</p>' }, { a: 'x' }).text).toBe('{{a}} x');
  });
});

describe('compileMessageSteps', () => {
  it('names the part of a fault', () => {
    const compile = (subject: string, html: string) => () => compileAtOnce({ subject, html }, { htmlToText });
    expect(compile('{{#if a}}', '')).toThrow(expect.objectContaining({ part: 'subject', line: 1, column: 1 }));
    expect(compile('', '\n {{/if}}')).toThrow(expect.objectContaining({ part: 'html', line: 2, column: 2 }));
    expect(compile('', '{{/if}}')).toThrow(TemplateSyntaxError);
  });

  it('has the limits of the template language', () => {
    const list = Array(10_001).fill(1);
    expect(() => render({ html: '{{#each list}}x{{/each}}' }, { list })).toThrow(TemplateLimitError);
  });

  it('converts HTML once for any number of recipients', () => {
    let conversions = 0;
    const counting = (html: string): string => {
      conversions += 1;
      return htmlToText(html);
    };
    const template = compileAtOnce(
      { subject: '', html: '<p>{{a}}{{#if b}}b{{/if}}</p>{{{c}}}' },
      { htmlToText: counting },
    );
    for (let index = 0; index < 10; index += 1) template.render(scopeOf({ a: index, c: 'plain' }));
    expect(conversions).toBe(1);
  });

  it('compiles any HTML, however broken, or throws a TemplateSyntaxError', () => {
    const part = fc.constantFrom(
      '<p>',
      '</p>',
      '<b>',
      '</b>',
      '<br>',
      '<td>',
      '<ul><li>',
      '</ul>',
      ' x ',
      'y',
      '{{a}}',
      '{{ b }}',
      '{{#if a}}',
      '{{else}}',
      '{{/if}}',
      '<a href="{{a}}">',
      '</a>',
      '<!--',
      '-->',
      '<',
      '"',
      '&amp;',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 25 }), fc.boolean(), (parts, hasA) => {
        const values = hasA ? { a: 'A', b: 'B' } : { b: 'B' };
        let message;
        try {
          message = render({ html: parts.join('') }, values);
        } catch (error) {
          expect(error).toBeInstanceOf(TemplateSyntaxError);
          return;
        }
        expect(typeof message.text).toBe('string');
      }),
      { numRuns: 200 },
    );
  });

  it('derives a text with the words of the converted HTML part', () => {
    const { content } = fc.letrec<{ content: string; piece: string }>((tie) => ({
      content: fc.array(tie('piece'), { maxLength: 4 }).map((pieces) => pieces.join('')),
      piece: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(
          'x',
          ' y ',
          '\n',
          '<br>',
          '{{a}}',
          ' {{ none ?? b }} ',
          '{{{raw}}}',
          '<img src="i" alt="{{b}}">',
        ),
        fc
          .tuple(fc.constantFrom('p', 'div', 'b', 'h1', 'blockquote', 'pre', 'span', 'section'), tie('content'))
          .map(([tag, inner]) => `<${tag}>${inner}</${tag}>`),
        tie('content').map((inner) => `<a href="https://e.test/{{a}}">${inner}</a>`),
        tie('content').map((inner) => `<ul><li>${inner}</li>{{#each list}}<li>{{this}}</li>{{/each}}</ul>`),
        tie('content').map(
          (inner) => `<table>{{#each list}}<tr><td>{{this}}</td><td>${inner}</td></tr>{{/each}}</table>`,
        ),
        fc.tuple(tie('content'), tie('content')).map(([yes, no]) => `{{#if a}}${yes}{{else}}${no}{{/if}}`),
        fc.tuple(tie('content'), tie('content')).map(([no, yes]) => `{{#unless c}}${no}{{else}}${yes}{{/unless}}`),
      ),
    }));
    const values = fc.record({
      a: fc.constantFrom('', 'A', '<A> & B'),
      b: fc.constantFrom(null, 'B'),
      c: fc.boolean(),
      raw: fc.constantFrom('plain', '<i>r</i> &amp; s'),
      list: fc.constantFrom<unknown[]>([], ['one'], ['one', 2]),
    });
    // Two things are decided before values are known, so they may differ: the brackets of a link whose text is empty,
    // and the quote marks of an empty line.
    const words = (text: string): string => text.replace(/[\s<>]+/g, '');
    fc.assert(
      fc.property(content, values, (html, data) => {
        const message = render({ html }, data);
        expect(words(message.text)).toBe(words(htmlToText(message.html)));
      }),
      { numRuns: 200 },
    );
  });
});
