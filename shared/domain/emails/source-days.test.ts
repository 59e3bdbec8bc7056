import { beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../tests/support/database.ts';
import { query } from '../../../tests/support/rows.ts';
import { sql } from '../../database/sql.ts';
import { OTHER, PROVIDERS_MAX } from '../../sending/permit/email-counts.ts';
import { countEmails, listSourceDays, resultsOf } from './source-days.ts';

const { em } = useTestDatabase();
const TODAY = new Date().toISOString().slice(0, 10);

beforeEach(async () => {
  await query(em(), sql`delete from source_day`);
});

const count = (provider: string, offered: number, source = 'a') => ({ source, provider, answers: { offered } });
const resultOf = async (source: string, provider: string) =>
  (await resultsOf(em(), [{ source, provider, day: TODAY }]))[0];
const offeredOf = async (provider: string, source = 'a') => (await resultOf(source, provider))?.offered;

describe('the numbers of a source', () => {
  it('are added up, each by its name', async () => {
    const answers = { offered: 7, accepted: 4, deferredSpeed: 1, refusedMailbox: 2, deliveryMs: 12_345.6 };
    await countEmails(em(), { sent: [], answers: [{ source: 'a', provider: 'mail.test', answers }] });
    await countEmails(em(), { sent: [], answers: [count('mail.test', 1), count('mail.test', 2, 'b')] });
    expect(await resultOf('a', 'mail.test')).toMatchObject({
      ...answers,
      offered: 8,
      deliveryMs: 12_346,
    });
    expect(await offeredOf('mail.test', 'b')).toBe(2);
    expect(await resultOf('a', 'gone.test')).toMatchObject({ offered: 0, complaints: 0, deliveryMs: 0 });
    const days = await listSourceDays(em(), { from: TODAY, to: TODAY });
    expect(days.map(({ source, provider, day }) => [source, provider, day])).toEqual([
      ['a', 'mail.test', TODAY],
      ['b', 'mail.test', TODAY],
    ]);
  });

  it('have a row for a limited number of providers a day, whichever worker counts them', async () => {
    const answers = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => count(`p${String(from + n)}.test`, from + n === to - 1 ? 5 : 1));
    await countEmails(em(), { sent: [], answers: answers(0, PROVIDERS_MAX - 1) });
    await countEmails(em(), { sent: [], answers: [...answers(0, PROVIDERS_MAX - 1), ...answers(300, 340)] });
    await countEmails(em(), { sent: [], answers: [count('gmail.com', 3), count('late.test', 1), count('p0.test', 1)] });
    const days = await query(em(), sql`select from source_day`);
    // The providers with a row, gmail.com, and the row of the others.
    expect(days).toHaveLength(PROVIDERS_MAX + 2);
    expect([await offeredOf('p339.test'), await offeredOf('gmail.com'), await offeredOf('p0.test')]).toEqual([5, 3, 3]);
    expect(await offeredOf(OTHER)).toBe(39 + 1);
  });

  it('survive workers that count the same providers at the same time', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `p${n}.test`);
    const sentBy = (worker: number) => {
      const order = worker % 2 === 0 ? names : names.toReversed();
      return countEmails(em(), { sent: [], answers: order.map((name) => count(name, 1)) });
    };
    await Promise.all(Array.from({ length: 8 }, (_, worker) => sentBy(worker)));
    const days = await listSourceDays(em(), { from: TODAY, to: TODAY });
    expect(new Set(days.map(({ offered }) => offered))).toEqual(new Set([8]));
  });
});
