import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { ensureLocalProject } from './local-project.ts';

it('an API that answers only at ADMIN_HOSTS is asked there whether it knows the project', async () => {
  const adminHost = 'admin.example.com';
  const known = { projectId: 'p', publicKey: 'pk_1', secretKey: 'sk_1', domain: 'local.test' };
  const server = createServer((request, response) => {
    const isOpen = request.headers.host === adminHost && request.headers.authorization === 'Bearer sk_1';
    response.writeHead(isOpen ? 200 : 404).end(JSON.stringify([{ id: 'p', public: 'pk_1' }]));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const run = () => Promise.reject(new Error('no command is needed'));
  try {
    expect(await ensureLocalProject(known, { url, adminHost }, run)).toEqual(known);
    await expect(ensureLocalProject(known, { url, adminHost: undefined }, run)).rejects.toThrow('answered 404');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
