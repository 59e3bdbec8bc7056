import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { createConnectionWatch, type ConnectionBounds } from './connection-watch.ts';

const BOUNDS: ConnectionBounds = {
  recipientWaitMs: 10,
  messageMs: 20,
  connectionMs: 100,
  guestConnectionMs: 50,
  commandOctets: 10,
  messageOctets: 100,
  replies: 10,
  checkMs: 1,
};

function startWatch() {
  const clock = { now: 0 };
  const watch = createConnectionWatch(
    BOUNDS,
    (address) => address === 'proved',
    () => clock.now,
  );
  const sent = { octets: 0 };
  const socket = Object.defineProperty(new Socket(), 'bytesRead', { get: () => sent.octets });
  return { clock, watch, sent, socket, overdue: () => watch.overdue().map(([id]) => id) };
}

describe('a watched connection', () => {
  it('is overdue when no recipient is accepted in time', () => {
    const { clock, watch, socket, overdue } = startWatch();
    watch.add('one', socket, 'guest');
    clock.now = 10;
    expect(overdue()).toEqual([]);
    clock.now = 11;
    expect(overdue()).toEqual(['one']);
  });

  it('has the time of a message from its first recipient on, whatever further recipients it has', () => {
    const { clock, watch, socket, overdue } = startWatch();
    watch.add('one', socket, 'guest');
    clock.now = 10;
    watch.beginMessage('one');
    clock.now = 30;
    watch.beginMessage('one');
    expect(overdue()).toEqual([]);
    clock.now = 31;
    expect(overdue()).toEqual(['one']);
    watch.endMessage('one');
    expect(overdue()).toEqual([]);
  });

  it('is overdue when it sends too much in its phase', () => {
    const { watch, sent, socket, overdue } = startWatch();
    watch.add('one', socket, 'guest');
    sent.octets = 11;
    expect(overdue()).toEqual(['one']);
    watch.beginMessage('one');
    sent.octets = 111;
    expect(overdue()).toEqual([]);
    sent.octets = 112;
    expect(overdue()).toEqual(['one']);
  });

  it('may last longer when its client has proved something', () => {
    const { clock, watch, socket, overdue } = startWatch();
    watch.add('proved', socket, 'proved');
    watch.add('guest', socket, 'guest');
    clock.now = 51;
    watch.beginMessage('proved');
    watch.beginMessage('guest');
    expect(overdue()).toEqual(['guest']);
    watch.remove('guest');
    expect(overdue()).toEqual([]);
  });
});
