import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../tests/support/eventually.ts';
import type { OutboxBatch } from '../durable/outbox/outbox-claims.ts';
import { createPoller, type HandedOver, type Poller, type PollerOptions } from './poller.ts';

const batch = (batchId: string): OutboxBatch => ({
  ...{
    batchId,
    kind: 'email',
    projectId: 'project',
    subjectIds: [batchId],
    attempts: 0,
    isRestart: false,
    isNew: true,
  },
});

const TAKEN: HandedOver = { isTaken: true, costInRows: 1 };

let poller: Poller | undefined;
afterEach(() => poller?.stop());

function start(waiting: string[], options: Partial<PollerOptions>): void {
  poller = createPoller({
    claim: async () => waiting.splice(0, 1).map(batch),
    dispatch: async () => TAKEN,
    parallel: 2,
    handOverMs: 0,
    pauseMs: () => 0,
    onError: () => undefined,
    ...options,
  });
  poller.notify();
}

describe('the poll loop of a kind', () => {
  it('claims more rows while a hand-over hangs', async () => {
    const taken: string[] = [];
    let release: () => void = () => undefined;
    const hangs = new Promise<void>((resolve) => {
      release = resolve;
    });
    start(['slow', 'a', 'b', 'c'], {
      async dispatch([first]) {
        if (first?.batchId === 'slow') await hangs;
        taken.push(first?.batchId ?? '');
        return TAKEN;
      },
    });
    await eventually(async () => taken.length === 3);
    expect(taken).toEqual(['a', 'b', 'c']);
    release();
    await eventually(async () => taken.length === 4);
  });

  it('has at most `parallel` claims under way', async () => {
    const release: (() => void)[] = [];
    const waiting = ['a', 'b', 'c', 'd'];
    start(waiting, {
      dispatch: () => new Promise<HandedOver>((resolve) => void release.push(() => resolve(TAKEN))),
    });
    await eventually(async () => release.length === 2);
    expect(waiting).toHaveLength(2);
    release[0]?.();
    await eventually(async () => release.length === 3);
    expect(waiting).toHaveLength(1);
    for (const go of release) go();
    await eventually(async () => release.length === 4);
    release[3]?.();
  });

  it('claims less and less often while every batch is refused, and as before when one is taken', async () => {
    const waiting = Array.from({ length: 100 }, (_, index) => String(index));
    let isTaken = false;
    start(waiting, { dispatch: async () => ({ isTaken, costInRows: 1 }) });
    await eventually(async () => waiting.length <= 97);
    expect(waiting.length).toBeGreaterThan(90);
    isTaken = true;
    await eventually(async () => waiting.length === 0);
  });

  it('reports a claim that fails, and claims again when it is notified', async () => {
    const errors: unknown[] = [];
    let isBroken = true;
    const taken: string[] = [];
    const waiting = ['a'];
    start(waiting, {
      async claim() {
        if (isBroken) throw new Error('away');
        return waiting.splice(0, 1).map(batch);
      },
      async dispatch([first]) {
        taken.push(first?.batchId ?? '');
        return TAKEN;
      },
      onError: (error) => void errors.push(error),
    });
    await eventually(async () => errors.length === 1);
    isBroken = false;
    poller?.notify();
    await eventually(async () => taken.length === 1);
  });
});
