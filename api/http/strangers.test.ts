import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { createHttpServer } from './server.ts';

it('a client that sends X-Forwarded-For and is no proxy of ours is named once', async () => {
  const named: string[] = [];
  const strangers = {
    ...{ perSecond: 0, proxySources: ['192.0.2.1/32'] },
    ...{ emailOfLink: () => undefined, onUnnamedProxy: (address: string) => void named.push(address) },
  };
  const server = createHttpServer((_req, res) => res.end(), { connectionsMax: 10, strangers });
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
