import { describe, expect, it } from '@jest/globals';
import { afterReport, isUntroubled, UNTROUBLED, type ProviderHealth, type ProviderReport } from './health.ts';

const T0 = 1_000_000;
const SECOND = 1_000;

function report(change: Partial<ProviderReport> = {}): ProviderReport {
  return {
    workerId: 'w1',
    total: 0,
    accepted: 0,
    refused: 0,
    slowed: 0,
    hard: {},
    suspects: [],
    reason: null,
    probe: null,
    wantsProbe: false,
    ...change,
  };
}

const refused = (count: number, change: Partial<ProviderReport> = {}) =>
  report({ total: count, refused: count, reason: '554 policy', ...change });
const accepted = (count: number) => report({ total: count, accepted: count });

function after(...steps: [ProviderReport, number][]): ProviderHealth {
  return steps.reduce((health, [step, atMs]) => afterReport(health, step, T0 + atMs), UNTROUBLED);
}

describe('a surge of refusals', () => {
  it('pauses the provider for five seconds, with the reason', () => {
    expect(after([refused(10), 0]).pause).toEqual({
      sinceMs: T0,
      untilMs: T0 + 5 * SECOND,
      step: 0,
      reason: '554 policy',
    });
  });

  it('is counted over all workers', () => {
    expect(after([refused(5), 0], [refused(5, { workerId: 'w2' }), 2 * SECOND]).pause).toBeDefined();
  });

  it('is neither nine refusals, nor ten in eleven seconds, nor ten among twenty-one results', () => {
    expect(after([refused(9), 0]).pause).toBeUndefined();
    expect(after([refused(5), 0], [refused(5), 11 * SECOND]).pause).toBeUndefined();
    expect(after([refused(10, { total: 21, accepted: 11 }), 0]).pause).toBeUndefined();
  });

  it('is found although many emails were accepted a few seconds before', () => {
    expect(after([accepted(1_000), 0], [refused(20), 2 * SECOND]).pause).toBeDefined();
  });
});

describe('a pause', () => {
  const wants = report({ wantsProbe: true });
  const paused = after([refused(10), 0]);

  it('lets only one worker probe when it ends', () => {
    expect(afterReport(paused, wants, T0 + 4 * SECOND).pause?.probe).toBeUndefined();
    const probing = afterReport(paused, wants, T0 + 5 * SECOND);
    expect(probing.pause?.probe?.workerId).toBe('w1');
    const asked = afterReport(probing, report({ workerId: 'w2', wantsProbe: true }), T0 + 6 * SECOND);
    expect(asked.pause?.probe?.workerId).toBe('w1');
  });

  it('gives the probe of a worker that died to another', () => {
    const probing = afterReport(paused, wants, T0 + 5 * SECOND);
    const later = afterReport(probing, report({ workerId: 'w2', wantsProbe: true }), T0 + 66 * SECOND);
    expect(later.pause?.probe?.workerId).toBe('w2');
  });

  it('doubles after each probe that is refused, up to five minutes', () => {
    let health = paused;
    const lengths: number[] = [];
    for (let n = 0, atMs = T0; n < 8; n++) {
      health = afterReport(health, refused(1, { probe: 'refused' }), atMs);
      lengths.push(((health.pause?.untilMs ?? 0) - atMs) / SECOND);
      atMs = health.pause?.untilMs ?? 0;
    }
    expect(lengths).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('ends with an accepted probe, and keeps its step when the provider refuses again soon', () => {
    const longer = afterReport(paused, refused(1, { probe: 'refused' }), T0 + 5 * SECOND);
    const open = afterReport(longer, { ...accepted(1), probe: 'accepted' }, T0 + 15 * SECOND);
    expect(open.pause).toBeUndefined();
    expect(afterReport(open, refused(10), T0 + 30 * SECOND).pause?.step).toBe(1);
    expect(afterReport(open, refused(10), T0 + 90 * SECOND).pause?.step).toBe(0);
  });

  it('is followed by another probe soon when the result of a probe was unclear', () => {
    const unclear = afterReport(paused, report({ total: 1, probe: 'unclear' }), T0 + 10 * SECOND);
    expect(unclear.pause).toMatchObject({ step: 0, untilMs: T0 + 15 * SECOND });
  });
});

describe('hard verdicts in the same words', () => {
  const hard = (recipients: number, total = recipients) => report({ total, hard: { 'no such user': recipients } });

  it('are not believed for twenty recipients or more in a minute, and pause the provider', () => {
    const health = after([hard(10), 0], [hard(10), 30 * SECOND]);
    expect(health.suspects?.words).toEqual(['no such user']);
    const told = afterReport(UNTROUBLED, report({ suspects: ['no such user'] }), T0);
    expect(told.pause).toBeDefined();
  });

  it('are believed for fewer recipients, over a longer time, or among many other results', () => {
    expect(after([hard(19), 0]).suspects).toBeUndefined();
    expect(after([hard(10), 0], [hard(10), 61 * SECOND]).suspects).toBeUndefined();
    expect(after([hard(20, 26), 0]).suspects).toBeUndefined();
  });

  it('are believed again a minute after the provider has recovered', () => {
    const paused = afterReport(UNTROUBLED, report({ suspects: ['no such user'] }), T0);
    const waiting = afterReport(paused, report(), T0 + 200 * SECOND);
    expect(waiting.suspects).toBeDefined();
    const open = afterReport(waiting, { ...accepted(1), probe: 'accepted' }, T0 + 201 * SECOND);
    expect(afterReport(open, report(), T0 + 230 * SECOND).suspects).toBeDefined();
    const later = afterReport(open, report(), T0 + 300 * SECOND);
    expect(later.suspects).toBeUndefined();
    expect(isUntroubled(later)).toBe(true);
  });
});

describe('a relay that refuses', () => {
  const spread = (counts: Record<string, number>, total: number) =>
    report({ total, refused: Object.values(counts).reduce((sum, count) => sum + count, 0), spread: counts });

  it('is paused when it refuses email to several providers and accepts next to none, for a minute at most', () => {
    let health = after([spread({ a: 4, b: 4, c: 4 }, 14), 0]);
    expect(health.pause).toBeDefined();
    for (let n = 0; n < 6; n++) health = afterReport(health, report({ probe: 'refused', spread: {} }), T0);
    expect(health.pause?.untilMs).toBe(T0 + 60 * SECOND);
  });

  it('is not paused when only one provider refuses, or when it accepts email to others', () => {
    expect(after([spread({ a: 12 }, 12), 0]).pause).toBeUndefined();
    expect(after([report({ total: 5, slowed: 5, spread: {} }), 0]).pace).toBeUndefined();
    expect(after([spread({ a: 20, b: 2, c: 2 }, 24), 0]).pause).toBeUndefined();
    expect(after([spread({ a: 4, b: 4, c: 4 }, 20), 0]).pause).toBeUndefined();
  });
});

describe('the pace', () => {
  it('is not set by complaints about rates while the provider refuses everything', () => {
    const mixed = refused(12, { slowed: 2, total: 14 });
    const slowedFirst = after([report({ total: 2, slowed: 2 }), 0], [refused(12), SECOND]);
    for (const paused of [after([mixed, 0]), slowedFirst]) {
      expect(paused.pause).toBeDefined();
      const still = afterReport(paused, report({ total: 1, slowed: 1 }), T0 + 4 * SECOND);
      const open = afterReport(still, { ...accepted(1), probe: 'accepted' }, T0 + 7 * SECOND);
      expect(open).toMatchObject({ recovered: { step: 0 } });
      expect(open.pace).toBeUndefined();
    }
  });

  const slowed = report({ total: 2, slowed: 2 });
  const atSpeed = after([accepted(100), 0], [accepted(100), 1 * SECOND], [accepted(100), 2 * SECOND]);
  const cut = afterReport(atSpeed, slowed, T0 + 3 * SECOND);

  it('is half the rate that the provider accepted, and half of that when it complains again', () => {
    expect(cut.pace?.rate).toBeCloseTo(50);
    expect(afterReport(cut, slowed, T0 + 4 * SECOND).pace?.rate).toBeCloseTo(50);
    expect(afterReport(cut, slowed, T0 + 9 * SECOND).pace?.rate).toBeLessThan(26);
  });

  it('grows by the same amount each second, and is dropped at twice the rate before the complaint', () => {
    const rates = [4, 5, 6].map((atSecond) => afterReport(cut, report(), T0 + atSecond * SECOND).pace?.rate ?? 0);
    expect((rates[1] ?? 0) - (rates[0] ?? 0)).toBeCloseTo((rates[2] ?? 0) - (rates[1] ?? 0));
    expect(afterReport(cut, report(), T0 + 200 * SECOND).pace).toBeUndefined();
  });

  it('is not set by a single recipient', () => {
    expect(afterReport(atSpeed, report({ total: 1, slowed: 1 }), T0 + 3 * SECOND).pace).toBeUndefined();
  });

  it('is not set but the provider is paused when it answers every recipient that emails come too fast', () => {
    expect(after([report({ total: 10, slowed: 10 }), 0])).toMatchObject({ pause: { step: 0 } });
    expect(after([report({ total: 9, slowed: 9 }), 0]).pause).toBeUndefined();
    expect(after([report({ total: 11, slowed: 10, accepted: 1 }), 0])).toMatchObject({ pace: { rate: 0.5 } });
  });
});

describe('a surge that one project causes', () => {
  const of = (counts: Record<string, [total: number, against: number]>, change: Partial<ProviderReport> = {}) => {
    const projects = Object.fromEntries(
      Object.entries(counts).map(([projectId, [total, against]]) => [projectId, { total, against }]),
    );
    const [total, against] = [0, 1].map((at) =>
      Object.values(counts).reduce((sum, each) => sum + (each[at] ?? 0), 0),
    ) as [number, number];
    return report({ total, accepted: total - against, refused: against, projects, ...change });
  };
  const spread = { spread: { a: 8, b: 6, c: 6 } };

  it('holds only the emails of that project, at the provider and at the relay', () => {
    for (const change of [{}, spread]) {
      expect(after([of({ loud: [20, 20] }, change), 0]).pause?.projectId).toBe('loud');
      expect(after([of({ loud: [40, 40], quiet: [5, 0], third: [3, 1] }, change), 0]).pause?.projectId).toBe('loud');
    }
  });

  it('holds all emails when those of the others are refused as well, at once or later', () => {
    for (const change of [{}, spread]) {
      const both = after([of({ loud: [40, 40], quiet: [2, 1] }, change), 0]);
      expect(both.pause).toBeDefined();
      expect(both.pause?.projectId).toBeUndefined();
      const alone = after([of({ loud: [20, 20] }, change), 0]);
      const probing = afterReport(alone, report({ wantsProbe: true }), T0 + 5 * SECOND);
      const later = afterReport(probing, of({ quiet: [1, 1] }, change), T0 + 11 * SECOND);
      expect(later.pause?.projectId).toBeUndefined();
      expect(later.pause?.probe).toBeDefined();
    }
  });

  it('is found among more projects than are counted by name', () => {
    const many = Object.fromEntries(
      Array.from({ length: 30 }, (_, n): [string, [number, number]] => [`p${n}`, [1, 0]]),
    );
    expect(after([of({ ...many, loud: [60, 60] }), 0]).pause?.projectId).toBe('loud');
  });
});
