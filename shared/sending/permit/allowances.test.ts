import { expect, it } from '@jest/globals';
import type { Limits } from '../../pure/traffic-rules.ts';
import { Allowances } from './allowances.ts';
import { UsedRules } from './used-rules.ts';

const KEY = 'source gmail.com';

/** Owners whose mail asks for a rule of two emails a second. */
function createOwners(...owners: string[]) {
  let nowMs = 0;
  const allowances = new Allowances('worker', () => nowMs);
  const entry = allowances.entry(KEY, { perSecond: 2 });
  allowances.lent(new Map([[KEY, { atMs: 0, ms: 60_000, units: Infinity, perSecond: 2, connections: Infinity }]]), 0);
  const told: string[] = [];
  for (const owner of owners) allowances.watch(owner, (key) => told.push(`${owner}: ${key}`));
  return {
    told,
    /** @returns whether the owner has sent an email */
    send: (owner: string): boolean => {
      if (allowances.ask(entry, owner)) return false;
      const lent = allowances.take(entry, nowMs);
      allowances.done(entry, { begunMs: allowances.begun([entry], { takenMs: nowMs }, [lent]) });
      return true;
    },
    pass: (ms: number) => void (nowMs += ms),
  };
}

it('what is free goes to those whose mail waits, in turns', () => {
  const { send, pass, told } = createOwners('a', 'b', 'c');
  expect([send('a'), send('a'), send('b'), send('c'), send('a')]).toEqual([true, false, false, false, false]);
  pass(1_000);
  // It was the first that had to wait.
  expect([send('a'), told]).toEqual([true, []]);
  send('a');
  for (const next of ['b', 'c', 'a']) {
    pass(1_000);
    const other = next === 'a' ? 'b' : 'a';
    expect([send(other), told.splice(0), send(next)]).toEqual([false, [`${next}: ${KEY}`], true]);
  }
});

it('what one does not take in its turn goes to the others', () => {
  const { send, pass } = createOwners('a', 'b');
  expect([send('a'), send('b'), send('a')]).toEqual([true, false, false]);
  pass(1_000);
  expect(send('a')).toBe(false);
  pass(5);
  expect(send('a')).toBe(true);
});

it('a message that has waited for longer than others wait for it needs a new permit', () => {
  let nowMs = 0;
  const allowances = new Allowances('worker', () => nowMs);
  const send = (limits: Limits, most: number): UsedRules[] => {
    const entry = allowances.entry(`${KEY} ${JSON.stringify(limits)}`, limits);
    const lease = { atMs: 0, ms: 60_000, units: 100, perSecond: 2, connections: 100 };
    allowances.lent(new Map([[entry.key, lease]]), 0);
    const used: UsedRules[] = [];
    for (let n = 0; n < most && !allowances.ask(entry, 'a'); n++)
      used.push(new UsedRules(allowances, [entry], { provider: 'gmail.com', messagesPerConnection: 9 }, nowMs));
    return used;
  };
  const [first] = send({ perSecond: 2 }, 9);
  first?.begun();
  first?.done();
  nowMs = 500;
  const [second] = send({ perSecond: 2 }, 9);
  const others = send({ connections: 5, perHour: 9 }, 2);
  nowMs = 1_999;
  expect([second?.isStale, send({ perSecond: 2 }, 9)]).toEqual([false, []]);
  nowMs = 2_000;
  // If it began now as well, there could be three in a second.
  expect(send({ perSecond: 2 }, 9)).toHaveLength(1);
  expect([first, second, ...others].map((each) => each?.isStale)).toEqual([false, true, false, false]);
});

it('nothing is wanted for mail that is held, or whose attempt has ended', () => {
  let nowMs = 0;
  const allowances = new Allowances('worker', () => nowMs);
  const entry = allowances.entry(KEY, { perSecond: 10 });
  const wanted = (): number | undefined => allowances.takeRequests().get(KEY)?.wantsPerSecond;
  const end = allowances.watch('a', () => undefined);
  allowances.expect(entry, 5);
  expect(wanted()).toBeGreaterThanOrEqual(5);
  for (let n = 0; n < 5; n++) allowances.held(KEY);
  nowMs += 1_000;
  allowances.lent(new Map([[KEY, { atMs: 0, ms: 3_000, units: 0, perSecond: 0, connections: Infinity }]]), nowMs);
  allowances.ask(entry, 'a');
  end();
  nowMs += 1_000;
  allowances.expect(entry, 0);
  expect(wanted() ?? 0).toBe(0);
});
