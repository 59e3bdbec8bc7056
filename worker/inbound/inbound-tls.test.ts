import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { createLogger } from '../../shared/platform/logger.ts';
import { readConfig } from '../../shared/platform/config.ts';
import { createTestCertificate, type TestCertificate } from '../../tests/support/certificate.ts';
import { eventually } from '../../tests/support/eventually.ts';
import type { InboundMail } from './inbound-mail.ts';
import { startInboundServer, type InboundServer, type InboundServerOptions } from './inbound-server.ts';
import { openTls } from '../../shared/platform/smtp/tls-identity.ts';

const DOMAIN = 'in.everpost.test';
const logger = createLogger({ level: 'silent', name: 'test' });
const taken: string[] = [];
/** Accepts everything, because this test is not about what happens to messages. */
const mail: InboundMail = {
  findRecipient: () => Promise.resolve({ kind: 'reports' }),
  take(raw) {
    taken.push(raw.toString());
    return Promise.resolve({ proved: [] });
  },
};

let folder: string;
let files: { key: string; cert: string };
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'everpost-tls-'));
  files = { key: path.join(folder, 'key.pem'), cert: path.join(folder, 'cert.pem') };
});
afterAll(() => rm(folder, { recursive: true }));

async function replace({ key, cert }: Partial<TestCertificate>): Promise<void> {
  for (const [file, text] of [
    [files.key, key],
    [files.cert, cert],
  ] as const) {
    if (text === undefined) continue;
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }
}

async function startServer(options: Partial<InboundServerOptions> = {}): Promise<InboundServer> {
  const tls = await openTls({ listener: 'INBOUND', files, logger, reloadMs: 0 });
  return startInboundServer({ port: 0, domain: DOMAIN, mail, logger, tls, ...options });
}

/** Sends a command and collects the server's lines up to one with this beginning. */
async function converse(socket: Socket, command: string | undefined, until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (!until.test(text)) return;
      socket.removeAllListeners('data');
      resolve(text);
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(`closed after ${text}`)));
    if (command !== undefined) socket.write(`${command}\r\n`);
  });
}

async function upgrade(port: number, options: object = {}): Promise<TLSSocket> {
  const socket = connect(port, '127.0.0.1');
  await converse(socket, undefined, /^220 /m);
  expect(await converse(socket, 'EHLO mx.test', /^250 /m)).toMatch(/^250[ -]STARTTLS\r$/m);
  await converse(socket, 'STARTTLS', /^220 /m);
  socket.removeAllListeners();
  return new Promise((resolve, reject) => {
    const secured = connectTls({ socket, servername: DOMAIN, rejectUnauthorized: false, ...options }, () =>
      resolve(secured),
    );
    secured.once('error', (error: Error) => {
      socket.destroy();
      reject(error);
    });
  });
}

describe('STARTTLS', () => {
  it('is not offered without a certificate', async () => {
    const server = await startInboundServer({ port: 0, domain: DOMAIN, mail, logger });
    const socket = connect(server.port, '127.0.0.1');
    await converse(socket, undefined, /^220 /m);
    expect(await converse(socket, 'EHLO mx.test', /^250 /m)).not.toContain('STARTTLS');
    socket.destroy();
    await server.close();
  });

  it('uses the certificate of the files, which verifies', async () => {
    const identity = createTestCertificate(DOMAIN);
    await replace(identity);
    const server = await startServer();
    const transport = createTransport({
      host: '127.0.0.1',
      port: server.port,
      requireTLS: true,
      tls: { ca: identity.cert, servername: DOMAIN },
    });
    await transport.sendMail({ envelope: { from: 'a@b.test', to: `abuse@${DOMAIN}` }, raw: 'Subject: secret\r\n\r\n' });
    transport.close();
    expect(taken.at(-1)).toContain('Subject: secret');
    await server.close();
  });

  it('does not hide the octets of a client from the limits', async () => {
    await replace(createTestCertificate(DOMAIN));
    const server = await startServer({ bounds: { commandOctets: 20_000, checkMs: 50 } });
    const socket = await upgrade(server.port);
    const isEnded = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.resume().on('error', () => undefined);
    socket.write('NOOP\r\n'.repeat(5_000));
    await isEnded;
    await server.close();
  });

  it('supports TLS 1.2 and 1.3 and nothing older', async () => {
    await replace(createTestCertificate(DOMAIN));
    const server = await startServer();
    const protocolOf = async (version: string) => {
      const socket = await upgrade(server.port, {
        minVersion: version,
        maxVersion: version,
        ciphers: 'ALL:@SECLEVEL=0',
      });
      const protocol = socket.getProtocol();
      socket.destroy();
      return protocol;
    };
    expect([await protocolOf('TLSv1.2'), await protocolOf('TLSv1.3')]).toEqual(['TLSv1.2', 'TLSv1.3']);
    await expect(protocolOf('TLSv1.1')).rejects.toThrow();
    await server.close();
  });

  it('uses a renewed certificate without a restart, and keeps the old one while only one file is replaced', async () => {
    const [first, second] = [createTestCertificate(DOMAIN), createTestCertificate(DOMAIN)];
    await replace(first);
    const server = await startServer();
    const presented = async () => {
      const socket = await upgrade(server.port);
      const certificate = socket.getPeerX509Certificate();
      socket.destroy();
      return certificate?.toString();
    };
    expect(await presented()).toBe(first.cert);
    await replace({ cert: second.cert });
    expect(await presented()).toBe(first.cert);
    await rm(files.key);
    expect(await presented()).toBe(first.cert);
    await replace({ key: second.key });
    expect(await presented()).toBe(second.cert);
    await server.close();
  });
});

const environment = { DATABASE_URL: 'postgres://h/d', APP_SECRET: 'a secret of at least 32 characters' };

describe('the files for STARTTLS', () => {
  it('must be set together', () => {
    expect(() => readConfig({ ...environment, INBOUND_TLS_KEY_FILE: '/key.pem' })).toThrow(
      'INBOUND_TLS_CERT_FILE: is required together with INBOUND_TLS_KEY_FILE',
    );
    expect(() => readConfig({ ...environment, INBOUND_TLS_CERT_FILE: '/cert.pem' })).toThrow(
      'INBOUND_TLS_KEY_FILE: is required together with INBOUND_TLS_CERT_FILE',
    );
  });

  it('are named when they cannot be used, without their content', async () => {
    const [one, other] = [createTestCertificate(DOMAIN), createTestCertificate(DOMAIN)];
    const fault = async () => {
      const error = await openTls({ listener: 'INBOUND', files, logger }).catch((reason: unknown) => reason);
      return [(error as Error).constructor.name, (error as Error).message];
    };
    await rm(files.cert, { force: true });
    await replace({ key: one.key });
    expect(await fault()).toEqual(['ConfigError', `INBOUND_TLS_CERT_FILE: ${files.cert} cannot be read (ENOENT)`]);
    await replace({ cert: 'not a certificate' });
    expect(await fault()).toEqual(['ConfigError', `INBOUND_TLS_CERT_FILE: ${files.cert} holds no certificate in PEM`]);
    await replace({ cert: other.cert });
    expect(await fault()).toEqual([
      'ConfigError',
      `INBOUND_TLS_KEY_FILE: ${files.key} is not the key of the certificate in ${files.cert}`,
    ]);
    await replace({ key: 'secret words' });
    expect(await fault()).toEqual([
      'ConfigError',
      `INBOUND_TLS_KEY_FILE: ${files.key} holds no private key in PEM without a passphrase`,
    ]);
  });
});

it('INBOUND_PROXY_PROTOCOL requires addresses or networks in INBOUND_PROXY_SOURCES', () => {
  const forwarded = { ...environment, INBOUND_PROXY_PROTOCOL: 'true' };
  expect(() => readConfig(forwarded)).toThrow('INBOUND_PROXY_SOURCES: is required together with');
  expect(() => readConfig({ ...forwarded, INBOUND_PROXY_SOURCES: '10.0.0.0/8,everybody' })).toThrow(
    'INBOUND_PROXY_SOURCES: must be addresses or networks',
  );
  const { INBOUND_PROXY_SOURCES } = readConfig({ ...forwarded, INBOUND_PROXY_SOURCES: '10.0.0.0/8, 192.0.2.1,::1' });
  expect(INBOUND_PROXY_SOURCES).toEqual(['10.0.0.0/8', '192.0.2.1/32', '::1/128']);
});

describe('a connection that only chats', () => {
  const CHATTER = ['NOOP', 'RSET', 'VRFY somebody', 'HELP', 'MAIL nonsense', 'RCPT TO:<a@b.test>', 'EHLO mx.test'];

  it.each(CHATTER)('is ended with 421 after some commands: %s', async (command) => {
    const server = await startInboundServer({ port: 0, domain: DOMAIN, mail, logger });
    const socket = connect(server.port, '127.0.0.1');
    await converse(socket, undefined, /^220 /m);
    await converse(socket, 'EHLO mx.test', /^250 /m);
    let text = '';
    const isEnded = new Promise<void>((resolve) => socket.removeAllListeners('close').once('close', () => resolve()));
    socket.on('data', (chunk) => (text += String(chunk))).on('error', () => undefined);
    socket.write(`${command}\r\n`.repeat(3_000));
    // It comes to an end here, after the 3,000th reply, where the connection was not ended.
    socket.write('QUIT\r\n');
    await isEnded;
    expect(text.trimEnd().split('\r\n').at(-1)).toMatch(/^421 /);
    expect(text.match(/\r\n\d{3} /g)?.length).toBeLessThan(200);
    await server.close();
  });

  it('is not ended while it completes messages, each with many recipients', async () => {
    const server = await startInboundServer({ port: 0, domain: DOMAIN, mail, logger });
    const socket = connect(server.port, '127.0.0.1').setMaxListeners(0);
    await converse(socket, undefined, /^220 /m);
    await converse(socket, 'EHLO mx.test', /^250 /m);
    for (let message = 0; message < 3; message += 1) {
      await converse(socket, 'MAIL FROM:<a@b.test>', /^250 /m);
      for (let n = 0; n < 100; n += 1) await converse(socket, `RCPT TO:<abuse+${n}@${DOMAIN}>`, /^(?:250|452) /m);
      await converse(socket, 'DATA', /^354 /m);
      await converse(socket, 'Subject: report\r\n\r\n.', /^250 /m);
    }
    socket.destroy();
    await server.close();
  });
});

describe('a connection that holds a place', () => {
  /** As many as one guest may have. */
  const PLACES = 5;
  const silent = async (socket: Socket): Promise<void> => void (await converse(socket, 'STARTTLS', /^220 /m));

  it.each<[string, (socket: Socket) => Promise<unknown>]>([
    ['never reads its replies', (socket) => Promise.resolve(socket.pause().write('NOOP\r\n'.repeat(3_000)))],
    ['begins TLS and is silent', silent],
    [
      'begins TLS and goes on octet by octet',
      async (socket) => {
        await silent(socket);
        const timer = setInterval(() => socket.write('\u0016'), 50);
        socket.once('close', () => clearInterval(timer));
      },
    ],
    ['ends at once', (socket) => Promise.resolve(socket.destroy())],
    [
      'ends within TLS',
      async (socket) => {
        await silent(socket);
        const secure = connectTls({ socket, rejectUnauthorized: false });
        await new Promise((resolve) => secure.once('secureConnect', resolve));
        secure.destroy();
      },
    ],
  ])('gives it back when it %s', async (_name, hold) => {
    await replace(createTestCertificate(DOMAIN));
    const server = await startServer({ bounds: { recipientWaitMs: 500, checkMs: 50 } });
    const sockets: Socket[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (let n = 0; n < PLACES; n += 1) {
        // On a slow machine a connection may end before it holds its place.
        await eventually(async () => {
          const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
          sockets.push(socket);
          await converse(socket, undefined, /^220 /m);
          await converse(socket, 'EHLO mx.test', /^250 /m);
          await hold(socket);
          return true;
        });
      }
    }
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
});
