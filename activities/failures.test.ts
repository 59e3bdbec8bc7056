import { describe, expect, it } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { quietTemporal } from '../tests/support/quiet-temporal.ts';
import { lastAttempt } from './failures.ts';

quietTemporal();

/** Whether an attempt after `faults` faults is the last one because of an error. */
const isLast = (faults: number, error: unknown): Promise<boolean> =>
  new MockActivityEnvironment({ heartbeatDetails: { memory: { faults } } }).run(async () => lastAttempt()(error));

describe('the last attempt of an activity', () => {
  it('comes after many faults, and never because of PostgreSQL', async () => {
    const locked = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
    expect(await isLast(0, new TypeError('unexpected'))).toBe(false);
    expect(await isLast(20, new TypeError('unexpected'))).toBe(true);
    expect(await isLast(20, locked)).toBe(false);
  });
});
