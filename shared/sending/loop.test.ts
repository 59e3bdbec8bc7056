import { describe, expect, it } from '@jest/globals';
import { createSendingSlots } from './sending-slots.ts';
import { StalePermitError } from './transport/errors.ts';
import { ACCEPTED, mailTo, useFakeAttempts, type AttemptOptions } from '../../tests/support/fake-attempts.ts';

const { createTest, ended, pass } = useFakeAttempts();

describe('a traffic rule', () => {
  const SILENT = 'silent@slow.test';
  /** Lets an email to `mail.test` go every `everyMs`. */
  function rule(everyMs: number): AttemptOptions['permit'] {
    let freeMs = 0;
    return {
      ask: async ({ projectId, recipient }) => {
        const provider = recipient.split('@')[1] ?? '';
        const waitMs = freeMs - performance.now();
        if (provider !== 'mail.test') return { projectId, recipient, provider };
        const hold = () =>
          ({ level: 'provider', reason: 'traffic rule', words: null, until: '2026-01-01T00:00:00.000Z' }) as const;
        if (waitMs > 0) return { key: provider, waitMs, perSecond: 1_000 / everyMs, hold };
        freeMs = performance.now() + everyMs;
        return { projectId, recipient, provider };
      },
    };
  }
  /** One email to a silent host, then others. */
  const emails = (others: number) => [
    mailTo('silent', { envelope: { from: 'a@a.test', to: SILENT } }),
    ...Array.from({ length: others }, (_, n) => mailTo(`e${n}`)),
  ];
  const hosts = (test: ReturnType<typeof createTest>) => test.wire.map(({ to }) => to);

  it('goes on with what it keeps back while another email waits for a silent host', async () => {
    const test = createTest({ emails: emails(30), permit: rule(1_000) });
    const answerAll = async () => {
      for (const { to, end } of test.wire) if (to !== SILENT) await end(ACCEPTED);
    };
    for (let second = 0; second < 40; second += 1) {
      await answerAll();
      await pass(1_000);
    }
    expect(hosts(test)).toHaveLength(31);
    await test.wire[0]?.end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ sent: 31, putOff: 0 });
  });

  it('is asked again for a message that waited too long for its connection', async () => {
    const asked: string[] = [];
    const test = createTest({
      emails: [mailTo('e1')],
      permit: {
        ask: async ({ projectId, recipient }) => {
          asked.push(recipient);
          return { projectId, recipient, provider: 'mail.test' };
        },
      },
    });
    await pass();
    await test.wire[0]?.end(new StalePermitError());
    expect(test.log).toContain('abandoned mail.test');
    await test.wire[1]?.end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ sent: 1, putOff: 0 });
    expect(asked).toEqual(['e1@mail.test', 'e1@mail.test']);
  });

  it('keeps nothing in memory for longer than a minute', async () => {
    const test = createTest({ emails: emails(3), permit: rule(3_600_000) });
    await pass();
    await test.wire[1]?.end(ACCEPTED);
    await pass(1_000);
    expect(test.verdicts()).toMatchObject({ e1: 'held', e2: 'held' });
    await test.wire[0]?.end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ sent: 2, putOff: 2 });
  });

  it('keeps back no longer than for a moment once no email is on its way', async () => {
    const test = createTest({ emails: emails(9), permit: rule(30_000) });
    await pass(10_000);
    await test.wire[1]?.end(ACCEPTED);
    expect(test.verdicts()).not.toHaveProperty('e2');
    await test.wire[0]?.end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ sent: 2, putOff: 8 });
  });

  it('keeps as many in memory as go within a second, where a rule is fast', async () => {
    const test = createTest({ emails: emails(600), permit: rule(1) });
    await pass(100);
    expect(Object.values(test.verdicts()).filter((verdict) => verdict === 'held')).toHaveLength(0);
  });

  it('keeps the only page of a campaign at work for a minute, because a round would lose a second', async () => {
    const load = () => Array.from({ length: 40 }, (_, n) => mailTo(`e${n}`));
    const test = createTest({
      urgency: 'campaign',
      batches: [{ size: 40, load, isAll: true }],
      permit: rule(1_000),
    });
    for (let second = 0; second < 45; second += 1) {
      for (const { end } of test.wire) await end(ACCEPTED);
      await pass(1_000);
    }
    expect(await ended(test)).toMatchObject({ sent: 40, putOff: 0 });
  });

  it('lets all of a long batch go beside a silent host, each once, with few of them in memory', async () => {
    const ids = Array.from({ length: 400 }, (_, n) => `e${n}`);
    const heldUntilMs = new Map<string, number>();
    const sent: string[] = [];
    let [inMemory, most] = [0, 0];
    const isDue = (id: string) => !sent.includes(id) && (heldUntilMs.get(id) ?? 0) <= performance.now();
    /** Emails as a page has them: each is made when it is taken. */
    async function* load(isTaken: (id: string) => boolean = () => false) {
      const due = ['silent', ...ids].filter((id) => isDue(id) && !isTaken(id));
      yield (function* () {
        for (const id of due) {
          most = Math.max(most, (inMemory += 1));
          yield mailTo(id, id === 'silent' ? { envelope: { from: 'a@a.test', to: SILENT } } : {});
        }
      })();
    }
    let freeMs = 0;
    const test = createTest({
      urgency: 'campaign',
      batches: [{ size: 401, load: () => load(), again: load }],
      permit: {
        ask: async ({ projectId, recipient }) => {
          const nowMs = performance.now();
          const isFree = recipient === SILENT || nowMs >= freeMs;
          if (!isFree) {
            const until = new Date(Date.now() + 20_000).toISOString();
            const words = { level: 'provider', reason: 'traffic rule', words: null, until } as const;
            return { key: 'slow', waitMs: freeMs - nowMs, perSecond: 1, hold: () => words };
          }
          if (recipient !== SILENT) freeMs = nowMs + 100;
          return { projectId, recipient, provider: recipient.split('@')[1] ?? '' };
        },
      },
      record: async (results) => {
        inMemory -= results.length;
        for (const { emailId, verdict } of results) {
          if (verdict === 'sent') sent.push(emailId);
          else heldUntilMs.set(emailId, performance.now() + 20_000);
        }
        return { mayContinue: true };
      },
    });
    for (let ms = 0; ms < 60_000 && sent.length < ids.length; ms += 100) {
      await pass(100);
      for (const { to, end } of test.wire) if (to !== SILENT) await end(ACCEPTED);
    }
    expect(sent.toSorted()).toEqual(ids.toSorted());
    expect(hosts(test)).toHaveLength(401);
    // Those that wait for room, those of the lanes, and those whose results wait to be recorded.
    expect(most).toBeLessThanOrEqual(100 + 10 + 128);
    await test.wire[0]?.end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ sent: 401 });
  });

  it('lets those go first that came first, however often they had to wait', async () => {
    let [inFlight, free]: [number, (key: string) => void] = [0, () => undefined];
    const hold = () =>
      ({ level: 'provider', reason: 'warm-up', words: null, until: '2026-01-01T00:00:00.000Z' }) as const;
    const permit: AttemptOptions['permit'] = {
      watch: (_, onFree) => ((free = onFree), () => undefined),
      ask: async ({ projectId, recipient }) => {
        if (inFlight === 2) return { key: 'k', waitMs: 300, perSecond: 1, hold };
        inFlight += 1;
        return { projectId, recipient, provider: 'mail.test' };
      },
      settle: () => {
        inFlight -= 1;
        free('k');
        return {};
      },
    };
    const test = createTest({ emails: Array.from({ length: 40 }, (_, n) => mailTo(`e${n}`)), permit });
    await pass();
    for (let ends = 0; ends < 20; ends += 1) {
      await test.wire[ends]?.end(ACCEPTED);
      // Those that come back one after another find nothing free.
      if (ends % 3 === 0) await pass(1_000);
    }
    expect(hosts(test)).toEqual(Array.from({ length: 22 }, (_, n) => `e${n}@mail.test`));
    await test.stop();
  });
});

describe('an email that waits for a silent host', () => {
  it('leaves its place to another one, and takes no place when the host answers', async () => {
    const test = createTest({ emails: Array.from({ length: 6 }, (_, n) => mailTo(`e${n}`)), capacity: 2 });
    await pass();
    expect(test.wire).toHaveLength(2);
    await test.wire[0]?.silence();
    await test.wire[0]?.silence();
    expect(test.wire).toHaveLength(3);
    await test.wire[0]?.end(ACCEPTED);
    expect(test.wire).toHaveLength(3);
    for (let n = 1; n < 6; n += 1) await test.wire[n]?.end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ sent: 6 });
  });

  it('lends the slot of its attempt while the attempt waits for nothing else', async () => {
    const slots = createSendingSlots();
    const test = createTest({ emails: ['a', 'b'].map((id) => mailTo(id)), urgency: 'campaign', slots });
    await pass();
    for (let n = 0; n < 4; n += 1) expect(slots.campaign.take()).toBe(true);
    await test.wire[0]?.silence();
    expect(slots.campaign.take()).toBe(false);
    await test.wire[1]?.end(ACCEPTED);
    expect(slots.campaign.take()).toBe(true);
    await test.wire[0]?.end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ sent: 2 });
    slots.campaign.give();
    expect(slots.campaign.take()).toBe(false);
  });

  it('leaves the connections of its attempt to others', async () => {
    const emails = Array.from({ length: 4 }, (_, n) => mailTo(`e${n}`));
    const test = createTest({ emails, urgency: 'campaign', capacity: 4 });
    await pass();
    for (const { silence } of [...test.wire]) await silence();
    const second = test.attempt();
    await pass();
    expect(test.wire).toHaveLength(8);
    for (const { end } of test.wire) await end(ACCEPTED);
    expect([await ended(test), await second]).toMatchObject([{ sent: 4 }, { sent: 4 }]);
  });

  it('leaves it only while few of them wait in memory', async () => {
    const test = createTest({ emails: Array.from({ length: 300 }, (_, n) => mailTo(`e${n}`)), capacity: 1 });
    await pass();
    for (let n = 0; n < test.wire.length; n += 1) await test.wire[n]?.silence();
    expect(test.wire).toHaveLength(101);
    for (let n = 0; n < 300; n += 1) await test.wire[n]?.end(ACCEPTED);
    expect(await ended(test)).toMatchObject({ sent: 300 });
  });
});
