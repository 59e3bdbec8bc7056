import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import { NIL } from 'uuid';
import { exportPieces } from '../../shared/database/exported-rows.ts';
import { sql } from '../../shared/database/sql.ts';
import { runJob } from '../../shared/domain/contact-jobs/run-job.ts';
import { contactExport } from '../../shared/domain/exports/contact-export.ts';
import { eventually } from '../../tests/support/eventually.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { query } from '../../tests/support/rows.ts';

let app: TestApi;
beforeAll(async () => {
  app = await startTestApi();
});
afterAll(() => app.stop());

async function download(owner: TestProject, path: string, body?: object) {
  const reply = await fetch(`${app.url}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${owner.keys.secretKey}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { reply, text: await reply.text() };
}

const linesOf = (text: string): any[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const exported = async (owner: TestProject, path: string) => linesOf((await download(owner, path)).text);

async function addContacts(owner: TestProject, count: number, data = sql`jsonb_build_object('n', n)`): Promise<void> {
  await query(
    app.em(),
    sql`
      insert into contact (id, project_id, email, subscribed, data, created_at, updated_at)
      select gen_random_uuid(), ${owner.project.id}, 'reader' || n || '@example.com', n % 2 = 0, ${data}, now(), now()
      from generate_series(1, ${count}::int) n`,
  );
}

describe('GET /contacts/export', () => {
  it('answers every contact once, over many pages, while others are written', async () => {
    const owner = await app.createProject();
    await addContacts(owner, 12_000);
    const before = new Set((await exported(owner, '/contacts/export?format=jsonl&columns=id')).map(({ id }) => id));
    expect(before.size).toBe(12_000);
    const reading = { isDone: false };
    const writing = (async () => {
      for (let n = 0; !reading.isDone; n++)
        await owner.api('POST', '/contacts', { body: { email: `new${n}@example.com` } });
    })();
    const rows = await exported(owner, '/contacts/export?format=jsonl');
    reading.isDone = true;
    await writing;
    const ids = rows.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => before.has(id))).toHaveLength(12_000);
  });

  it('has every field of a contact with odd values in both formats', async () => {
    const owner = await app.createProject();
    await owner.api('POST', '/topics', { body: { key: 'news', name: 'News', defaultSubscription: 'opt_out' } });
    await owner.api('POST', '/topics', { body: { key: 'offers', name: 'Offers', defaultSubscription: 'opt_in' } });
    const data = { 'a "key", ü.b': 'line\r\nnext "quoted", \u{1F600}', list: [1, { x: null }], n: 1e-7, flag: false };
    const body = { email: '+ada@example.com', data, topics: { news: true }, trackingAllowed: false };
    const { body: contact } = await owner.api('POST', '/contacts', { body });
    const pausedUntil = new Date(Date.now() + 86_400_000).toISOString();
    await owner.api('PATCH', `/contacts/${contact.id}`, { body: { pausedUntil } });
    const { body: gone } = await owner.api('POST', '/contacts', { body: { email: 'gone@example.com' } });
    await owner.api('PATCH', `/contacts/${gone.id}`, { body: { subscribed: false } });
    const rows = await exported(owner, '/contacts/export?format=jsonl');
    expect(rows).toEqual([
      {
        id: contact.id,
        email: '+ada@example.com',
        subscribed: true,
        pending: false,
        unsubscribedAt: null,
        reason: null,
        pausedUntil,
        trackingAllowed: false,
        topics: { news: true, offers: true },
        data,
        createdAt: contact.createdAt,
        updatedAt: expect.any(String),
      },
      expect.objectContaining({
        id: gone.id,
        subscribed: false,
        reason: 'api',
        unsubscribedAt: expect.stringMatching(/Z$/),
        pausedUntil: null,
        trackingAllowed: null,
        topics: { news: false, offers: true },
        data: {},
      }),
    ]);
    const { reply, text } = await download(owner, '/contacts/export');
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="contacts.csv"');
    const [first, second] = parse<Record<string, string>>(text, { columns: true });
    // A spreadsheet would run the plus sign, so an apostrophe stands before it.
    expect(first).toMatchObject({ email: "'+ada@example.com", subscribed: 'true', 'topic.news': 'true', pausedUntil });
    expect(JSON.parse(first?.['data.*'] ?? '')).toEqual(data);
    expect(second).toMatchObject({
      email: 'gone@example.com',
      trackingAllowed: '',
      reason: 'api',
      'topic.news': 'false',
    });
  });

  it('takes the filters of the list, a segment, a condition, and names of columns', async () => {
    const owner = await app.createProject();
    await addContacts(owner, 9);
    const condition = { logic: 'AND', groups: [{ filters: [{ field: 'data.n', operator: 'greaterThan', value: 6 }] }] };
    const { body: dynamic } = await owner.api('POST', '/segments', { body: { name: 'D', condition } });
    const { body: fixed } = await owner.api('POST', '/segments', { body: { name: 'S', type: 'STATIC' } });
    await owner.api('POST', `/segments/${fixed.id}/members`, { body: { emails: ['reader2@example.com'] } });
    const emails = async (filters: string) =>
      (await exported(owner, `/contacts/export?format=jsonl&columns=email&${filters}`))
        .map(({ email }) => email)
        .sort();
    const of = (...numbers: number[]) => numbers.map((n) => `reader${n}@example.com`);
    expect(await emails('search=READER3')).toEqual(of(3));
    expect(await emails('subscribed=true')).toEqual(of(2, 4, 6, 8));
    expect(await emails('pending=true')).toEqual([]);
    expect(await emails(`segmentId=${dynamic.id}`)).toEqual(of(7, 8, 9));
    expect(await emails(`segmentId=${fixed.id}`)).toEqual(of(2));
    expect(await emails(`subscribed=true&condition=${encodeURIComponent(JSON.stringify(condition))}`)).toEqual(of(8));
    const body = { format: 'csv', columns: ['data.n', 'email'], segmentId: dynamic.id, condition, subscribed: false };
    const { text } = await download(owner, '/contacts/export', body);
    expect(text.split('\r\n').sort()).toEqual(
      ['"data.n","email"', '"7","reader7@example.com"', '"9","reader9@example.com"', ''].sort(),
    );
  });

  it.each([
    ['format=xml', 422, 'format'],
    ['columns=email,plan', 422, 'columns'],
    ['condition={', 422, 'condition'],
    ['segmentId=7', 422, 'segmentId'],
    ['segmentId=01997c1e-5b7a-7c3e-8f2a-6d1e0b9a4c21', 404, undefined],
  ])('refuses %s before anything is sent', async (filters, status, field) => {
    const reply = await app.api('GET', `/contacts/export?${filters}`);
    expect([reply.status, reply.body.error.errors?.[0]?.field]).toEqual([status, field]);
    expect(reply.headers.get('content-disposition')).toBeNull();
  });

  it('finds few contacts among many', async () => {
    const owner = await app.createProject();
    await addContacts(owner, 21_000);
    expect(await exported(owner, '/contacts/export?format=jsonl&search=reader20999&columns=email')).toEqual([
      { email: 'reader20999@example.com' },
    ]);
  });

  it('misses no row and has none twice when others are written between its statements', async () => {
    const owner = await app.createProject();
    await addContacts(owner, 20_000);
    const filters = { format: 'jsonl', columns: ['id'], subscribed: true } as const;
    await query(
      app.em(),
      sql`update contact set subscribed = (data ->> 'n')::int % 10 = 0 where project_id = ${owner.project.id}`,
    );
    const source = await contactExport(app.em(), owner.project.id, filters);
    const subscribed = (await exported(owner, '/contacts/export?format=jsonl&columns=id&subscribed=true')).map(
      ({ id }) => id,
    );
    const disturbed: typeof source = {
      ...source,
      async searchedUpTo(tx, after) {
        await query(
          app.em(),
          sql`
            delete from contact where id in (
              select id from contact where project_id = ${owner.project.id} and not subscribed
                and id > ${after?.id ?? NIL}::uuid
              order by id limit 500)`,
        );
        return source.searchedUpTo?.(tx, after);
      },
    };
    let lines = '';
    for await (const piece of exportPieces(() => app.em(), disturbed, 'jsonl')) lines += piece;
    expect(linesOf(lines).map(({ id }) => id)).toEqual(subscribed);
  });

  it('leaves a row in the record of who did what', async () => {
    const owner = await app.createProject();
    await download(owner, '/contacts/export');
    const { entries } = (await owner.api('GET', '/audit?operation=exportContacts')).body;
    expect(entries).toEqual([expect.objectContaining({ operation: 'exportContacts', outcome: 'done' })]);
  });
});

describe('an export that is imported again', () => {
  /** Imports a file into another project with the same topics. @returns the lines of an export of it */
  async function imported(file: string, topics: object[]): Promise<any[]> {
    const other = await app.createProject();
    for (const topic of topics) await other.api('POST', '/topics', { body: topic });
    const form = new FormData();
    form.append('file', new Blob([file]), 'contacts');
    const headers = { authorization: `Bearer ${other.keys.secretKey}` };
    const reply = await fetch(`${app.url}/contacts/import`, { method: 'POST', headers, body: form });
    const { jobId }: any = await reply.json();
    expect([reply.status, jobId]).toEqual([202, expect.any(String)]);
    await runJob(jobId, { em: () => app.em(), signal: new AbortController().signal, onChunk: () => undefined });
    const job = (await other.api('GET', `/contacts/import/${jobId}`)).body;
    expect([job.failedReason, job.result?.errors]).toEqual([null, []]);
    return exported(other, '/contacts/export?format=jsonl');
  }

  it.each(['csv', 'jsonl'])('brings back every contact as it was, from %s', async (format) => {
    const owner = await app.createProject();
    const topics = [
      { key: 'news', name: 'News', defaultSubscription: 'opt_out' },
      { key: 'offers', name: 'Offers', defaultSubscription: 'opt_in' },
    ];
    for (const topic of topics) await owner.api('POST', '/topics', { body: topic });
    const data = {
      number: '007',
      word: 'true',
      json: '{"a":1}',
      blank: ' ',
      'with "quotes", ü.b': 'line\r\nnext \u{1F600}',
      list: [1, { x: null }, []],
      n: 1.5e-7,
      flag: false,
      formula: '=1+1',
      email2: "'=x@example.com",
    };
    const add = async (body: object) => (await owner.api('POST', '/contacts', { body })).body;
    const change = (id: string, body: object) => owner.api('PATCH', `/contacts/${id}`, { body });
    const ada = await add({
      email: 'ada@example.com',
      data,
      topics: { news: true, offers: false },
      trackingAllowed: true,
    });
    await change(ada.id, { pausedUntil: new Date(Date.now() + 86_400_000).toISOString() });
    await change((await add({ email: '+gone@example.com' })).id, { subscribed: false });
    await add({ email: "'=odd@example.com", trackingAllowed: false });
    await add({ email: 'never@example.com', subscribed: false });
    const bounced = await add({ email: 'bounced@example.com' });
    await query(
      app.em(),
      sql`update contact set subscribed = false, opted_out_at = '2026-01-02' where id = ${bounced.id}`,
    );
    await query(
      app.em(),
      sql`
        insert into consent_record (contact_id, id, project_id, state, cause)
        values (${bounced.id}, everpost_uuid_v7(), ${owner.project.id}, 'unsubscribed', 'hard_bounce')`,
    );
    const { text } = await download(owner, `/contacts/export?format=${format}`);
    const core = (lines: any[]) =>
      lines
        .map((line) => ({ ...line, id: null, createdAt: null, updatedAt: null }))
        .sort((left, right) => (left.email < right.email ? -1 : 1));
    const before = core(await exported(owner, '/contacts/export?format=jsonl'));
    expect(before).toHaveLength(5);
    expect(core(await imported(text, topics))).toEqual(before);
    const lines = text.split(/(?<=\n)/);
    expect(core(await imported([...lines, ...lines.slice(format === 'csv' ? 1 : 0)].join(''), topics))).toEqual(before);
  });
});

describe('exports of emails and events', () => {
  it('have the rows of a time range and of the filters of the lists', async () => {
    const owner = await app.createProject();
    const send = { to: 'ada@example.com', subject: '=Sum, "1"', body: 'B', from: 'a@example.com', tags: ['x'] };
    expect((await owner.api('POST', '/v1/send', { body: send })).status).toBe(200);
    await owner.api('POST', '/events/track', { body: { email: 'ada@example.com', event: 'bought', data: { n: 1 } } });
    const { body: list } = await owner.api('GET', '/emails');
    const [email] = await exported(owner, '/emails/export?format=jsonl&tag=x&since=2020-01-01');
    for (const [name, value] of Object.entries(email)) expect([name, list.emails[0][name]]).toEqual([name, value]);
    expect(await exported(owner, '/emails/export?format=jsonl&until=2020-01-01')).toEqual([]);
    const { text } = await download(owner, '/emails/export?columns=subject');
    expect(text).toBe('"subject"\r\n"\'=Sum, ""1"""\r\n');
    const events = await exported(owner, '/events/export?format=jsonl&eventName=bought&startDate=2020-01-01');
    expect(events).toEqual([
      expect.objectContaining({ contactEmail: 'ada@example.com', name: 'bought', data: { n: 1 } }),
    ]);
    expect(await exported(owner, '/events/export?format=jsonl&endDate=2020-01-01')).toEqual([]);
  });

  it('go on over rows of the same moment, page after page', async () => {
    const owner = await app.createProject();
    const { project } = owner;
    await query(
      app.em(),
      sql`
        insert into event (id, project_id, name, data, created_at)
        select gen_random_uuid(), ${project.id}, 'seen', jsonb_build_object('text', repeat('x', 3000)), '2026-01-01'
        from generate_series(1, 3000)`,
    );
    const ids = (await exported(owner, '/events/export?format=jsonl&columns=id')).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3_000);
    expect((await exported(owner, '/events/export?format=jsonl')).map(({ id }) => id)).toEqual(ids);
  });
});

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
    await addContacts(owner, 3_000, LARGE);
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
    await eventually(async () => (await download(owner, '/contacts/export?search=nobody')).reply.status === 200);
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
    await addContacts(owner, 3_000, LARGE);
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
    await addContacts(owner, 3_000, LARGE);
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
