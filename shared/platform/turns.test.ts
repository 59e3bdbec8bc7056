import { getEventListeners } from 'node:events';
import { expect, it } from '@jest/globals';
import { createGate } from './turns.ts';

it('work that is aborted while it waits for a gate leaves the queue, and the others get their turn', async () => {
  const gate = createGate(1);
  const abort = new AbortController();
  let end = (): void => undefined;
  const first = gate(() => new Promise<void>((resolve) => (end = resolve)));
  const aborted = gate(async () => 'aborted', abort.signal);
  const last = gate(async () => 'last', new AbortController().signal);
  abort.abort(new Error('too late'));
  await expect(aborted).rejects.toThrow('too late');
  end();
  await first;
  expect(await last).toBe('last');
});

it('a signal has no listener of a gate any more when its work has passed', async () => {
  const gate = createGate(1);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 20 }, () => gate(async () => undefined, signal)));
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});
