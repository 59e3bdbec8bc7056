import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contrastOf, inkOn, readableOn, TEXT_CONTRAST } from './brand-color.ts';

const color = fc.integer({ min: 0, max: 0xff_ff_ff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

describe('a brand colour', () => {
  it('has the contrast that WCAG computes', () => {
    expect(contrastOf('#000000', '#ffffff')).toBe(21);
    expect(contrastOf('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
    expect(contrastOf('#3b5bdb', '#3b5bdb')).toBe(1);
  });

  it('has an ink that can be read on it, whatever it is', () => {
    expect([inkOn('#ffd400'), inkOn('#0f766e')]).toEqual(['#000000', '#ffffff']);
    fc.assert(fc.property(color, (brand) => contrastOf(brand, inkOn(brand)) >= TEXT_CONTRAST));
  });

  it('stays as it is where it can be read on the ground, and otherwise becomes a shade that can', () => {
    expect(readableOn('#0f766e', '#ffffff')).toBe('#0f766e');
    expect(readableOn('#ffd400', '#ffffff')).not.toBe('#ffd400');
    fc.assert(
      fc.property(color, fc.constantFrom('#fbfbfc', '#15181d'), (brand, ground) => {
        const shade = readableOn(brand, ground);
        expect(shade).toMatch(/^#[\da-f]{6}$/);
        expect(contrastOf(shade, ground)).toBeGreaterThanOrEqual(TEXT_CONTRAST);
      }),
    );
  });
});
