import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { query, sql } from '../shared/database/sql.ts';
import { eventually } from './support/eventually.ts';
import { startHostileApi, type HostileApi } from './support/hostile-api.ts';
import { openRaw, statusOf } from './support/raw-http.ts';

/** A project may hold 64 MB of answers. Making them takes memory as well, and leaves garbage. */
const RSS_GROWTH_MAX = 320 * 1024 * 1024;
/** So many pages of 8 MB do not fit into the heap of the process. */
const READERS = 40;

let app: HostileApi;
beforeAll(async () => {
  app = await startHostileApi();
});
afterAll(() => app.stop());

const bearer = (key: string) => `Authorization: Bearer ${key}\r\n`;

/** Requests a page of events and does not read the answer. */
async function openSlowReader(): Promise<{ socket: Socket; isClosed: () => boolean }> {
  const { hostname, port } = new URL(app.url);
  const socket = connect({ port: Number(port), host: hostname });
  socket.pause();
  socket.on('error', () => undefined);
  let closed = false;
  socket.on('close', () => (closed = true));
  await once(socket, 'connect');
  socket.write(`GET /events?limit=500 HTTP/1.1\r\nHost: a\r\n${bearer(app.attacker.keys.secretKey)}\r\n`);
  return { socket, isClosed: () => closed };
}

describe('clients that do not read', () => {
  it('occupy a bounded part of the memory, and others are served meanwhile', async () => {
    await query(
      app.database.orm.em.fork(),
      sql`
        insert into event (id, project_id, name, data, created_at)
        select gen_random_uuid(), ${app.attacker.project.id}, 'large',
          jsonb_build_object('text', repeat(md5(n::text), 1800)), now()
        from generate_series(1, 200) n`,
    );
    const before = await app.process.ask('report');
    const readers = await Promise.all(Array.from({ length: READERS }, openSlowReader));
    await app.attack(async () => {
      for (let turn = 0; turn < 100; turn++) {
        const { status } = await app.neighbour.api('GET', '/contacts?limit=1');
        expect(status).toBe(200);
      }
    });
    const { rssBytes } = await app.process.ask('report');
    expect(rssBytes - before.rssBytes).toBeLessThan(RSS_GROWTH_MAX);
    for (const { socket } of readers) socket.destroy();
    await eventually(async () => (await app.attacker.api('GET', '/events?limit=1')).status === 200);
  });
});

describe('a body that comes octet by octet', () => {
  it.concurrent('with a key ends with 408, and delays nobody', async () => {
    const { socket, ended, received } = await openRaw(app.url);
    socket.write(
      `POST /contacts HTTP/1.1\r\nHost: a\r\n${bearer(app.attacker.keys.secretKey)}` +
        'Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n',
    );
    const timer = setInterval(() => socket.write(' '), 200);
    await eventually(() => Promise.resolve(statusOf(received()) === 408), 50_000);
    clearInterval(timer);
    await ended;
    expect((await app.neighbour.api('GET', '/contacts?limit=1')).status).toBe(200);
  });
});

describe('large bodies that never end', () => {
  it('occupy only the memory of their project, which has to wait while others send large ones', async () => {
    const uploads = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const upload = await openRaw(app.url);
        upload.socket.write(
          `POST /v1/send HTTP/1.1\r\nHost: a\r\n${bearer(app.attacker.keys.secretKey)}` +
            `Content-Type: application/json\r\nContent-Length: ${40 * 1024 * 1024}\r\n\r\n{"body":"`,
        );
        return upload;
      }),
    );
    const file = { filename: 'a.bin', content: Buffer.alloc(10_000_000).toString('base64'), contentType: 'a/b' };
    const body = { to: 'a@example.com', subject: 'S', body: 'B', from: 'a@example.com', attachments: [file] };
    expect((await app.neighbour.api('POST', '/v1/send', { body })).status).toBe(200);
    // One body occupies the memory of the project; the others wait for it and are then refused.
    const refused = () => uploads.filter(({ received }) => statusOf(received()) === 429);
    await eventually(() => Promise.resolve(refused().length === 3), 30_000);
    for (const { received } of refused()) expect(received()).toMatch(/^retry-after: \d+\r$/im);
    for (const { socket } of uploads) socket.destroy();
    await eventually(async () => (await app.attacker.api('GET', '/events?limit=1')).status === 200);
  });
});

describe('a project that floods the API', () => {
  it('does not keep the requests of another project from being answered', async () => {
    const large = { to: 'a@example.com', subject: 'S', body: `<p>${'x'.repeat(1_000_000)}</p>`, from: 'a@example.com' };
    const flood = Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        for (let turn = 0; turn < 3; turn++) {
          const { status } = await (n % 2 === 0
            ? app.attacker.api('GET', '/events?limit=500')
            : app.attacker.api('POST', '/v1/send', { body: large }));
          expect([200, 429, 503]).toContain(status);
        }
      }),
    );
    for (let turn = 0; turn < 20; turn++) {
      const body = { email: 'ada@example.com', event: 'visited' };
      expect((await app.neighbour.api('POST', '/v1/track', { key: 'public', body })).status).toBe(200);
      expect((await app.neighbour.api('GET', '/contacts?limit=1')).status).toBe(200);
    }
    await flood;
    expect(app.process.isRunning()).toBe(true);
  });
});
