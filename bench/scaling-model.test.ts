import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ASSUMPTIONS, cloudPrice, COSTS, predictRate, sizeFor, WORK } from './scaling-model.ts';

/** Costs that are easy to calculate with. */
const round = { api: 1, worker: 2, postgres: 4, temporal: 1, storedBytes: 1_000, walBytes: 2_000, actions: 1 };
const costs = { event: round, transactional: round, execution: round, campaign: round };
/** One unit of each kind of work a second, all the time. */
const even = {
  ...ASSUMPTIONS,
  perEmail: { event: 1, transactional: 1, execution: 1, campaign: 1 },
  peak: { event: 1, transactional: 1, execution: 1, campaign: 1 },
  utilisation: 0.5,
  monthsKept: 2,
};
const A_SECOND = 30 * 24 * 3_600;

describe('the size of an installation', () => {
  it('follows from the busiest hour, the cost of each unit, and the share of a core that is planned with', () => {
    const sizing = sizeFor(1_000 * A_SECOND, even, costs);
    expect(sizing.peakPerSecond).toEqual({ event: 1_000, transactional: 1_000, execution: 1_000, campaign: 1_000 });
    // Four kinds of work, a thousand of each a second, 1 ms of the API: 4 cores, half used.
    expect(sizing).toMatchObject({ apiProcesses: 8, workerProcesses: 16, postgresCores: 32, temporalCores: 8 });
    expect(sizing.peakWalBytesPerSecond).toBe(8_000_000);
    expect(sizing.peakActionsPerSecond).toBe(4_000);
    expect(sizing.storedBytes).toBe(4 * 1_000 * A_SECOND * 1_000 * 2);
  });

  it('has two processes of each kind at least, and one database', () => {
    expect(sizeFor(1_000)).toMatchObject({ apiProcesses: 2, workerProcesses: 2, databases: 1 });
  });

  it('spreads projects over databases when one has not enough cores, or holds too much', () => {
    expect(sizeFor(3_000 * A_SECOND, { ...even, databaseBytesMax: 1e18 }, costs).databases).toBe(2);
    expect(sizeFor(1_000 * A_SECOND, { ...even, databaseBytesMax: 1e13 }, costs).databases).toBe(3);
  });

  it('grows with the number of emails, in everything', () => {
    const [small, large] = [sizeFor(1e9), sizeFor(1e10)];
    expect(large.apiProcesses).toBeGreaterThan(small.apiProcesses);
    expect(large.postgresCores).toBeCloseTo(small.postgresCores * 10);
    expect(large.databases).toBeGreaterThanOrEqual(small.databases);
  });

  it('knows a cost for every kind of work', () => {
    for (const work of WORK)
      expect([work, COSTS[work].postgres > 0, COSTS[work].storedBytes > 0]).toEqual([work, true, true]);
  });
});

it('calculates the price of Temporal Cloud, which falls in steps', () => {
  expect(cloudPrice(1e6)).toBe(50);
  expect(cloudPrice(10e6)).toBe(5 * 50 + 5 * 45);
  expect(cloudPrice(200e6)).toBe(5 * 50 + 5 * 45 + 10 * 40 + 30 * 35 + 50 * 30 + 100 * 25);
});

describe('the rate of one machine', () => {
  const cpuMs = { worker: 0.1, postgres: 0.05, sink: 0.05 };
  it('is limited by the workers while cores are free', () => {
    expect(predictRate(cpuMs, 1, 8)).toBeCloseTo(10_000);
    expect(predictRate(cpuMs, 2, 8)).toBeCloseTo(20_000);
  });
  it('is limited by the cores when there are enough workers', () => {
    expect(predictRate(cpuMs, 4, 2)).toBeCloseTo(10_000);
  });
});

describe('docs/scaling.md', () => {
  const page = readFileSync(new URL('../docs/scaling.md', import.meta.url), 'utf8');
  const figure = (value: number) => Number(value.toPrecision(2)).toLocaleString('en');

  it.each([
    ['10 million', 1e7],
    ['1 billion', 1e9],
    ['10 billion', 1e10],
  ])('has the sizes for %s emails that the model gives', (name, emails) => {
    const size = sizeFor(emails);
    const { event, transactional, execution, campaign } = size.peakPerSecond;
    const cells = [
      ...[event, transactional, execution, campaign].map(figure),
      ...[size.apiProcesses, size.workerProcesses].map(String),
      ...[size.postgresCores, size.temporalCores, size.storedBytes / 1e12, size.peakWalBytesPerSecond / 1e6].map(
        figure,
      ),
      String(size.databases),
      ...[size.actionsPerMonth / 1e6, size.peakActionsPerSecond, size.cloudUsdPerMonth].map(figure),
    ];
    expect(page).toContain(`| ${[name, ...cells].join(' | ')} |\n`);
  });

  it.each(WORK)('has the cost of %s that the model uses', (work) => {
    const { api, worker, postgres, temporal, storedBytes, walBytes } = COSTS[work];
    const cells = [api, worker, postgres, temporal, storedBytes, walBytes].map((value) => value.toLocaleString('en'));
    expect(page).toContain(` | ${cells.join(' | ')} | `);
  });
});
