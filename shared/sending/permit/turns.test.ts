import { describe, expect, it } from '@jest/globals';
import { useFakeClock } from '../../../tests/support/fake-clock.ts';
import { ProviderTurns } from './turns.ts';

const clock = useFakeClock();
const { signal } = new AbortController();

describe('turns at a provider that takes fewer emails', () => {
  it('follow the speed, after the turns missed within the last two seconds', async () => {
    const turns = new ProviderTurns(400);
    const goes = async (): Promise<number> => {
      const answers: (number | undefined)[] = [];
      for (let n = 0; n < 40; n++) void turns.take('p', 'o', 10, signal).then((heldMs) => answers.push(heldMs));
      await clock.pass(300);
      return answers.filter((heldMs) => heldMs === undefined).length;
    };
    expect(await goes()).toBe(4);
    await clock.pass(700);
    expect(await goes()).toBe(10);
    await clock.pass(60_000);
    expect(await goes()).toBe(24);
  });

  it('are held one after the other, from two seconds to one minute', async () => {
    const turns = new ProviderTurns(40);
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => turns.take('p', 'o', 1, signal)));
    const held = answers.filter((heldMs) => heldMs !== undefined);
    expect(held.slice(0, 3)).toEqual([2_000, 3_000, 4_000]);
    expect(held.at(-1)).toBe(60_000);
    // The mail of others does not wait behind these.
    expect(await turns.take('p', 'other', 1, signal)).toBe(2_000);
  });

  it('occupy no more than a quarter of the places', async () => {
    const turns = new ProviderTurns(8);
    let gone = 0;
    for (let n = 0; n < 20; n++)
      void turns.take('p', 'o', 100, signal).then((heldMs) => (gone += heldMs === undefined ? 1 : 0));
    await clock.pass(1_000);
    expect(gone).toBe(3);
  });
});
