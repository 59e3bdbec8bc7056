import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../platform/logger.ts';
import type { Claim } from '../ports.ts';
import { createResultSpool, type KeptResults } from './result-spool.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everpost-spool-'));
});
afterEach(() => rm(folder, { recursive: true }));

const away = Object.assign(new Error('the connection is lost'), { code: '57P01' });

function kept(scope: string, ...ids: string[]): KeptResults<Claim> {
  const results = ids.map((emailId) => ({ emailId, verdict: 'sent', subject: null, error: null }) as const);
  return { claim: { scope, claimToken: `token of ${scope}`, projectId: 'p' }, results };
}

/** A spool, and what its sink records while it has no fault. */
function createTest() {
  const recorded: string[] = [];
  const sink: { fault: Error | undefined } = { fault: undefined };
  const spool = createResultSpool<Claim>({
    folder: async () => folder,
    logger: createLogger({ level: 'silent', name: 'test' }),
    sink: {
      async record({ claimToken }, results) {
        if (sink.fault) throw sink.fault;
        recorded.push(...results.map(({ emailId }) => `${emailId} by ${claimToken}`));
        return { mayContinue: true };
      },
    },
  });
  return { spool, sink, recorded };
}

describe('a spool', () => {
  it('records what it kept under the claim that it was kept with, once, before the next claim of the scope', async () => {
    const { spool, sink, recorded } = createTest();
    await spool.settle('a');
    sink.fault = away;
    await spool.keep(kept('a', 'one', 'two'));
    await spool.keep(kept('b', 'three'));
    await expect(spool.settle('a')).rejects.toBe(away);
    sink.fault = undefined;
    await spool.settle('a');
    await spool.settle('a');
    expect(recorded).toEqual(['one by token of a', 'two by token of a']);
    await spool.settle();
    expect(recorded).toHaveLength(3);
  });

  it('records what another process has kept in the folder', async () => {
    const first = createTest();
    await first.spool.settle();
    first.sink.fault = away;
    await first.spool.keep(kept('a', 'one'));
    const second = createTest();
    await second.spool.settle('a');
    expect(second.recorded).toEqual(['one by token of a']);
    expect(await readdir(folder)).toEqual([]);
  });

  it('keeps results in memory while the folder of the database is not known', async () => {
    const { spool, recorded } = createTest();
    await spool.keep(kept('a', 'one'));
    expect(await readdir(folder)).toEqual([]);
    await spool.settle('a');
    expect(recorded).toEqual(['one by token of a']);
  });

  it('puts aside what can never be recorded, and lets claims go on', async () => {
    const { spool, sink, recorded } = createTest();
    await spool.settle();
    await spool.keep(kept('a', 'one'));
    sink.fault = new TypeError('a fault of ours');
    await spool.settle('a');
    sink.fault = undefined;
    await spool.settle('a');
    expect(recorded).toEqual([]);
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^a\..*rejected$/)]);
  });

  it('lets a claim wait for an attempt that is still recording', async () => {
    const { spool } = createTest();
    let end = (): void => undefined;
    spool.hold('a', new Promise<void>((resolve) => (end = resolve)));
    let isSettled = false;
    const settled = spool.settle('a').then(() => (isSettled = true));
    await spool.settle('b');
    expect(isSettled).toBe(false);
    end();
    await settled;
    expect(isSettled).toBe(true);
  });
});
