import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { createTopic } from '../../shared/domain/topics/topics.ts';
import { startTestApi, type TestApi } from '../../tests/support/api.ts';
import { advanceAll, subjectsTo, subscribe } from '../../tests/support/opt-ins.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
let count = 0;
const freshEmail = () => `reader-${++count}@mail.test`;
beforeAll(async () => {
  app = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
});
afterAll(() => app.stop());

describe('the emails', () => {
  it('brings a mailbox three emails a day, in whatever project, topic, case and plus form it is written, and at once', async () => {
    const name = `flood-${++count}`;
    const addresses = [
      `${name}@mail.test`,
      `${name.toUpperCase()}@Mail.Test`,
      `${name}+one@mail.test`,
      `${name}+b+c@mail.test`,
    ];
    const owners = [await app.createProject(), await app.createProject(), app];
    const topic = { key: 'flood-topic', name: 'Flood', defaultSubscription: 'opt_out', visibility: 'public' } as const;
    await createTopic(app.em(), app.project.id, topic);
    const asked = owners.flatMap((owner) =>
      addresses.map((email) => subscribe(owner, { email, ...(owner === app && { topics: ['flood-topic'] }) })),
    );
    for (const { status } of await Promise.all(asked)) expect(status).toBe(202);
    await Promise.all(owners.map((owner) => advanceAll(app, owner.project.id)));
    const mails = await query(app.em(), sql`select 1 from email where to_address like ${`${name}%`}`);
    expect(mails).toHaveLength(3);
    const neighbour = `${name}x@mail.test`;
    await subscribe(app, { email: neighbour });
    await advanceAll(app, app.project.id);
    expect(await subjectsTo(app.em(), app.project.id, neighbour)).toHaveLength(1);
  });
});

describe('the answer', () => {
  it('takes as long for known and unknown addresses among many requests at once', async () => {
    const other = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
    /** By how much the median of known addresses is longer or shorter. */
    async function differenceOf(round: number): Promise<number> {
      const addresses = Array.from({ length: 120 }, (_, n) => ({
        email: `m${round}-${n}@mail.test`,
        isKnown: n % 2 === 0,
      }));
      for (const { email, isKnown } of addresses)
        if (isKnown) await other.api('POST', '/contacts', { body: { email } });
      const times = await Promise.all(
        addresses.map(async ({ email, isKnown }) => {
          const startedAt = performance.now();
          expect((await subscribe(other, { email })).status).toBe(202);
          return { isKnown, ms: performance.now() - startedAt };
        }),
      );
      const medianOf = (isKnown: boolean) => {
        const sorted = times
          .filter((each) => each.isKnown === isKnown)
          .map(({ ms }) => ms)
          .sort((a, b) => a - b);
        return sorted[sorted.length / 2] ?? Number.NaN;
      };
      return Math.abs(medianOf(true) - medianOf(false));
    }
    try {
      // Those that come together are answered together, so what is left is the noise of the machine. It differs.
      const differences: number[] = [];
      while (differences.length < 3 && Math.min(...differences) >= 100)
        differences.push(await differenceOf(differences.length));
      expect(Math.min(...differences)).toBeLessThan(100);
    } finally {
      await other.stop();
    }
  }, 60_000);

  it('takes as long for every address', async () => {
    const [unknown, known, pending, suppressed] = [freshEmail(), freshEmail(), freshEmail(), freshEmail()];
    await app.api('POST', '/contacts', { body: { email: known } });
    await subscribe(app, { email: pending });
    await app.api('POST', '/suppressions', { body: { emails: [suppressed] } });
    const timed = async (email: string) => {
      const startedAt = performance.now();
      const { status, body, headers } = await subscribe(app, { email });
      const names = [...headers.keys()].sort().join();
      return { ms: performance.now() - startedAt, answer: JSON.stringify([status, body, names]) };
    };
    const answers = [];
    for (const email of [unknown, known, pending, suppressed]) answers.push(await timed(email));
    expect(new Set(answers.map(({ answer }) => answer)).size).toBe(1);
    // Those of a quarter of a second are answered together, so none comes at once.
    for (const { ms } of answers) expect(ms).toBeGreaterThanOrEqual(245);
  });

  it('is 429 for a client with too many requests, whatever they say', async () => {
    const other = await startTestApi({ config: { API_RATE_LIMIT_PER_MINUTE: 1_000_000 } });
    try {
      const replies = await Promise.all(
        Array.from({ length: 310 }, (_, n) => subscribe(other, { email: `flood${n}@mail.test` })),
      );
      const refused = replies.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(9);
      expect(refused[0]?.body.error.code).toBe('RATE_LIMIT_EXCEEDED');
      expect(replies.filter(({ status }) => status === 202).length + refused.length).toBe(310);
    } finally {
      await other.stop();
    }
  }, 60_000);
});
