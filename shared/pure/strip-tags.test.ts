import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { stripTags } from './strip-tags.ts';

const MEGABYTE = 1024 * 1024;

describe('stripTags', () => {
  it.each([
    ['<p>a&amp;b <b>c</b></p><p>d</p>', 'a&b c\n\nd'],
    ['a<style>.x{}</style ><!-- <i>no</i> --><script>no()</script>b<title>no</title>', 'ab'],
    ['a < b <c', 'a < b <c'],
    ['a<!-- never closed <p>b', 'a<!-- never closed\nb'],
    ['<style>never closed<p>b</p>', 'never closed\nb'],
    ['a<br><br><br><br>b', 'a\n\nb'],
    ['  a  <br>  b  ', 'a\nb'],
    ['', ''],
  ])('converts %j', (html, text) => {
    expect(stripTags(html)).toBe(text);
  });

  it('splits neither a line nor an entity at the end of a piece', () => {
    for (const shift of [0, 1, 2, 3, 4, 5, 6]) {
      const start = 'x'.repeat(65_536 - shift);
      expect(stripTags(`${start}&quot;y`)).toBe(`${start}"y`);
      expect(stripTags(`${start}<p>y</p>`)).toBe(`${start}\ny`);
      expect(stripTags(`${start} \n z`)).toBe(`${start}\nz`);
    }
  });

  it.each(['<', '<p>a</p>', '<!--', '<!-- -->', '<style', '<a', '\n', ' ', '&amp;', '&', '<br>', 'word '])(
    'converts megabytes of %j in seconds of CPU time',
    async (piece) => {
      expect(await cpuMsOf(() => stripTags(piece.repeat((8 * MEGABYTE) / piece.length)))).toBeLessThan(5_000);
    },
  );
});
