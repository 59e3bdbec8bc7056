import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createGuestTurns } from './guests.ts';
import { createHttpServer } from './server.ts';

it('a client that sends X-Forwarded-For and is no proxy of ours is named once', async () => {
  const named: string[] = [];
  const guests = {
    unitsPerSecond: 0,
    proxySources: ['192.0.2.1/32'],
    emailOfLink: () => undefined,
    onUnnamedProxy: (address: string) => void named.push(address),
  };
  const server = createHttpServer((_req, res) => res.end(), { connectionsMax: 10, guests });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await fetch(url);
  expect(named).toEqual([]);
  for (let turn = 0; turn < 2; turn++) await fetch(url, { headers: { 'X-Forwarded-For': '203.0.113.1' } });
  expect(named).toEqual(['127.0.0.1']);
  server.closeAllConnections();
  server.close();
});

/** Work that takes longer than the turn of the guests. */
function keepLoop(): void {
  const until = performance.now() + 2;
  while (performance.now() < until);
}

describe('requests of guests', () => {
  it('start at once when no other request waits', async () => {
    const inTurn = createGuestTurns();
    for (let n = 0; n < 2; n++) {
      let isStarted = false;
      inTurn(() => (isStarted = true));
      expect(isStarted).toBe(true);
      await nextTurn();
      await nextTurn();
    }
  });

  it('that arrive together start in their order, and other work runs in between', async () => {
    const inTurn = createGuestTurns();
    const started: number[] = [];
    for (let n = 0; n < 5; n++) {
      inTurn(() => {
        started.push(n);
        keepLoop();
      });
    }
    const startedInTurn = [];
    while (started.length < 5) {
      startedInTurn.push(started.length);
      await nextTurn();
    }
    expect(started).toEqual([0, 1, 2, 3, 4]);
    expect(startedInTurn.length).toBeGreaterThanOrEqual(4);
  });
});
