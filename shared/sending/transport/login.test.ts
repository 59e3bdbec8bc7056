import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { SMTPServer, type SMTPServerAuthentication } from 'smtp-server';
import { useCleanUps } from '../../../tests/support/clean-ups.ts';
import { createSmtpPool } from './smtp-pool.ts';

const METHODS = ['PLAIN', 'LOGIN', 'CRAM-MD5', 'XOAUTH2'] as const;
const USER = 'käthe+news@shop.example';
const PASS = 'pä:ss/wo@rd %20';
const RAW = Buffer.from('From: a@example.com\r\nTo: b@example.org\r\nSubject: Test\r\n\r\nHello\r\n');

const cleanUp = useCleanUps();

function isRight(auth: SMTPServerAuthentication): boolean {
  if (auth.username !== USER) return false;
  if (auth.method === 'XOAUTH2') return auth.accessToken === PASS;
  return auth.method === 'CRAM-MD5' ? auth.validatePassword(PASS) : auth.password === PASS;
}

/**
 * An independent server that accepts messages only after a login.
 * @returns its port and its logins
 */
async function startServer(
  authMethods: readonly string[],
  secure: boolean,
): Promise<{ port: number; logins: string[] }> {
  const logins: string[] = [];
  const server = new SMTPServer({
    secure,
    authMethods: [...authMethods],
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 200,
    onAuth(auth, session, callback) {
      logins.push(`${auth.method} ${session.secure ? 'over TLS' : 'in clear'}`);
      if (isRight(auth)) callback(null, { user: USER });
      else if (auth.method === 'XOAUTH2') callback(null, { data: { status: '401', schemes: 'bearer' } });
      else callback(new Error('Wrong credentials'));
    },
    onData(stream, _session, callback) {
      stream.resume().once('end', () => callback(null));
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  cleanUp(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, logins };
}

async function send(scheme: string, port: number, pass: string, method?: string) {
  const query = `tls.rejectUnauthorized=false${method === undefined ? '' : `&authMethod=${method}`}`;
  const login = `${encodeURIComponent(USER)}:${encodeURIComponent(pass)}`;
  const pool = createSmtpPool({
    urls: [`${scheme}://${login}@127.0.0.1:${port}?${query}`],
    maxConnections: 1,
    logger: { warn: () => undefined },
  });
  cleanUp(() => pool.close({ timeoutMs: 1_000 }));
  return pool.send({ from: 'bounce@example.com', to: 'b@example.org' }, RAW);
}

describe.each([
  ['smtps', true],
  ['smtp', false],
] as const)('a login over %s', (scheme, secure) => {
  it.each(METHODS)('with %s is accepted by an independent server, and the message follows', async (method) => {
    const { port, logins } = await startServer(METHODS, secure);
    expect(await send(scheme, port, PASS, method)).toMatchObject({ kind: 'accepted' });
    expect(logins).toEqual([`${method} over TLS`]);
  });

  it.each(METHODS)(
    'with %s and the wrong secret ends the connection, and the error holds no secret',
    async (method) => {
      const { port, logins } = await startServer(METHODS, secure);
      const error = await send(scheme, port, 'wrong-secret', method).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'SmtpUnavailableError', code: 'EAUTH' });
      expect(JSON.stringify(error) + String(error)).not.toContain('wrong-secret');
      expect(logins).toEqual([`${method} over TLS`]);
    },
  );

  it.each(METHODS)('uses %s where the server offers nothing else', async (method) => {
    const { port, logins } = await startServer([method], secure);
    expect(await send(scheme, port, PASS)).toMatchObject({ kind: 'accepted' });
    expect(logins).toEqual([`${method} over TLS`]);
  });
});

it('A login fails when both sides share no mechanism', async () => {
  const { port, logins } = await startServer(['LOGIN'], true);
  await expect(send('smtps', port, PASS, 'NTLM')).rejects.toMatchObject({ code: 'EAUTH' });
  expect(logins).toEqual([]);
});
