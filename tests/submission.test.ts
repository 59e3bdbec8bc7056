import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Submission } from '../api/submission/submission-server.ts';
import { sql } from '../shared/database/sql.ts';
import { createTestCertificate } from './support/certificate.ts';
import { INBOUND_DOMAIN, startStackInbound, type StackInbound } from './support/inbound.ts';
import type { ReceivedMessage } from './support/received-messages.ts';
import { query } from './support/rows.ts';
import { eventually, startTestStack, type TestStack } from './support/stack.ts';
import { openClient, plain, startTestSubmission, submit, logIn } from './support/submission.ts';

let stack: TestStack;
let inbound: StackInbound;
let folder: string;
let server: Submission & { port: number };
beforeAll(async () => {
  stack = await startTestStack({
    config: { INBOUND_DOMAIN, INBOUND_SMTP_PORT: 0, DELIVERY_RETRY_SECONDS: [0.5], API_RATE_LIMIT_PER_MINUTE: 100_000 },
  });
  inbound = await startStackInbound(stack);
  folder = await mkdtemp(path.join(tmpdir(), 'everpost-submission-'));
  const { key, cert } = createTestCertificate('smtp.everpost.test');
  const files = { key: path.join(folder, 'key.pem'), cert: path.join(folder, 'cert.pem') };
  await Promise.all([writeFile(files.key, key), writeFile(files.cert, cert)]);
  server = await startTestSubmission(stack, {
    config: { SUBMISSION_TLS_PORT: 0, SUBMISSION_TLS_KEY_FILE: files.key, SUBMISSION_TLS_CERT_FILE: files.cert },
  });
});
afterAll(async () => {
  await server.close();
  await inbound.close();
  await stack.stop();
  await rm(folder, { recursive: true });
});

const arrived = (address: string): Promise<ReceivedMessage> =>
  eventually(() => Promise.resolve(stack.sink.messages().find(({ to }) => to.includes(address)) ?? false), 30_000);
const FROM = 'Shop <hello@example.com>';
const FILE = Buffer.from(Array.from({ length: 200_000 }, (_, i) => (i * 37) % 256));

/** Sends by nodemailer. */
async function send(mail: SendMailOptions, options: object = {}, key = stack.keys.secretKey): Promise<string> {
  const transport = createTransport({
    host: '127.0.0.1',
    port: server.port,
    tls: { rejectUnauthorized: false },
    auth: { user: 'everpost', pass: key },
    ...options,
  });
  try {
    const { response } = await transport.sendMail({ from: FROM, subject: 'Hello', text: 'Hello', ...mail });
    return response;
  } finally {
    transport.close();
  }
}

const PYTHON = `
import smtplib, ssl, sys
from email.message import EmailMessage
host, port, tls_port, key, payload = sys.argv[1:]
context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
mail = EmailMessage()
mail['From'] = 'Grüße <hello@example.com>'; mail['To'] = 'one@py.test'; mail['Cc'] = 'two@py.test'; mail['Bcc'] = 'three@py.test'
mail['Subject'] = 'Grüße aus Python'; mail['X-Everpost-Tag'] = 'python'
mail.set_content('Hällo\\n.\\n..dots\\n'); mail.add_alternative('<p>Hällo</p>', subtype='html')
with open(payload, 'rb') as f: mail.add_attachment(f.read(), maintype='application', subtype='octet-stream', filename='fülle.bin')
with smtplib.SMTP(host, int(port)) as client:
    client.starttls(context=context); client.login('anything', key); print(client.send_message(mail))
with smtplib.SMTP_SSL(host, int(tls_port), context=context) as client:
    client.login('everpost', key)
    client.sendmail('x@y.test', ['ssl@py.test'], b'From: hello@example.com\\nSubject: raw\\nContent-Type: text/plain; charset=utf-8\\nContent-Transfer-Encoding: 8bit\\n\\n' + 'grüße 8bit'.encode(), mail_options=['BODY=8BITMIME'])
    try: client.sendmail('x@y.test', ['ssl@py.test'], 'From: hello@other.test\\n\\nhi')
    except smtplib.SMTPDataError as error: print(error.smtp_code, error.smtp_error.decode())
    try: client.sendmail('x@y.test', ['bad@localhost'], 'From: hello@example.com\\n\\nhi')
    except smtplib.SMTPRecipientsRefused as error: print(error.recipients)
`;

describe("Python's smtplib", () => {
  it('sends with STARTTLS and with TLS, and is told what is wrong', async () => {
    const payload = path.join(folder, 'payload.bin');
    await writeFile(payload, FILE);
    const ports = [server.port, server.tlsPort].map(String);
    const child = spawn('python3', ['-c', PYTHON, '127.0.0.1', ...ports, stack.keys.secretKey, payload], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = (await text(child.stdout)).trim().split('\n');
    expect(lines).toEqual([
      '{}',
      expect.stringMatching(/^550 5\.7\.1 .*other\.test is not registered/),
      expect.stringMatching(/bad@localhost.*553.*5\.1\.3/),
    ]);
    for (const address of ['one@py.test', 'two@py.test', 'three@py.test']) {
      const message = await arrived(address);
      const mail = await message.parsed();
      expect(mail.text?.replaceAll('\r\n', '\n')).toBe('Hällo\n.\n..dots\n');
      expect([mail.subject, mail.from?.value[0]?.name, mail.attachments[0]?.filename]).toEqual([
        'Grüße aus Python',
        'Grüße',
        'fülle.bin',
      ]);
      expect(mail.attachments[0]?.content.equals(FILE)).toBe(true);
      expect(message.raw.toString('latin1')).not.toMatch(/^(?:bcc|x-everpost-tag|received):/im);
      expect(mail.cc).toMatchObject({ text: 'two@py.test' });
    }
    const eight = await arrived('ssl@py.test');
    expect(eight.raw.includes(Buffer.from('\r\n\r\ngrüße 8bit\r\n'))).toBe(true);
  });
});

describe('nodemailer', () => {
  it('sends with STARTTLS by LOGIN, and over TLS by PLAIN, through a pool', async () => {
    expect(await send({ to: 'login@nm.test' }, { authMethod: 'LOGIN', requireTLS: true })).toMatch(
      /^250 2\.6\.0 Accepted/,
    );
    expect(await send({ to: 'plain@nm.test' }, { port: server.tlsPort, secure: true, pool: true })).toMatch(/^250/);
    await Promise.all([arrived('login@nm.test'), arrived('plain@nm.test')]);
    await expect(send({ to: 'x@nm.test' }, {}, `sk_${'0'.repeat(64)}`)).rejects.toMatchObject({ responseCode: 535 });
    await expect(send({ to: 'x@nm.test', from: 'a@other.test' })).rejects.toMatchObject({ responseCode: 550 });
  });

  it('gets each octet of its message to the mailbox, with a signature that holds', async () => {
    const project = await stack.createProject();
    const { body } = await project.api('POST', '/domains', { body: { domain: 'signed.test' } });
    await query(
      stack.em(),
      sql`update sender_domain set dns_verified = true, verified = true, verified_at = now() where domain = 'signed.test'`,
    );
    const [record] = body.records as [{ name: string; value: string }];
    const mail = {
      from: 'a@signed.test',
      to: 'List <dkim@nm.test>',
      cc: 'else@nm.test',
      text: 'tëxt',
      html: '<a href="https://a.test/">x</a>',
      attachments: [{ filename: 'a.bin', content: FILE }],
      headers: { 'Auto-Submitted': 'auto-replied' },
    };
    await send(mail, {}, project.keys.secretKey);
    const { raw } = await arrived('dkim@nm.test');
    expect(raw.toString('latin1').match(/^Auto-Submitted:.*$/gim)).toEqual(['Auto-Submitted: auto-replied']);
    const composed = await createTransport({ streamTransport: true, buffer: true, newline: 'windows' }).sendMail(mail);
    const bodyOf = (message: Buffer) =>
      message
        .subarray(message.indexOf('\r\n\r\n'))
        .toString('latin1')
        .replace(/--_NmP-[\w-]+/g, '--b');
    expect(bodyOf(raw).replace(/boundary="[^"]*"/g, '')).toBe(
      bodyOf(composed.message as Buffer).replace(/boundary="[^"]*"/g, ''),
    );
    const { results } = await dkimVerify(raw, {
      resolver: (name: string) =>
        name === record.name ? Promise.resolve([[record.value]]) : Promise.reject(new Error(name)),
    });
    expect(results.map(({ status }: any) => status.result)).toEqual(['pass']);
  });
});

describe('a submitted message', () => {
  it('is tracked when its project tracks all mail, and its clicks are counted', async () => {
    const project = await stack.createProject();
    await query(stack.em(), sql`update project set tracking = 'ENABLED' where id = ${project.project.id}`);
    await send(
      { to: 'tracked@nm.test', html: '<p><a href="https://shop.test/?a=1&amp;b=2">x</a></p>' },
      {},
      project.keys.secretKey,
    );
    const html = String((await (await arrived('tracked@nm.test')).parsed()).html);
    const link = /href="([^"]+)"/.exec(html)?.[1] ?? '';
    expect(html).toContain('/t/o/');
    const reply = await fetch(link.replace(stack.config.publicUrl, stack.url), { redirect: 'manual' });
    expect(reply.headers.get('location')).toBe('https://shop.test/?a=1&b=2');
    await eventually(async () => {
      const { body } = await project.api('GET', '/emails?address=tracked@nm.test');
      return body.emails[0]?.clicks === 1;
    });
  });

  it('bounces to its email record, is suppressed at the next one, and is known by its tags', async () => {
    await send({ to: 'bouncer@nm.test', headers: { 'X-Everpost-Tag': 'order, welcome' } });
    const message = await arrived('bouncer@nm.test');
    expect(message.from).toMatch(/^bounce\+[a-z2-7]{40}@in\.everpost\.test$/);
    await inbound.report(message);
    const find = async () => (await stack.api('GET', '/emails?address=bouncer@nm.test')).body.emails;
    const [bounced] = await eventually(async () => {
      const emails = await find();
      return emails[0]?.status === 'BOUNCED' && emails;
    });
    const { body: answer } = await stack.api('GET', `/emails/${bounced.id}`);
    expect(answer).toMatchObject({ type: 'TRANSACTIONAL', tags: ['order', 'welcome'] });
    expect(answer.timeline.map(({ type }: any) => type)).toEqual(
      expect.arrayContaining(['queued', 'accepted', 'bounced']),
    );
    await send({ to: 'bouncer@nm.test' });
    await eventually(async () => (await find())[0]?.status === 'SUPPRESSED');
  });

  it('follows the rules of the sandbox', async () => {
    await send({ to: 'bounced@sandbox.everpost.test, fine@nm.test' });
    await arrived('fine@nm.test');
    await eventually(async () => {
      const { body } = await stack.api('GET', '/emails?address=bounced@sandbox.everpost.test');
      return body.emails[0]?.status === 'BOUNCED';
    });
  });
});

describe('a client on another machine', () => {
  it('is offered a login only after TLS, and its key is not read before', async () => {
    const open = await startTestSubmission(stack, { config: { HOST: '0.0.0.0' } });
    const client = await openClient(open.port);
    expect(await client.ask('EHLO client.test')).toContain('AUTH PLAIN LOGIN');
    await open.close();
    const { networkInterfaces } = await import('node:os');
    const own = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
    if (own === undefined) return;
    const outside = await startTestSubmission(stack, { config: { HOST: own } });
    const { connect } = await import('node:net');
    const socket = connect(outside.port, own);
    const said: string[] = [];
    socket.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    const ask = async (line: string, reply: RegExp) => {
      socket.write(`${line}\r\n`);
      await eventually(() => Promise.resolve(reply.test(said.join(''))));
    };
    await eventually(() => Promise.resolve(said.length > 0));
    await ask('EHLO client.test', /250 SIZE/);
    expect(said.join('')).not.toContain('AUTH');
    await ask(`AUTH PLAIN ${plain(stack.keys.secretKey)}`, /538 5\.7\.11 Begin TLS/);
    await ask('MAIL FROM:<a@b.test>', /530 5\.7\.0 Log in first/);
    socket.destroy();
    await outside.close();
  });

  it('relays nothing without a login', async () => {
    const client = await openClient(server.port);
    await client.ask('EHLO client.test');
    expect(await submit(client, ['victim@mail.test'], 'From: a@example.com\n\nhi')).toMatch(/^530/);
    const logged = await logIn(server.port, stack.keys.publicKey);
    expect(await submit(logged, ['victim@mail.test'], 'From: a@example.com\n\nhi')).toMatch(/^530/);
  });
});
