import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { htmlToText } from './html-to-text.ts';

describe('htmlToText', () => {
  it.each([
    ['paragraphs and line breaks', '<p>a<br>b</p><p>c</p>', 'a\nb\n\nc'],
    ['headings in their own case', '<h1>Hello Ann</h1><h3>more</h3>x', 'Hello Ann\n\nmore\n\nx'],
    ['links', '<a href="https://e.test/?a=1&amp;b=2">Open</a>', 'Open <https://e.test/?a=1&b=2>'],
    ['links whose text is their address', '<a href="https://e.test">https://e.test</a>', 'https://e.test'],
    ['mail links', '<a href="mailto:a@e.test">a@e.test</a>', 'a@e.test'],
    ['links within the page', '<a href="#top">Top</a>', 'Top'],
    ['links inside links', '<a href="u">a <a href="v">b</a></a>', 'a b <u>'],
    ['pictures', 'x <img src="a.png" alt="Logo"> <img src="b.png"> <img alt=""> y', 'x Logo y'],
    ['linked pictures', '<a href="u"><img src="a.png" alt="Logo"></a>', 'Logo <u>'],
    ['lists', '<ul><li>a</li><li>b</li></ul><ol start="3"><li>c</li></ol>', ' * a\n * b\n\n 3. c'],
    ['list numbers out of all proportion', '<ol type="I" start="1e21"><li>a</li></ol>', ' I. a'],
    ['Roman numerals the library cannot write', '<ol type="I" start="3999"><li>a</li></ol>', ' 3999. a'],
    ['tables', '<table><tr><th>Tea</th><td>2</td></tr><tr><td>Cake</td><td>3</td></tr></table>', 'Tea 2\nCake 3'],
    [
      'layout tables',
      '<table><tr><td><table><tr><td>a</td></tr><tr><td>b</td></tr></table></td></tr></table>c',
      'a\nb\n\nc',
    ],
    ['entities', '&lt;b&gt; &amp;amp; &eacute;&nbsp;&#8364;', '<b> &amp; é €'],
    ['styles, scripts, titles', '<title>t</title><style>a{}</style><script>x()</script>y', 'y'],
    ['comments', 'a<!-- b --><!--[if mso]>c<![endif]-->d', 'ad'],
    ['hidden preheaders', '<div style="color:red; display:none;">pre</div><p hidden>h</p>x', 'x'],
    ['long lines', 'word '.repeat(100), 'word '.repeat(100).trim()],
    ['only the body', '<html><head><title>t</title></head><body>b</body></html>', 'b'],
  ])('converts %s', (_name, html, expected) => {
    expect(htmlToText(html)).toBe(expected);
  });

  it.each([
    '<',
    '</',
    '<p',
    '<a href="',
    '<!--',
    '<p>a<div>b</p>c',
    '</p>x',
    '<p <p>',
    '\0<x:y z>',
    '&#x;&;&#99999999;',
  ])('does not fail on %j', (html) => {
    expect(typeof htmlToText(html)).toBe('string');
  });

  it.each([
    ['<div>a', 166_000],
    ['<b>', 333_333],
    ['<b></i>', 140_000],
    ['<ul><li>a<br>', 75_000],
    ['<blockquote>a<br>', 60_000],
    ['<table><tr><td>', 66_000],
    ['<a href=x>a ', 83_000],
    ['<', 1_000_000],
    ['<!--', 250_000],
    ['<style>', 142_000],
    ['<a "', 250_000],
    ['&', 1_000_000],
    [' ', 1_000_000],
    ['<p>', 19_000],
    ['<blockquote>a<br>', 19_000],
  ])('converts a megabyte of %s in seconds of CPU time', async (piece, times) => {
    const html = piece.repeat(times);
    expect(await cpuMsOf(() => htmlToText(html))).toBeLessThan(5_000);
  });

  it('keeps the words of a document too large to lay out', () => {
    const rows = '<p>a&amp;b <b>c</b></p>'.repeat(15_000);
    const text = htmlToText(`<style>.x{}</style><!-- <i>no</i> -->${rows}`);
    expect(text.startsWith('a&b c\n\na&b c')).toBe(true);
    expect(text).not.toMatch(/[<>{}]|no/);
  });

  it('keeps the words of a document too deep to lay out', () => {
    expect(htmlToText(`${'<font>'.repeat(500)}Hello <b>Ann</b>${'</font>'.repeat(500)}<p>Bye</p>`)).toBe(
      'Hello Ann\nBye',
    );
  });

  it('accepts any input', () => {
    const part = fc.constantFrom(
      '<',
      '>',
      '/',
      '!--',
      '--',
      '"',
      "'",
      '=',
      'a',
      'li',
      'ol',
      'table',
      'td',
      ' ',
      'href',
      '&',
      ';',
      '#',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ maxLength: 3 })), { maxLength: 60 }), (parts) => {
        expect(typeof htmlToText(parts.join(''))).toBe('string');
      }),
    );
  });
});
