import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../tests/support/eventually.ts';
import { startTestApi, type TestApi, type TestProject } from '../../tests/support/api.ts';
import { untilBlocked } from '../../tests/support/database.ts';
import { query, queryOne } from '../../tests/support/rows.ts';
import { logIn, openClient, plain, startTestSubmission, submit } from '../../tests/support/submission.ts';
import { startTcpProxy, type TcpProxy } from '../../tests/support/tcp-proxy.ts';
import { sql } from '../../shared/database/sql.ts';
import type { Submission } from './submission-server.ts';

const MESSAGE_MAX_BYTES = 300_000;
const MAIL = 'From: Shop <hello@example.com>\nTo: a@mail.test\nSubject: Hello\nMessage-ID: <1@shop>\n\nHi';

let app: TestApi;
/** An API whose connections to PostgreSQL are never cut. */
let prepared: TestApi;
let database: TcpProxy;
let server: Submission & { port: number };
beforeAll(async () => {
  prepared = await startTestApi();
  database = await startTcpProxy(prepared.database.url);
  app = await startTestApi({
    database: prepared.database,
    databaseUrl: database.url,
    config: { MESSAGE_MAX_BYTES, API_RATE_LIMIT_PER_MINUTE: 1_000_000 },
  });
  const { stop } = app;
  app.stop = async () => {
    await stop();
    await prepared.stop();
  };
  server = await startTestSubmission(app);
});
afterAll(async () => {
  await server.close();
  await app.stop();
  await database.close();
});

const enter = (project: TestProject = app) => logIn(server.port, project.keys.secretKey);
/** Sends one message over a connection of its own. */
async function send(content: string, to = ['a@mail.test'], project?: TestProject): Promise<string> {
  const client = await enter(project);
  const reply = await submit(client, to, content);
  await client.ask('QUIT');
  return reply;
}
const emailsOf = ({ project }: TestProject) =>
  query(
    app.em(),
    sql`
      select e.to_address as to, e.tags, e.subject, e.status, c.from_name as name, c.headers, a.content, a.submission
      from email e join email_content c on c.email_id = e.id join attachment a on a.set_id = c.attachment_set_id
      where e.project_id = ${project.id} order by e.to_address`,
  );

describe('a login', () => {
  it('takes a secret key by PLAIN and by LOGIN, whatever the user is', async () => {
    const client = await openClient(server.port);
    expect(await client.ask('EHLO client.test')).toMatch(
      /PIPELINING[^]*8BITMIME[^]*SMTPUTF8[^]*AUTH PLAIN LOGIN[^]*SIZE 300000/,
    );
    expect(await client.ask('AUTH LOGIN')).toBe('334 VXNlcm5hbWU6');
    expect(await client.ask(Buffer.from('anything').toString('base64'))).toBe('334 UGFzc3dvcmQ6');
    expect(await client.ask(Buffer.from(app.keys.secretKey).toString('base64'))).toMatch(/^235 2\.7\.0/);
    expect((await enter()).said()).toContain('235 2.7.0');
  });

  it('is required before MAIL, and a wrong password ends the connection the third time', async () => {
    const client = await openClient(server.port, '127.0.0.9');
    await client.ask('EHLO client.test');
    // Nobody learns who exists (RFC 5321 section 3.5.3).
    expect(await client.ask('VRFY a@b.test')).toMatch(/^252/);
    expect(await client.ask('MAIL FROM:<a@b.test>')).toMatch(/^530 5\.7\.0 Log in first/);
    expect(await client.ask(`AUTH PLAIN ${plain(app.keys.publicKey)}`)).toMatch(/^535 5\.7\.8 .*public key/);
    expect(await client.ask(`AUTH PLAIN ${plain(`sk_${'0'.repeat(64)}`)}`)).toMatch(/^535 5\.7\.8 .*not known/);
    expect(await client.ask(`AUTH PLAIN ${plain('geheim')}`)).toMatch(/^421 4\.7\.0 3 wrong passwords/);
    await eventually(async () => client.isOver());
  });

  it('is refused after many wrong passwords from a network, which others do not notice', async () => {
    for (let i = 0; i < 5; i++) {
      const client = await openClient(server.port, '127.0.0.8');
      await client.ask('EHLO client.test');
      for (let guess = 0; guess < 3 && !client.isOver(); guess++) await client.ask(`AUTH PLAIN ${plain('guess')}`);
    }
    const locked = await openClient(server.port, '127.0.0.8');
    await locked.ask('EHLO client.test');
    expect(await locked.ask(`AUTH PLAIN ${plain(app.keys.secretKey)}`)).toMatch(
      /^421 4\.7\.0 Too many wrong passwords/,
    );
    expect((await enter()).said()).toContain('235');
  });

  it('sends with keys whose role may send, from the domains of the key', async () => {
    const project = await app.createProject();
    const keyOf = async (body: object) =>
      (await project.api('POST', '/keys', { body: { name: 'SMTP', ...body } })).body;
    const reader = await logIn(server.port, (await keyOf({ role: 'read' })).key);
    expect(await submit(reader, ['a@mail.test'], MAIL)).toMatch(/^550 5\.7\.1 A key with the role "read" may not/);
    const sender = await logIn(server.port, (await keyOf({ role: 'send' })).key);
    expect(await submit(sender, ['a@mail.test'], MAIL)).toMatch(/^250/);
    const bound = await logIn(server.port, (await keyOf({ role: 'send', senderDomains: ['else.test'] })).key);
    expect(await submit(bound, ['a@mail.test'], MAIL)).toMatch(/^550 5\.7\.1 This key may not send from example\.com/);
  });
});

describe('a message', () => {
  it('becomes an email per recipient, stored once, without trace and Bcc', async () => {
    const project = await app.createProject();
    const reply = await send(
      `Received: from laptop\nReturn-Path: <x@y.test>\nX-Originating-IP: 10.0.0.1\nDKIM-Signature: v=1;\n folded\n${MAIL.replace('\n\n', '\nBcc: secret@mail.test\nX-Everpost-Tag: a, b c\nX-SES-Foo: 1\nX-Own: kept\n\n')}`,
      ['b@mail.test', 'A@mail.test', 'a@MAIL.test'],
      project,
    );
    expect(reply).toMatch(/^250 2\.6\.0 Accepted as [0-9a-f-]{36}$/);
    const [first, withoutId] = [reply, await send(MAIL.replace(/Message-ID.*\n/, ''))].map((text) => text.slice(-36));
    expect((await project.api('GET', `/emails/${first}`)).body).toMatchObject({
      to: 'b@mail.test',
      tags: ['a', 'b c'],
    });
    expect((await app.api('GET', `/emails/${withoutId}`)).body).toMatchObject({ to: 'a@mail.test', subject: 'Hello' });
    const emails = await emailsOf(project);
    expect(emails.map(({ to, subject, status, name }) => ({ to, subject, status, name }))).toEqual(
      ['a@mail.test', 'b@mail.test'].map((to) => ({ to, subject: 'Hello', status: 'PENDING', name: 'Shop' })),
    );
    expect(emails[0]?.tags).toEqual(['a', 'b c']);
    expect(emails[0]?.headers[0][0]).toBe('Feedback-ID');
    expect(emails[0]?.submission).toEqual({ isTracked: false, isEightBit: false });
    expect(emails[0]?.content.toString()).toMatch(
      /^Date: [^\r]+\r\nFrom: Shop <hello@example.com>\r\nTo: a@mail.test\r\nSubject: Hello\r\nMessage-ID: <1@shop>\r\nX-Own: kept\r\n\r\nHi\r\n$/,
    );
    const counts = await queryOne(
      app.em(),
      sql`select count(*)::int as sets from attachment where content = ${emails[0]?.content}`,
    );
    expect(counts).toEqual({ sets: 1 });
    const contact = await queryOne(
      app.em(),
      sql`select subscribed from contact where project_id = ${project.project.id} and email = 'b@mail.test'`,
    );
    expect(contact).toEqual({ subscribed: false });
  });

  it('is stored once when the client did not get the answer and repeats it, and twice when its content differs', async () => {
    const project = await app.createProject();
    expect(await send(MAIL, ['a@mail.test', 'b@mail.test'], project)).toContain('Accepted as');
    expect(await send(MAIL, ['b@mail.test', 'a@mail.test'], project)).toMatch(
      /^250 2\.6\.0 This message was accepted before/,
    );
    await send(`Date: Thu, 26 Nov 2026 10:00:00 +0000\n${MAIL}`, ['a@mail.test', 'b@mail.test'], project);
    expect(await emailsOf(project)).toHaveLength(2);
    await send(MAIL, ['c@mail.test'], project);
    await send(`${MAIL} again`, ['a@mail.test'], project);
    expect(await emailsOf(project)).toHaveLength(4);
    const withoutId = MAIL.replace(/Message-ID.*\n/, '');
    expect(await send(withoutId, ['d@mail.test'], project)).toContain('Accepted as');
    expect(await send(withoutId, ['d@mail.test'], project)).toContain('Accepted as');
    expect((await emailsOf(project)).filter(({ to }) => to === 'd@mail.test')).toHaveLength(2);
  });

  it.each([
    [
      'from an unknown domain',
      MAIL.replace('example.com', 'other.test'),
      /^550 5\.7\.1 .*other\.test is not registered.* Add the domain/,
    ],
    [
      'with two senders',
      MAIL.replace('Shop <hello@example.com>', 'hello@example.com, x@y.test'),
      /^550 5\.6\.0 .*exactly one address/,
    ],
    ['with two From headers', `From: x@y.test\n${MAIL}`, /^550 5\.6\.0 .*exactly one address/],
    ['without From', MAIL.replace(/From.*\n/, ''), /^550 5\.6\.0 .*no From header/],
    ['without a header', `\n${MAIL}`, /^550 5\.6\.0 .*begin with its header/],
    ['with a line in its header that is no field', `Hello you\n${MAIL}`, /^550 5\.6\.0 .*begin with its header/],
    ['that is too large', `${MAIL}${'\nline'.repeat(60_000)}`, /^552 5\.3\.4 .*300000/],
  ])('%s is refused, and the connection goes on', async (_name, content, reply) => {
    const project = await app.createProject();
    const client = await enter(project);
    expect(await submit(client, ['a@mail.test'], content)).toMatch(reply);
    expect(await emailsOf(project)).toEqual([]);
    expect(await submit(client, ['a@mail.test'], MAIL)).toMatch(/^250/);
  });

  it('may have 1,000 recipients, and the client hears which addresses cannot be used', async () => {
    const project = await app.createProject();
    const client = await enter(project);
    await client.ask('MAIL FROM:<>');
    expect(await client.ask('RCPT TO:<not an address>')).toMatch(/^501|^553/);
    expect(await client.ask('RCPT TO:<ünicode@xn--ü.test>')).toMatch(/^553 5\.1\.3 Must have a domain name/);
    expect(await client.ask('RCPT TO:<a@localhost>')).toMatch(/^553 5\.1\.3/);
    const lines = Array.from({ length: 1_001 }, (_, i) => `RCPT TO:<many${i}@mail.test>\r\n`).join('');
    client.write(lines);
    await eventually(async () => client.said().includes('452 4.5.3 A message has at most 1000 recipients'));
    await client.ask('DATA');
    expect(await client.ask(`${MAIL.replaceAll('\n', '\r\n')}\r\n.`)).toContain('250 2.6.0');
    expect(await emailsOf(project)).toHaveLength(1_000);
  });

  it('is announced with a size that is too large in vain', async () => {
    const client = await enter();
    expect(await client.ask('MAIL FROM:<a@b.test> SIZE=300001')).toMatch(/^552 5\.3\.4/);
  });

  it.each(['SMTPUTF8', 'BODY=8BITMIME', 'SIZE=9'])(
    'is refused where %s stands twice, and begins with the next command',
    async (parameter) => {
      const client = await enter();
      const [name] = parameter.split('=');
      const reply = await client.ask(`MAIL FROM:<a@b.test> ${parameter} ${parameter}`);
      expect(reply).toMatch(new RegExp(`^501 .*duplicate ${name} parameter`));
      expect(await client.ask(`MAIL FROM:<a@b.test> ${parameter}`)).toMatch(/^250/);
    },
  );

  it('waits at the client while PostgreSQL is away, and is stored once when it is back', async () => {
    const project = await app.createProject();
    const client = await enter(project);
    await client.ask('MAIL FROM:<a@b.test>');
    await client.ask('RCPT TO:<a@mail.test>');
    await client.ask('DATA');
    await database.cut();
    expect(await client.ask(`${MAIL.replaceAll('\n', '\r\n')}\r\n.`)).toMatch(/^451 4\.3\.0 .*try again later/);
    expect(await client.ask('MAIL FROM:<a@b.test>')).toMatch(/^451 4\.3\.0/);
    const other = await openClient(server.port);
    await other.ask('EHLO client.test');
    expect(await other.ask(`AUTH PLAIN ${plain(project.keys.secretKey)}`)).toMatch(/^454 4\.7\.0/);
    await database.restore();
    expect(await submit(client, ['a@mail.test'], MAIL)).toContain('Accepted as');
    expect(await emailsOf(project)).toHaveLength(1);
  });

  it('of several connections is stored with those that arrive with it, and has an outcome of its own', async () => {
    const project = await app.createProject();
    const clients = await Promise.all(Array.from({ length: 8 }, () => enter(project)));
    const mailOf = (n: number) => MAIL.replace('1@shop', `${n}@shop`);
    const contents = [0, 1, 2, 3, 4].map(mailOf);
    // The first of them three times, and one that is refused.
    contents.push(mailOf(0), mailOf(0), MAIL.replace('example.com', 'other.test'));
    const blocker = prepared.em();
    await blocker.begin();
    await query(blocker, sql`lock table project in access exclusive mode`);
    const replies = clients.map((client, n) =>
      submit(client, [`${Number(/(\d)@shop/.exec(contents[n]!)![1])}@mail.test`], contents[n]!),
    );
    await untilBlocked(() => prepared.em());
    await blocker.rollback();
    const said = await Promise.all(replies);
    expect(said.filter((reply) => reply.includes('Accepted as'))).toHaveLength(5);
    expect(said.filter((reply) => reply.includes('was accepted before'))).toHaveLength(2);
    expect(said[7]).toMatch(/^550 5\.7\.1 .*other\.test is not registered/);
    expect((await emailsOf(project)).map(({ to }) => to)).toEqual([0, 1, 2, 3, 4].map((n) => `${n}@mail.test`));
    const [{ commits }] = await query(
      app.em(),
      sql`select count(distinct xmin::text)::int as commits from email where project_id = ${project.project.id}`,
    );
    expect(commits).toBeLessThan(5);
  });

  it.each([true, false])(
    'in a group that PostgreSQL leaves in the middle is answered with 451, and its repetition is stored once (Message-ID: %s)',
    async (hasId) => {
      const project = await app.createProject();
      const clients = await Promise.all(Array.from({ length: 5 }, () => enter(project)));
      const mailOf = (n: number) =>
        hasId ? MAIL.replace('1@shop', `${n}@shop`) : MAIL.replace(/^Message-ID:.*\n/m, '');
      const submitAll = () => clients.map((client, n) => submit(client, [`${n}@mail.test`], mailOf(n)));
      const blocker = prepared.em();
      await blocker.begin();
      await query(blocker, sql`lock table email in exclusive mode`);
      const replies = submitAll();
      await untilBlocked(() => prepared.em());
      await database.cut();
      for (const reply of await Promise.all(replies)) expect(reply).toMatch(/^451 4\.3\.0/);
      await blocker.rollback();
      await database.restore();
      // PostgreSQL may have stored the group when its connection had gone, but only messages that it would know again.
      for (const reply of await Promise.all(submitAll())) expect(reply).toContain(hasId ? '250 2.6.0' : 'Accepted as');
      expect(await emailsOf(project)).toHaveLength(5);
      if (!hasId) return;
      for (const reply of await Promise.all(submitAll())) expect(reply).toContain('was accepted before');
      expect(await emailsOf(project)).toHaveLength(5);
    },
  );
});

describe('a hostile client', () => {
  it('smuggles no second message by lone line ends', async () => {
    const project = await app.createProject();
    for (const end of ['\n.\n', '\n.\r\n', '\r.\r', '\r\n.\n', '\r\n.\r', '\r.\r\n']) {
      const client = await enter(project);
      await client.ask('MAIL FROM:<a@b.test>');
      await client.ask('RCPT TO:<a@mail.test>');
      await client.ask('DATA');
      const smuggled = `MAIL FROM:<x@y.test>\r\nRCPT TO:<victim@mail.test>\r\nDATA\r\n${MAIL}`;
      client.write(
        `${MAIL.replaceAll('\n', '\r\n').replace('1@shop', JSON.stringify(end).replace(/\W/g, ''))}${end}${smuggled}`,
      );
      expect(await client.ask('\r\n.')).toMatch(/^250/);
      expect(await client.ask('NOOP')).toBe('250 2.0.0 OK');
    }
    const emails = await emailsOf(project);
    expect(emails.map(({ to }) => to)).toEqual(Array.from({ length: 6 }, () => 'a@mail.test'));
    for (const { content } of emails) expect(content.toString('latin1')).not.toMatch(/(?<!\r)\n|\r(?!\n)/);
  });

  it('with an endless line, endless commands or garbage loses its connection, not the server', async () => {
    const long = await enter();
    long.write('X'.repeat(200_000));
    const chatty = await enter();
    chatty.write('NOOP\r\n'.repeat(3_000));
    const early = await openClient(server.port);
    early.write(Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 7) % 256)));
    early.write('\r\n'.repeat(50));
    const web = await openClient(server.port);
    web.write('POST / HTTP/1.1\r\nHost: x\r\n\r\n');
    for (const client of [long, chatty, early, web]) {
      await new Promise<void>((resolve) =>
        client.isOver() ? resolve() : client.socket.once('close', () => resolve()),
      );
    }
    expect(chatty.said()).toContain('421 4.7.0 Too many commands');
    expect(await send(MAIL.replace('1@shop', 'after@shop'))).toMatch(/^250/);
  });

  it('that writes slowly is ended in time, and its message is not stored', async () => {
    const project = await app.createProject();
    const strict = await startTestSubmission(app, {
      bounds: { messageMs: 500, guestConnectionMs: 4_000, checkMs: 50 },
    });
    const guest = await openClient(strict.port, '127.0.0.7');
    const client = await logIn(strict.port, project.keys.secretKey);
    await client.ask('MAIL FROM:<a@b.test>');
    await client.ask('RCPT TO:<a@mail.test>');
    await client.ask('DATA');
    client.write('From: hello@example.com\r\n');
    for (const each of [guest, client]) {
      await new Promise<void>((resolve) => (each.isOver() ? resolve() : each.socket.once('close', () => resolve())));
      expect(each.said()).toContain('421 4.4.2');
    }
    expect(await emailsOf(project)).toEqual([]);
    await strict.close();
  });
});

describe('a server that stops', () => {
  it('ends idle connections, finishes a message under way, and takes no new one', async () => {
    const stopping = await startTestSubmission(app);
    const idle = await logIn(stopping.port, app.keys.secretKey);
    const busy = await logIn(stopping.port, app.keys.secretKey);
    await busy.ask('MAIL FROM:<a@b.test>');
    await busy.ask('RCPT TO:<a@mail.test>');
    await busy.ask('DATA');
    const closed = stopping.close();
    expect(await busy.ask(`${MAIL.replace('1@shop', 'stop@shop').replaceAll('\n', '\r\n')}\r\n.`)).toMatch(/^250/);
    expect(await busy.ask('NOOP')).toMatch(/^421/);
    await closed;
    expect(idle.said()).toContain('421 4.3.2 Everpost is stopping');
  });
});
