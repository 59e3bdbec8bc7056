import { describe, expect, it } from '@jest/globals';
import type { AnswerNumber } from '../../pure/deliverability.ts';
import { shapingFileSchema, type ProjectRule } from '../../pure/traffic-rules.ts';
import type { Hold } from '../../pure/emails/hold.ts';
import { Shaping } from './shaping.ts';

const P = 'project';
const SOURCE = { name: 's', kind: 'relay', pool: 'default' } as const;

function createShaping(
  file: object,
  rules: ProjectRule[] | null = null,
  mx: Record<string, string> = {},
  now = () => 0,
) {
  const shaping = new Shaping({
    file: shapingFileSchema.parse({ defaults: 'none', ...file }),
    relays: [{ label: 's:25', source: SOURCE }],
    resolver: {
      mx: async (domain) =>
        mx[domain] === undefined
          ? { kind: 'absent', isNameUnknown: false }
          : { kind: 'found', records: [{ exchange: mx[domain], priority: 10 }] },
    },
    workerId: 'w',
    now,
  });
  shaping.learn(P, { pools: null, rules }, 0);
  /** What the rules need of an email: the keys of its allowances, and their limits. */
  const needs = async (recipient: string) => {
    await shaping.expect(P, 'transactional', [recipient]);
    return [...shaping.allowances.takeRequests()].map(([key, { limits }]) => [key, limits]);
  };
  return { shaping, needs };
}

describe('the rules of a project', () => {
  const rules: ProjectRule[] = [
    { provider: '*', perDay: 100, perHour: 50 },
    { provider: 'gmail.com', perHour: 20 },
    { provider: 'acme.test', perSecond: 1, perDay: null },
  ];
  const mx = { 'acme.test': 'aspmx.l.google.com', 'beta.test': 'aspmx.l.google.com' };

  it('give each limit by the most specific one that has it, in whatever order they are', async () => {
    for (const ordered of [rules, rules.toReversed()]) {
      const wanted = (recipient: string) => createShaping({}, ordered, mx).needs(recipient);
      expect(await wanted('a@other.test')).toEqual([['project:project other.test', { perDay: 100, perHour: 50 }]]);
      expect(await wanted('a@beta.test')).toEqual([['project:project gmail.com', { perDay: 100, perHour: 20 }]]);
      expect(await wanted('a@acme.test')).toEqual([['project:project acme.test', { perSecond: 1, perHour: 20 }]]);
    }
  });

  it('say nothing of mail without a limit', async () => {
    expect(await createShaping({}, [{ provider: 'x.test', perDay: null }]).needs('a@x.test')).toEqual([]);
  });
});

it('an email that was refused for the reputation of a source goes over another one, if there is one', () => {
  const shaping = new Shaping({
    file: shapingFileSchema.parse({ defaults: 'none', rules: [{ provider: '*', messagesPerConnection: 5 }] }),
    relays: ['a', 'b'].map((name) => ({ label: `${name}:25`, source: { ...SOURCE, name } })),
    resolver: { mx: async () => ({ kind: 'absent', isNameUnknown: false }) },
    workerId: 'w',
    now: () => 0,
  });
  /** The relays of four tries of an email that sources have put off. */
  const relaysOf = (as: AnswerNumber, ...sources: string[]) => {
    const bySource = Object.fromEntries(sources.map((name) => [name, { day: '2026-01-01', as: [as] }]));
    const about = { projectId: P, owner: P, domain: 'x.test', email: { answered: { firstMs: 0, bySource } } };
    const { free } = shaping.candidates(['a:25', 'b:25'], 'x.test', about);
    const tries = [1, 2, 3, 4].map(() => shaping.choose(free, 'x.test')?.relays[0]);
    return tries.toSorted();
  };
  const both = ['a:25', 'a:25', 'b:25', 'b:25'];
  expect(relaysOf('deferredReputation', 'a')).toEqual(['b:25', 'b:25', 'b:25', 'b:25']);
  expect(relaysOf('deferredReputation', 'a', 'b')).toEqual(both);
  expect(relaysOf('deferredOther', 'a')).toEqual(both);
});

describe('an internationalised domain', () => {
  it.each(['münchen.test', 'MÜNCHEN.test', 'xn--mnchen-3ya.test'])(
    'is the same in a rule for %s and in each address',
    async (provider) => {
      const { needs } = createShaping({ rules: [{ provider, perDay: 5 }] }, [{ provider, perHour: 2 }]);
      const keys = [
        ['project:project xn--mnchen-3ya.test', { perHour: 2 }],
        ['s xn--mnchen-3ya.test', { perDay: 5 }],
      ];
      expect(await needs('a@München.test')).toEqual(keys);
    },
  );

  it('may have marks beside its letters', async () => {
    const { needs } = createShaping({ rules: [{ provider: 'उदाहरण.भारत', perDay: 5 }] });
    expect(await needs('a@xn--p1b6ci4b4b3a.xn--h2brj9c')).toEqual([['s xn--p1b6ci4b4b3a.xn--h2brj9c', { perDay: 5 }]]);
  });

  it('may not have two rules', () => {
    const rules = ['münchen.test', 'xn--mnchen-3ya.test'].map((provider) => ({ provider, perDay: 1 }));
    expect(() => createShaping({ rules })).toThrow('xn--mnchen-3ya.test a second time');
  });
});

const held = (emailId: string, owner = P) => ({ emailId, owner, stream: 'marketing' as const });

describe('a hold', () => {
  it.each([
    [{ perSecond: 1 }, { perSecond: 1 }, 0],
    [{ perDay: 5 }, { perDay: 6 }, 3_600_000],
  ])('leaves no gap when all mail returns before its time, held by %j and then by %j', (before, after, longMs) => {
    let nowMs = 0;
    const { shaping } = createShaping({}, [{ provider: 'x.test', ...before }], {}, () => nowMs);
    /** Holds all emails. @returns when they return, in milliseconds from now */
    const holdAll = (waitMs: number): number[] => {
      const { shortage } = shaping.candidates(['s:25'], 'x.test', { projectId: P, owner: P, domain: 'x.test' });
      const startMs = Date.now();
      return Array.from({ length: 700 }, (_, n) => {
        const { until } = shaping.hold({ ...shortage!, waitMs }, held(`email${n}`));
        return Date.parse(until) - startMs;
      }).sort((a, b) => a - b);
    };
    const first = holdAll(longMs);
    expect(first.at(-1)! - first[0]!).toBeGreaterThan(13_000);
    nowMs += 2_000;
    shaping.learn(P, { pools: null, rules: [{ provider: 'x.test', ...after }] }, 0);
    const second = holdAll(0);
    const gaps = second.map((atMs, n) => atMs - (second[n - 1] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(1_000);
  });

  it('does not let the mail of one owner wait behind that of another', () => {
    const { shaping } = createShaping({ rules: [{ provider: 'x.test', perSecond: 5 }] }, [], {}, () => 0);
    const { shortage } = shaping.candidates(['s:25'], 'x.test', { projectId: P, owner: P, domain: 'x.test' });
    const secondsOf = (hold: Hold) => (Date.parse(hold.until) - Date.now()) / 1_000;
    const last = (count: number, of: (n: number) => Parameters<typeof shaping.hold>[1]) =>
      secondsOf(Array.from({ length: count }, (_, n) => shaping.hold(shortage!, of(n))).at(-1)!);
    expect(last(1_000, (n) => held(`campaign${n}`))).toBeGreaterThan(19);
    // Both lines together are as fast as one.
    expect(last(50, (n) => held(`own${n}`, 'other'))).toBeLessThan(3);
    expect(last(50, (n) => held(`later${n}`, 'other'))).toBeGreaterThan(3);
  });

  it('tells since when it may be wrong: since sources or the project were last looked at', async () => {
    const { shaping } = createShaping({ rules: [{ provider: 'x.test', perDay: 5 }] });
    shaping.learn(P, undefined, 70);
    shaping.note({ drained: new Set(), warming: new Set() }, 50);
    const shortage = () =>
      shaping.candidates(['s:25'], 'x.test', { projectId: P, owner: P, domain: 'x.test' }).shortage!;
    const early = shortage();
    shaping.note({ drained: new Set(['s']), warming: new Set() }, 90);
    expect(shaping.hold(early, held('e')).knownMs).toBe(50);
    expect(shaping.hold(shortage(), held('e')).knownMs).toBe(70);
    expect(shaping.relaysOf(P, 'transactional')).toMatchObject({ reason: 'no source', knownMs: 70 });
    expect(shaping.relaysOf('unknown', 'transactional')).toMatchObject({ knownMs: 0 });
  });
});
