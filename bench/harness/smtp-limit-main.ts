import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { createLinkSigner } from '../../shared/platform/links.ts';
import { compileEmail } from '../../shared/platform/mail/compiled-email.ts';
import { createMessageHeaders } from '../../shared/platform/mail/message-headers.ts';
import { createMessageComposer } from '../../shared/platform/mail/mime/compose.ts';
import { BENCH_MAIL } from './bench-mail.ts';

/** Sends `argv[3]` ready-made messages over 20 connections to port `argv[2]`, and prints how fast that went. */

const CONNECTIONS = 20;
const READY_MADE = 200;
const FROM = 'news@bench.test';

const port = Number(process.argv[2]);
const total = Number(process.argv[3]);

async function makeMessages(): Promise<Buffer[]> {
  const mail = await compileEmail({
    ...{ ...BENCH_MAIL, isTracked: true },
    brand: { name: 'Bench', postalAddress: null, logoUrl: null, language: null },
  });
  const composer = createMessageComposer({ from: { address: FROM, name: 'Bench' } });
  const links = createLinkSigner({
    appSecret: 'a secret for throw-away benches only',
    publicUrl: 'http://127.0.0.1:50000',
  });
  const headersOf = createMessageHeaders({
    ...{ type: BENCH_MAIL.type, source: 'campaign', from: 'news@bench.test' },
    ...{ sourceId: '00000000-0000-7000-8000-000000000000', projectId: '00000000-0000-7000-8000-000000000000' },
  });
  return Array.from({ length: READY_MADE }, (_, index) => {
    const data = { firstName: `Reader ${index}`, city: 'City 42', plan: 'plan-1', points: 500 };
    const id = `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    const contact = { id, email: `reader${index}@example.com`, subscribed: true, data };
    const urls = links.recipientUrls({ contactId: id, emailId: id });
    const rendered = mail.render({ contact, urls });
    const raw = composer.compose({
      ...rendered,
      to: { address: contact.email },
      messageId: `${id}@bench.test`,
      date: new Date(),
      headers: headersOf(urls),
    });
    return Buffer.from(raw as string, 'latin1');
  });
}

function connect(): Promise<SMTPConnection> {
  const connection = new SMTPConnection({ host: '127.0.0.1', port, ignoreTLS: true });
  return new Promise((resolve, reject) => {
    connection.once('error', reject);
    connection.connect((error) => (error ? reject(error) : resolve(connection)));
  });
}

const messages = await makeMessages();
const connections = await Promise.all(Array.from({ length: CONNECTIONS }, connect));
let next = 0;

async function sendOver(connection: SMTPConnection): Promise<void> {
  for (let index = next++; index < total; index = next++) {
    const envelope = { from: FROM, to: `reader${index + 1}@example.com` };
    const raw = messages[index % READY_MADE] ?? Buffer.alloc(0);
    await new Promise<void>((resolve, reject) => {
      connection.send(envelope, raw, (error) => (error ? reject(error) : resolve()));
    });
  }
}

const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await Promise.all(connections.map(sendOver));
const elapsedMs = performance.now() - startedAt;
const cpu = process.cpuUsage(cpuBefore);
for (const connection of connections) connection.quit();
const bytesPerMail = messages.reduce((sum, message) => sum + message.length, 0) / messages.length;
const cpuMsPerMail = (cpu.user + cpu.system) / 1000 / total;
process.stdout.write(`${JSON.stringify({ perSecond: (total / elapsedMs) * 1000, cpuMsPerMail, bytesPerMail })}\n`);
