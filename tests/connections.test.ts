import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.ts';
import { startHostileApi, type HostileApi } from './support/hostile-api.ts';
import { openRaw } from './support/raw-http.ts';

const CONNECTIONS_MAX = 40;

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi({ API_CONNECTIONS_MAX: CONNECTIONS_MAX });
});
afterAll(() => app.stop());

describe('more connections than API_CONNECTIONS_MAX', () => {
  it('leave those of callers with a key, and close those of strangers', async () => {
    const caller = await openRaw(app.url);
    const authorization = `Authorization: Bearer ${app.neighbour.keys.secretKey}`;
    const answered = (count: number) =>
      eventually(() => Promise.resolve((caller.received().match(/HTTP\/1\.1 200 /g)?.length ?? 0) === count));
    const ask = () => caller.socket.write(`GET /contacts?limit=1 HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`);
    ask();
    await answered(1);
    const strangers = await Promise.all(Array.from({ length: 2 * CONNECTIONS_MAX }, () => openRaw(app.url)));
    await strangers[0]?.ended;
    expect((await app.neighbour.api('GET', '/contacts?limit=1')).status).toBe(200);
    ask();
    await answered(2);
    for (const { socket } of [caller, ...strangers]) socket.destroy();
  });
});
