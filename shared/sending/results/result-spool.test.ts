import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
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

describe('the list of accepted emails', () => {
  const claimOf = (scope: string): Claim => kept(scope).claim;

  it('is recorded before the next claim of the scope when its process is gone, and not while others may use it', async () => {
    const killed = createTest();
    await killed.spool.settle('a');
    const list = killed.spool.begin(claimOf('a'));
    list.add('one');
    list.add('two');
    list.add('three');
    const next = createTest();
    await next.spool.settle('b');
    await next.spool.settle();
    expect(next.recorded).toEqual([]);
    await next.spool.settle('a');
    expect(next.recorded).toEqual(['one by token of a', 'two by token of a', 'three by token of a']);
    expect(await readdir(folder)).toEqual([]);
    list.end(false);
  });

  it('is nothing once all is recorded, and stays when that fails', async () => {
    const { spool, recorded } = createTest();
    await spool.settle();
    const [done, failed, unused] = [spool.begin(claimOf('a')), spool.begin(claimOf('b')), spool.begin(claimOf('c'))];
    done.add('one');
    failed.add('two');
    failed.add('three');
    done.end(false);
    failed.end(true);
    unused.end(false);
    expect(await readdir(folder)).toHaveLength(1);
    await spool.settle('a');
    await spool.settle('b');
    expect(recorded).toEqual(['two by token of b', 'three by token of b']);
  });

  it('is recorded in the end when nobody claims its scope again', async () => {
    const { spool, recorded } = createTest();
    await spool.settle();
    const list = spool.begin(claimOf('a'));
    list.add('one');
    const [name = ''] = await readdir(folder);
    await utimes(join(folder, name), 0, 0);
    await spool.settle();
    expect(recorded).toEqual(['one by token of a']);
    list.end(false);
  });

  it('of a process that was killed while it wrote has all whole lines', async () => {
    const { spool, recorded } = createTest();
    const head = JSON.stringify(claimOf('a'));
    await writeFile(join(folder, 'a.1.sent'), `${head}\none\ntw`);
    await writeFile(join(folder, 'a.2.sent'), head.slice(0, 9));
    await writeFile(join(folder, 'a.3.sent'), '');
    await spool.settle('a');
    expect(recorded).toEqual(['one by token of a']);
    expect(await readdir(folder)).toEqual([]);
  });

  it('that cannot be written stops no mail', async () => {
    const { spool } = createTest();
    await spool.settle();
    await rm(folder, { recursive: true });
    await writeFile(folder, 'not a folder');
    const list = spool.begin(claimOf('a'));
    list.add('one');
    list.add('two');
    list.end(true);
  });
});
