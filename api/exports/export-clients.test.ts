import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '../../shared/database/sql.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { addContacts, download } from '../../tests/support/exports.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

describe('clients of an export', () => {
  const LARGE = sql`jsonb_build_object('text', repeat(md5(n::text), 300))`;

  const open = (owner: TestProject) => {
    const socket = connect({ port: Number(new URL(app.url).port), host: new URL(app.url).hostname });
    socket.pause();
    socket.on('error', () => undefined);
    socket.write(`GET /contacts/export HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${owner.keys.secretKey}\r\n\r\n`);
    return socket;
  };

  it('that do not read keep their places, no statement, and lose them when they leave', async () => {
    const owner = await app.createProject();
    await addContacts(app, owner, 3_000, LARGE);
    const sockets = Array.from({ length: 4 }, () => open(owner));
    await Promise.all(sockets.map((socket) => once(socket, 'readable')));
    const refused = await owner.api('GET', '/contacts/export?search=nobody');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect(refused.headers.get('content-disposition')).toBeNull();
    expect((await owner.api('GET', '/contacts?limit=1')).status).toBe(200);
    await eventually(async () => {
      const busy = await query(
        app.em(),
        sql`select pid from pg_stat_activity where datname = current_database() and state <> 'idle'
          and pid <> pg_backend_pid() and query like '%as line%'`,
      );
      return busy.length === 0;
    });
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await download(app, owner, '/contacts/export?search=nobody')).reply.status === 200);
  });

  /** Begins to read an export. @returns what reads the rest of it */
  async function begin(key: string): Promise<() => Promise<void>> {
    const reply = await fetch(`${app.url}/contacts/export`, { headers: { authorization: `Bearer ${key}` } });
    const reader = reply.body?.getReader();
    await reader?.read();
    return async () => {
      while (!(await reader?.read())?.done);
    };
  }

  it('see the end of the connection, not of the file, when PostgreSQL fails on the way', async () => {
    const owner = await app.createProject();
    await addContacts(app, owner, 3_000, LARGE);
    const rest = await begin(owner.keys.secretKey);
    await query(app.em(), sql`alter table contact rename column opted_out_at to elsewhere`);
    try {
      await expect(rest()).rejects.toThrow('terminated');
    } finally {
      await query(app.em(), sql`alter table contact rename column elsewhere to opted_out_at`);
    }
  });

  it('see it, too, when their key ends or expires, or the project is disabled, on the way', async () => {
    const owner = await app.createProject();
    await addContacts(app, owner, 3_000, LARGE);
    const { project, api } = owner;
    const create = async () => (await api('POST', '/keys', { body: { name: 'R', role: 'read' } })).body;
    const changes: ((id: string) => Promise<unknown>)[] = [
      (id) => api('DELETE', `/keys/${id}`),
      (id) => query(app.em(), sql`update api_key set expires_at = now() where id = ${id}`),
      () => query(app.em(), sql`update project set disabled = true where id = ${project.id}`),
    ];
    for (const change of changes) {
      const { id, key } = await create();
      const rest = await begin(key);
      await change(id);
      await expect(rest()).rejects.toThrow('terminated');
    }
  });

  it.each(['/contacts/export', '/events/export', '/suppressions?format=csv'])(
    'that speak HTTP/1.0 get no part of %s, which would look like the whole',
    async (path) => {
      const socket = connect({ port: Number(new URL(app.url).port), host: new URL(app.url).hostname });
      const { secretKey } = (await app.createProject()).keys;
      socket.write(`GET ${path} HTTP/1.0\r\nAuthorization: Bearer ${secretKey}\r\n\r\n`);
      expect(await textOf(socket)).toMatch(/^HTTP\/1.1 400 .*"suggestion":"Use HTTP\/1.1/s);
    },
  );
});
