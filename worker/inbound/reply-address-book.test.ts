import { describe, expect, it } from '@jest/globals';
import { createReplyAddressBook } from './reply-address-book.ts';

const MINUTE_MS = 60_000;
const OWNED = { projectId: 'owner' };

function createBook(owners: Record<string, string> = {}) {
  let nowMs = 1;
  const asked: string[] = [];
  let atOnce = 0;
  let atOnceMax = 0;
  const book = createReplyAddressBook({
    now: () => nowMs,
    async find(address) {
      asked.push(address);
      atOnceMax = Math.max(atOnceMax, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      if (address === 'fault') throw new Error('away');
      return owners[address];
    },
  });
  const ownerOf = (address: string, mayAsk = true) => book.ownerOf(address, () => mayAsk);
  return { ownerOf, asked, atOnceMax: () => atOnceMax, owners, pass: (ms: number) => (nowMs += ms) };
}

describe('createReplyAddressBook', () => {
  it('queries an address once a minute, whether it is known or not', async () => {
    const book = createBook({ known: 'owner' });
    for (let i = 0; i < 3; i++) {
      expect(await Promise.all([book.ownerOf('known'), book.ownerOf('known')])).toEqual([OWNED, OWNED]);
      expect(await book.ownerOf('unknown')).toBe('unknown');
    }
    expect(book.asked).toEqual(['known', 'unknown']);
    book.owners['unknown'] = 'new owner';
    book.pass(MINUTE_MS + 1);
    expect(await book.ownerOf('unknown')).toEqual({ projectId: 'new owner' });
  });

  it('answers clients that may not guess only for addresses known to be in use', async () => {
    const book = createBook({ known: 'owner' });
    expect(await book.ownerOf('known', false)).toBe('later');
    await book.ownerOf('known');
    await book.ownerOf('unknown');
    expect(await book.ownerOf('known', false)).toEqual(OWNED);
    expect(await book.ownerOf('unknown', false)).toBe('later');
  });

  it('runs four queries at once at most, and forgets guesses before addresses in use', async () => {
    const book = createBook({ known: 'owner' });
    await book.ownerOf('known');
    await Promise.all(Array.from({ length: 5_100 }, (_, index) => book.ownerOf(`guess ${index}`)));
    expect(book.atOnceMax()).toBe(4);
    const before = book.asked.length;
    await book.ownerOf('known');
    await book.ownerOf('guess 5099');
    expect(book.asked.length).toBe(before);
    await book.ownerOf('guess 0');
    expect(book.asked.length).toBe(before + 1);
  });

  it('does not keep the failure of a query', async () => {
    const book = createBook();
    await expect(book.ownerOf('fault')).rejects.toThrow('away');
    await expect(book.ownerOf('fault')).rejects.toThrow('away');
    expect(book.asked).toEqual(['fault', 'fault']);
  });
});
