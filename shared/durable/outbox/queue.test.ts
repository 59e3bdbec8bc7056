import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../tests/support/eventually.ts';
import type { HandedOver } from './hand-over.ts';
import type { OutboxBatch } from './outbox-claims.ts';
import { createQueue, type Queue, type QueueDeps } from './queue.ts';

const batch = (batchId: string): OutboxBatch => ({
  batchId,
  kind: 'email',
  projectId: 'project',
  subjectIds: [batchId],
  attempts: 0,
  isRestart: false,
  isNew: true,
});

const TAKEN: HandedOver = { isTaken: true, costInRows: 1 };

let stop: () => Promise<void>;
afterEach(() => stop());

function start(waiting: string[], deps: Partial<QueueDeps>): Queue {
  const stopping = new AbortController();
  const queue = createQueue(
    { parallel: 2, handOverMs: 0, pauseMs: () => 0 },
    {
      claim: async () => waiting.splice(0, 1).map(batch),
      handOver: async () => TAKEN,
      signal: stopping.signal,
      report: () => undefined,
      ...deps,
    },
  );
  stop = () => (stopping.abort(), queue.ended());
  queue.notify({ hasLapsed: false });
  return queue;
}

describe('the queue of a kind', () => {
  it('claims more rows while a hand-over hangs', async () => {
    const taken: string[] = [];
    let release: () => void = () => undefined;
    const hangs = new Promise<void>((resolve) => {
      release = resolve;
    });
    start(['slow', 'a', 'b', 'c'], {
      async handOver([first]) {
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
      handOver: () => new Promise<HandedOver>((resolve) => void release.push(() => resolve(TAKEN))),
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
    start(waiting, { handOver: async () => ({ isTaken, costInRows: 1 }) });
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
    const queue = start(waiting, {
      async claim() {
        if (isBroken) throw new Error('away');
        return waiting.splice(0, 1).map(batch);
      },
      async handOver([first]) {
        taken.push(first?.batchId ?? '');
        return TAKEN;
      },
      report: (error) => void errors.push(error),
    });
    await eventually(async () => errors.length === 1);
    isBroken = false;
    await eventually(async () => {
      queue.notify({ hasLapsed: false });
      return taken.length === 1;
    });
  });
});
