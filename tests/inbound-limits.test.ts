import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.ts';
import { sql } from '../shared/database/sql.ts';
import { query } from './support/rows.ts';
import type { InboundServer } from '../worker/inbound/inbound-server.ts';
import { dsn, INBOUND_DOMAIN, startTestInbound, type TestInbound } from './support/inbound.ts';

interface Client {
  socket: Socket;
  /** Everything that the server has sent. */
  said: () => string;
  /** Sends a line and waits for the answer, or the end. @returns the answer's code; 0 at the end */
  ask: (line: string) => Promise<number>;
  isOver: () => boolean;
}

let inbound: TestInbound;
const servers: InboundServer[] = [];
const sockets: Socket[] = [];
beforeAll(async () => {
  inbound = await startTestInbound();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) await server.close();
});
afterAll(() => inbound.stop());

/** Waits until the condition is true. */
const seen = (isSo: () => boolean) => eventually(() => Promise.resolve(isSo()));

async function listen(options: Parameters<TestInbound['listen']>[0] = {}): Promise<InboundServer> {
  const server = await inbound.listen(options);
  servers.push(server);
  return server;
}

/** Connects from an address of this machine; `header` is sent first. */
function open(server: InboundServer, { from = '127.0.0.1', header = '' } = {}): Client {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress: from });
  sockets.push(socket);
  let said = '';
  let isOver = false;
  socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')));
  socket.on('error', () => undefined).on('close', () => (isOver = true));
  if (header !== '') socket.write(header);
  return {
    socket,
    said: () => said,
    isOver: () => isOver,
    async ask(line) {
      const before = said.length;
      socket.write(`${line}\r\n`);
      await seen(() => said.length > before || isOver);
      return Number(/^\d{3}/.exec(said.slice(before))?.[0] ?? 0);
    },
  };
}

/** Greets and begins a message. */
async function begin(client: Client): Promise<void> {
  await seen(() => client.said() !== '' || client.isOver());
  await client.ask('EHLO mx.test');
  await client.ask('MAIL FROM:<a@mx.test>');
}

async function guess(client: Client, times: number): Promise<number[]> {
  const codes: number[] = [];
  // A reply of 421 ends the connection, and the end may come a moment later.
  while (codes.length < times && !client.isOver() && codes.at(-1) !== 421) {
    codes.push(await client.ask(`RCPT TO:<guess-${randomUUID()}@${INBOUND_DOMAIN}>`));
  }
  return codes;
}

it.each(['SMTPUTF8', 'BODY=8BITMIME', 'SIZE=9'])(
  'a message whose MAIL FROM has %s twice is refused by a sentence that names it',
  async (parameter) => {
    const client = open(await listen());
    await seen(() => client.said() !== '');
    await client.ask('EHLO mx.test');
    expect(await client.ask(`MAIL FROM:<a@mx.test> ${parameter} ${parameter}`)).toBe(501);
    expect(client.said()).toContain(`duplicate ${parameter.split('=')[0]} parameter`);
    expect(await client.ask(`MAIL FROM:<a@mx.test> ${parameter}`)).toBe(250);
  },
);

describe('guessed recipients', () => {
  it('are refused ten times, then the connection ends, and the next one may guess no address', async () => {
    const server = await listen();
    const first = open(server);
    await begin(first);
    expect(await guess(first, 12)).toEqual([...Array.from({ length: 10 }, () => 550), 421]);
    await seen(() => first.isOver());
    const second = open(server);
    await begin(second);
    expect(await guess(second, 3)).toEqual([421]);
    const neighbour = open(server, { from: '127.0.0.2' });
    await begin(neighbour);
    expect(await guess(neighbour, 1)).toEqual([550]);
  });

  it('do not keep their network from returning reports of our email, or from replying to known addresses', async () => {
    const server = await listen();
    const mail = await inbound.sentMail({ replyTo: `known@${INBOUND_DOMAIN}` });
    const before = open(server);
    await begin(before);
    expect(await before.ask(`RCPT TO:<known@${INBOUND_DOMAIN}>`)).toBe(250);
    await guess(before, 11);
    const after = open(server);
    await begin(after);
    expect(await after.ask(`RCPT TO:<known@${INBOUND_DOMAIN}>`)).toBe(250);
    expect(await inbound.deliver(inbound.verp.returnPath(mail.emailId), dsn(), '', server)).toMatch(/^250/);
    expect((await inbound.stateOf(mail)).status).toBe('BOUNCED');
  });

  it('are looked up by indexes', async () => {
    const em = inbound.database.orm.em.fork();
    await query(em, sql`set enable_seqscan = off`);
    const plans = await query(
      em,
      sql`
        explain select from template where lower(reply_to) = any(array['a@b', 'c@d'])
        union all select from campaign where lower(reply_to) = any(array['a@b', 'c@d'])`,
    );
    const plan = plans.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('template_by_reply_to');
    expect(plan).toContain('campaign_by_reply_to');
  });
});

describe('connections of guests', () => {
  it('are limited to five for one address; further ones wait a moment and are refused', async () => {
    const server = await listen();
    const clients = Array.from({ length: 8 }, () => open(server));
    await seen(() => clients.filter((each) => each.said().startsWith('421')).length === 3);
    expect(clients.filter((each) => each.said().startsWith('220')).length).toBe(5);
    const neighbour = open(server, { from: '127.0.0.2' });
    await seen(() => neighbour.said().startsWith('220'));
  });

  it('that wait are accepted when another one ends', async () => {
    const server = await listen();
    const clients = Array.from({ length: 5 }, () => open(server));
    await seen(() => clients.every((each) => each.said().startsWith('220')));
    const sixth = open(server);
    clients[0]!.socket.destroy();
    await seen(() => sixth.said().startsWith('220'));
  });

  it('leave connections for a server that has returned reports of our email', async () => {
    const server = await listen();
    const relay = open(server, { from: '127.0.1.1' });
    await begin(relay);
    const { emailId } = await inbound.sentMail();
    expect(await relay.ask(`RCPT TO:<${inbound.verp.returnPath(emailId)}>`)).toBe(250);
    const crowd = Array.from({ length: 100 }, (_, index) => open(server, { from: `127.0.2.${1 + (index % 25)}` }));
    await seen(() => crowd.filter((each) => each.said().startsWith('220')).length === 75);
    const again = open(server, { from: '127.0.1.1' });
    await seen(() => again.said().startsWith('220'));
    expect(crowd.filter((each) => each.said().startsWith('220')).length).toBe(75);
  });

  it.each([
    ['names no recipient in time', { recipientWaitMs: 300 }, async (client: Client) => begin(client)],
    [
      'drips its message',
      { messageMs: 300 },
      async (client: Client) => {
        await begin(client);
        await client.ask(`RCPT TO:<abuse@${INBOUND_DOMAIN}>`);
        await client.ask('DATA');
        client.socket.write('Subject: x\r\n');
      },
    ],
    ['stays for long', { guestConnectionMs: 300 }, async (client: Client) => begin(client)],
    [
      'sends commands without end',
      { commandOctets: 1_000, replies: 10_000 },
      async (client: Client) => {
        await begin(client);
        client.socket.write('NOOP\r\n'.repeat(1_000));
      },
    ],
    [
      'sends a message without end',
      { messageOctets: 3_000_000 },
      async (client: Client) => {
        await begin(client);
        await client.ask(`RCPT TO:<abuse@${INBOUND_DOMAIN}>`);
        await client.ask('DATA');
        client.socket.write('line of text\r\n'.repeat(400_000));
      },
    ],
  ])('end when a client %s', async (_name, bounds, act) => {
    const server = await listen({ bounds: { ...bounds, checkMs: 50 } });
    const client = open(server);
    await act(client);
    await seen(() => client.isOver());
    expect(client.said()).toMatch(/^421 4\.4\.2/m);
  });
});

describe('the PROXY protocol', () => {
  const header = (address: string) => `PROXY TCP4 ${address} 127.0.0.1 40000 25\r\n`;

  it('distinguishes clients behind a trusted forwarder', async () => {
    const server = await listen({ proxySources: ['127.0.0.0/30'] });
    const first = open(server, { header: header('192.0.2.1') });
    await begin(first);
    await guess(first, 11);
    await seen(() => first.isOver());
    const same = open(server, { header: header('192.0.2.1') });
    await begin(same);
    expect(await guess(same, 1)).toEqual([421]);
    const other = open(server, { header: header('192.0.2.2') });
    await begin(other);
    expect(await guess(other, 1)).toEqual([550]);
  });

  it('is refused from other clients, and required from a trusted forwarder', async () => {
    const server = await listen({ proxySources: ['127.0.0.0/30'] });
    const guest = open(server, { from: '127.0.0.9', header: header('192.0.2.3') });
    await seen(() => guest.said() !== '' || guest.isOver());
    expect(guest.said()).not.toMatch(/^220/);
    const direct = open(server, { from: '127.0.0.9' });
    await seen(() => direct.said().startsWith('220'));
    const silent = open(server, { header: 'EHLO mx.test\r\n' });
    await seen(() => silent.isOver());
    expect(silent.said()).toBe('');
  });
});
