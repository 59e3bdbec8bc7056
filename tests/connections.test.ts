import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.ts';
import { startHostileApi, type HostileApi } from './support/hostile-api.ts';
import { openRaw, statusOf, type RawConnection } from './support/raw-http.ts';

const CONNECTIONS_MAX = 40;
/** Connections of one address without a key. */
const GUESTS_MAX = 10;

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi({ API_CONNECTIONS_MAX: CONNECTIONS_MAX });
});
afterAll(() => app.stop());

describe('more connections than API_CONNECTIONS_MAX', () => {
  it('close only connections without a key', async () => {
    const caller = await openRaw(app.url);
    const authorization = `Authorization: Bearer ${app.neighbour.keys.secretKey}`;
    const answered = (count: number) =>
      eventually(() => Promise.resolve((caller.received().match(/HTTP\/1\.1 200 /g)?.length ?? 0) === count));
    const ask = () => caller.socket.write(`GET /contacts?limit=1 HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`);
    ask();
    await answered(1);
    const guests = await Promise.all(Array.from({ length: 2 * CONNECTIONS_MAX }, () => openRaw(app.url)));
    await guests[0]?.ended;
    expect((await app.neighbour.api('GET', '/contacts?limit=1')).status).toBe(200);
    ask();
    await answered(2);
    for (const { socket } of [caller, ...guests]) socket.destroy();
  });
});

describe('an idle connection', () => {
  it('is said to stay open for less time than it does, with a key and without', async () => {
    const { secretKey } = app.neighbour.keys;
    const ask = async (path: string, key: string) => {
      const connection = await openRaw(app.url);
      connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
      await eventually(() => Promise.resolve(connection.received().includes('\r\n\r\n')));
      return connection;
    };
    const saidOf = ({ received }: RawConnection) => /^keep-alive: (.*)\r$/im.exec(received())?.[1];
    const [guest, wrong, caller] = [
      await ask('/health', ''),
      await ask('/contacts', 'sk_unknown'),
      await ask('/contacts?limit=1', secretKey),
    ];
    const answeredAt = performance.now();
    expect([guest, wrong, caller].map(saidOf)).toEqual(['timeout=4', 'timeout=4', 'timeout=65']);
    await guest.ended;
    expect(performance.now() - answeredAt).toBeGreaterThan(4_000);
    for (const { socket } of [wrong, caller]) socket.destroy();
  });
});

describe('connections of one address without a key', () => {
  it('are limited to a part of all connections, and connections with a key stay open', async () => {
    const authorization = `Authorization: Bearer ${app.neighbour.keys.secretKey}`;
    const callers: RawConnection[] = [];
    while (callers.length < CONNECTIONS_MAX / 2) {
      const caller = await openRaw(app.url);
      caller.socket.write(`GET /contacts?limit=1 HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`);
      await eventually(() => Promise.resolve(statusOf(caller.received()) === 200));
      callers.push(caller);
    }
    const guests = await Promise.all(Array.from({ length: CONNECTIONS_MAX / 2 }, () => openRaw(app.url)));
    const closed = () => guests.filter(({ socket }) => socket.readyState === 'closed').length;
    await eventually(() => Promise.resolve(closed() === CONNECTIONS_MAX / 2 - GUESTS_MAX));
    expect(callers.filter(({ socket }) => socket.readyState !== 'open')).toEqual([]);
    for (const { socket } of [...callers, ...guests]) socket.destroy();
  });
});
