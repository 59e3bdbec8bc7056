import { describe, expect, it } from '@jest/globals';
import { cpuMsOf } from '../../../tests/support/cpu-time.ts';
import { placeholderSteps, type Placeholder } from './placeholders.ts';
import { finish } from '../steps.ts';

const findPlaceholders = (template: string, max: number): Placeholder[] => finish(placeholderSteps(template, max));

const sourcesOf = (template: string) => findPlaceholders(template, 50).map(({ source }) => source);

describe('placeholderSteps', () => {
  it('finds a placeholder once for each set of conditions around it', () => {
    const template =
      '{{a}}{{#if x}}{{a}}{{b}}{{else}}{{a}}{{/if}}{{#if x}}{{b}}{{/if}}{{#unless x}}{{a}}{{/unless}}{{a}}';
    const found = findPlaceholders(template, 50);
    expect(found.map(({ source, conditions }) => [source, conditions.map(({ isNegated }) => isNegated)])).toEqual([
      ['a', []],
      ['a', [false]],
      ['b', [false]],
      ['a', [true]],
    ]);
  });

  it('leaves out placeholders with more paths than can be looked up', () => {
    const many = Array.from({ length: 50 }, (_, index) => `k${index}`).join(' ?? ');
    const nested = `${`{{#if ${many}}}`.repeat(7)}{{deep}}${'{{/if}}'.repeat(7)}`;
    expect(sourcesOf(`${nested}{{plain}}`)).toEqual(['plain']);
  });

  it('takes little CPU time for a large template, however deep its blocks are', async () => {
    const many = (level: number) => Array.from({ length: 50 }, (_, index) => `k${level}_${index}`).join('??');
    const blocks = Array.from({ length: 20 }, (_, level) => `{{#if ${many(level)}}}`).join('');
    const template = `${blocks}${'{{x}}{{y ?? z}}'.repeat(9_000)}${'{{/if}}'.repeat(20)}`;
    expect(await cpuMsOf(() => findPlaceholders(template, 50))).toBeLessThan(1_000);
  });
});
