import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { createLinkSigner } from '../../shared/sending/compose/links.ts';
import { compileEmail } from '../../shared/sending/compose/compiled-email.ts';
import { createMessageHeaders } from '../../shared/sending/compose/message-headers.ts';
import { createMessageComposer } from '../../shared/sending/compose/mime/compose.ts';
import { createSmtpPool } from '../../shared/sending/transport/smtp-pool.ts';
import { BENCH_MAIL } from './bench-mail.ts';

/**
 * Sends `argv[3]` ready-made messages over 20 connections to port `argv[2]`, and prints how fast that went. With `own`
 * in `argv[4]` it uses the SMTP client of the worker, which waits for one reply a message; otherwise it uses
 * nodemailer's client, which waits for four.
 */

const CONNECTIONS = 20;
const READY_MADE = 200;
const FROM = 'news@bench.test';

const port = Number(process.argv[2]);
const total = Number(process.argv[3]);
const isOwn = process.argv[4] === 'own';

async function makeMessages(): Promise<string[]> {
  const mail = await compileEmail({
    ...BENCH_MAIL,
    isTracked: true,
    topic: null,
    brand: { name: 'Bench', displayName: null, postalAddress: null, logoUrl: null, brandColor: null, language: null },
  });
  const composer = createMessageComposer({ from: { address: FROM, name: 'Bench' } });
  const links = createLinkSigner({
    appSecret: 'a secret for throw-away benches only',
    publicUrl: 'http://127.0.0.1:50000',
  });
  const headersOf = createMessageHeaders({
    type: BENCH_MAIL.type,
    source: 'campaign',
    from: 'news@bench.test',
    sourceId: '00000000-0000-7000-8000-000000000000',
    projectId: '00000000-0000-7000-8000-000000000000',
    topic: null,
    listName: null,
  });
  return Array.from({ length: READY_MADE }, (_, index) => {
    const data = { firstName: `Reader ${index}`, city: 'City 42', plan: 'plan-1', points: 500 };
    const id = `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    const contact = { id, email: `reader${index}@example.com`, subscribed: true, data };
    const urls = links.recipientUrls({ contactId: id, emailId: id, projectId: id });
    const rendered = mail.render({ contact, urls });
    const raw = composer.compose({
      ...rendered,
      to: { address: contact.email },
      messageId: `${id}@bench.test`,
      date: new Date(),
      headers: headersOf(urls),
    });
    return raw as string;
  });
}

function connect(): Promise<SMTPConnection> {
  const connection = new SMTPConnection({ host: '127.0.0.1', port, ignoreTLS: true });
  return new Promise((resolve, reject) => {
    connection.once('error', reject);
    connection.connect((error) => (error ? reject(error) : resolve(connection)));
  });
}

type Send = (to: string, message: string, octets: Buffer) => Promise<void>;

interface Client {
  /** One function for each message that the client can send at the same time. */
  senders: Send[];
  end: () => Promise<void>;
}

async function openNodemailer(): Promise<Client> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, connect));
  return {
    senders: connections.map((connection) => (to, _message, octets) => {
      return new Promise<void>((resolve, reject) => {
        connection.send({ from: FROM, to }, octets, (error) => (error ? reject(error) : resolve()));
      });
    }),
    end: async () => connections.forEach((connection) => connection.quit()),
  };
}

function openPool(): Client {
  const logger = { warn: (_fields: object, text: string) => process.stderr.write(`${text}\n`) };
  const pool = createSmtpPool({ urls: [`smtp://127.0.0.1:${port}`], maxConnections: CONNECTIONS, logger });
  const send: Send = async (to, message) => {
    const { kind, reply } = await pool.send({ from: FROM, to }, message, { urgency: 'transactional' });
    if (kind !== 'accepted') throw new Error(reply);
  };
  return { senders: Array.from({ length: pool.capacity }, () => send), end: () => pool.close() };
}

const messages = (await makeMessages()).map((text) => ({ text, octets: Buffer.from(text, 'latin1') }));
const client = isOwn ? openPool() : await openNodemailer();
let next = 0;

async function sendMessages(send: Send): Promise<void> {
  for (let index = next++; index < total; index = next++) {
    const { text = '', octets = Buffer.alloc(0) } = messages[index % READY_MADE] ?? {};
    await send(`reader${index + 1}@example.com`, text, octets);
  }
}

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await Promise.all(client.senders.map(sendMessages));
const elapsedMs = performance.now() - startedAt;
const cpu = process.cpuUsage(cpuBefore);
await client.end();
const bytesPerMail = messages.reduce((sum, { octets }) => sum + octets.length, 0) / messages.length;
const cpuMsPerMail = (cpu.user + cpu.system) / 1000 / total;
process.stdout.write(`${JSON.stringify({ perSecond: (total / elapsedMs) * 1000, cpuMsPerMail, bytesPerMail })}\n`);
