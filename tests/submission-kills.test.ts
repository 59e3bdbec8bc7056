import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findFreePort } from '../local/processes/free-port.ts';
import { sql } from '../shared/database/sql.ts';
import { startTestApi, type TestApi } from './support/api.ts';
import { untilBlocked } from './support/database.ts';
import { eventually } from './support/eventually.ts';
import { startEverpostProcess, type EverpostProcess } from './support/everpost-process.ts';
import { query } from './support/rows.ts';
import { createSmtpSink, type SmtpSink } from './support/smtp-sink.ts';
import { logIn, openClient, submit, type RawClient } from './support/submission.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';
import { createTestNamespace, type TestNamespace } from './support/temporal.ts';
import { startWorkerProcess, type WorkerProcess } from './support/worker-process.ts';

/** `SUBMISSIONS=2000 npm test -- submission-kills` sends more. */
const MESSAGES = Number(process.env['SUBMISSIONS'] ?? 200);
const KILLS = Math.max(4, MESSAGES / 50);
const CLIENTS = 8;
const PATIENCE_MS = 120_000 + MESSAGES * 50;

let temporal: TestNamespace;
let sink: SmtpSink;
let prepared: TestApi;
let database: TcpProxy;
let worker: WorkerProcess;
let port: number;
let api: EverpostProcess | undefined;

async function startApi(): Promise<void> {
  const environment = { HOST: '127.0.0.1', PORT: String(await findFreePort(0)), SUBMISSION_PORT: String(port) };
  api = startEverpostProcess('api', { ...prepared.config, DATABASE_URL: database.url }, temporal, environment);
}

beforeAll(async () => {
  temporal = await createTestNamespace();
  sink = await createSmtpSink({ keepMessages: false });
  prepared = await startTestApi({
    config: { SMTP_URL: [sink.url], SMTP_CONNECTIONS: 4, API_RATE_LIMIT_PER_MINUTE: 10_000_000 },
  });
  database = await startTcpProxy(prepared.database.url);
  worker = startWorkerProcess(prepared.config, temporal);
  port = await findFreePort(0);
  await startApi();
});
afterAll(async () => {
  await Promise.all([api?.kill(), worker.kill()]);
  await temporal.close();
  await prepared.stop();
  await database.close();
  await sink.close();
});

const addressOf = (name: string, number: number) => `${name}${number}@mail.test`;
const contentFor = (to: string) =>
  `From: hello@example.com\nTo: ${to}\nMessage-ID: <${to}>\nSubject: Hello\n\n${'Hello\n'.repeat(2_000)}`;

/** A client as careful as a mail server: it sends a message again until it hears 250. */
async function sendAll(queue: string[], done: () => void): Promise<void> {
  let client: RawClient | undefined;
  for (let to = queue.shift(); to !== undefined; to = queue.shift()) {
    const address = to;
    await eventually(async () => {
      if (!client || client.isOver()) client = await logIn(port, prepared.keys.secretKey).catch(() => undefined);
      const reply = client ? await submit(client, [address], contentFor(address)) : '';
      // A refusal for good would be a fault of the server.
      if (reply.startsWith('5') && !reply.startsWith('530')) throw new Error(reply);
      if (!reply.startsWith('250')) client?.socket.destroy();
      return reply.startsWith('250');
    }, PATIENCE_MS);
    done();
  }
  client?.socket.destroy();
}

async function expectOnceEach(addresses: string[]): Promise<void> {
  await eventually(
    () => Promise.resolve(addresses.every((address) => sink.recipientCounts().has(address))),
    PATIENCE_MS,
  );
  expect(addresses.map((address) => sink.recipientCounts().get(address))).toEqual(addresses.map(() => 1));
  const stored = await query(
    prepared.em(),
    sql`select count(*)::int as emails from email where to_address = any(${addresses}::text[])`,
  );
  expect(stored).toEqual([{ emails: addresses.length }]);
}

describe('an API that is killed while clients submit', () => {
  it(
    'at each step of a message loses nothing after 250, and its repetition is sent once',
    async () => {
      const steps = ['EHLO', 'MAIL', 'RCPT', 'DATA', 'half', 'answered', 'all'];
      const addresses = steps.map((step) => `step-${step.toLowerCase()}@mail.test`);
      await eventually(() => openClient(port).then((client) => client.said().startsWith('220')), PATIENCE_MS);
      for (const [index, step] of steps.entries()) {
        const address = addresses[index]!;
        const content = contentFor(address).replaceAll('\n', '\r\n');
        const client = await logIn(port, prepared.keys.secretKey);
        const lines = ['MAIL FROM:<a@b.test>', `RCPT TO:<${address}>`, 'DATA'];
        for (const line of lines.slice(0, Math.min(index, 3))) await client.ask(line);
        if (step === 'half') client.write(content.slice(0, 5_000));
        if (step === 'all') client.write(`${content}\r\n.\r\n`);
        if (step === 'answered') expect(await client.ask(`${content}\r\n.`)).toMatch(/^250/);
      }
      await api?.kill();
      await startApi();
      await Promise.all(addresses.map((address) => sendAll([address], () => undefined)));
      await expectOnceEach(addresses);
    },
    2 * PATIENCE_MS,
  );

  it(
    'in the middle of a group of messages stores none of them, and their repetitions are stored once',
    async () => {
      const addresses = Array.from({ length: 6 }, (_, i) => addressOf('grouped', i));
      const clients = await Promise.all(addresses.map(() => logIn(port, prepared.keys.secretKey)));
      const blocker = prepared.em();
      await blocker.begin();
      await query(blocker, sql`lock table email in exclusive mode`);
      const replies = clients.map((client, i) => submit(client, [addresses[i]!], contentFor(addresses[i]!)));
      await untilBlocked(() => prepared.em());
      await api?.kill();
      expect((await Promise.all(replies)).filter((reply) => reply.startsWith('250'))).toEqual([]);
      await blocker.rollback();
      await startApi();
      await Promise.all(addresses.map((address) => sendAll([address], () => undefined)));
      await expectOnceEach(addresses);
    },
    2 * PATIENCE_MS,
  );

  it(
    'again and again, with PostgreSQL away in between, loses nothing and sends nothing twice',
    async () => {
      const addresses = Array.from({ length: MESSAGES }, (_, i) => addressOf('killed', i));
      const queue = [...addresses];
      let done = 0;
      const clients = Array.from({ length: CLIENTS }, () => sendAll(queue, () => (done += 1)));
      for (let kill = 1; kill <= KILLS; kill++) {
        await eventually(() => Promise.resolve(done >= (kill / (KILLS + 1)) * MESSAGES), PATIENCE_MS);
        if (kill % 2 === 0) {
          await database.cut();
          await database.restore();
        } else {
          await api?.kill();
          await startApi();
        }
      }
      await Promise.all(clients);
      await expectOnceEach(addresses);
    },
    2 * PATIENCE_MS,
  );
});
