import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createConnectionQueue, type ClientConnection } from './connection-queue.ts';

const connection = (address: string): ClientConnection => ({ socket: new Socket(), address, port: 1 });

function admitAll(queue: ReturnType<typeof createConnectionQueue>): string[] {
  const admitted: string[] = [];
  queue.admit(({ address }) => {
    admitted.push(address);
    return true;
  });
  return admitted;
}

describe('the queue of connections', () => {
  it('offers the oldest connection first, and keeps those without a place', () => {
    const queue = createConnectionQueue();
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) expect(queue.add(connection(address))).toBe(true);
    queue.admit(({ address }) => address === '192.0.2.2');
    expect(admitAll(queue)).toEqual(['192.0.2.1', '192.0.2.3']);
    expect(admitAll(queue)).toEqual([]);
  });

  it('forgets connections that are closed', () => {
    const queue = createConnectionQueue();
    const closed = connection('192.0.2.1');
    queue.add(closed);
    closed.socket.destroy();
    expect(admitAll(queue)).toEqual([]);
  });

  it('accepts no more than 50 connections of a client and 150 in all', () => {
    const queue = createConnectionQueue();
    const taken = (address: string) => Array.from({ length: 60 }, () => queue.add(connection(address))).filter(Boolean);
    expect(taken('192.0.2.1')).toHaveLength(50);
    expect(taken('192.0.2.2')).toHaveLength(50);
    expect(taken('192.0.2.3')).toHaveLength(50);
    expect(taken('192.0.2.4')).toHaveLength(0);
  });

  it('removes connections that have waited for more than five seconds', () => {
    const clock = { now: 0 };
    const queue = createConnectionQueue(() => clock.now);
    queue.add(connection('192.0.2.1'));
    clock.now = 1;
    queue.add(connection('192.0.2.2'));
    clock.now = 5_001;
    expect(queue.takeExpired().map(({ address }) => address)).toEqual(['192.0.2.1']);
    expect(admitAll(queue)).toEqual(['192.0.2.2']);
  });
});
