import { connect, type Socket } from 'node:net';
import { createSharedParts } from '../../api/app.ts';
import { createAuthenticatorOrm } from '../../api/http/authenticator.ts';
import { startSubmission, type Submission, type SubmissionDeps } from '../../api/submission/submission-server.ts';
import type { Config } from '../../shared/platform/config.ts';
import { createLogger } from '../../shared/platform/logger.ts';
import type { TestApi } from './api.ts';

/** Everything of a listener that its tests change. */
export interface TestSubmissionOptions extends Pick<SubmissionDeps, 'bounds' | 'wrongKeyMs'> {
  config?: Partial<Config>;
}

/** Listens for submission beside a test API, on a free port. */
export async function startTestSubmission(
  api: TestApi,
  { config: changes, ...options }: TestSubmissionOptions = {},
): Promise<Submission & { port: number }> {
  const config = { ...api.config, HOST: '127.0.0.1', SUBMISSION_PORT: 0, ...changes };
  const logger = createLogger({ level: config.LOG_LEVEL, name: 'submission' });
  const authenticatorOrm = await createAuthenticatorOrm({
    databaseUrl: config.DATABASE_URL,
    applicationName: 'everpost-test-submission',
  });
  const deps = { config, orm: api.orm, authenticatorOrm, logger, engagements: undefined as never };
  const submission = await startSubmission({ ...deps, ...createSharedParts(deps), wrongKeyMs: 1, ...options });
  return {
    port: submission.port ?? 0,
    tlsPort: submission.tlsPort,
    async close() {
      await submission.close();
      await authenticatorOrm.close();
    },
  };
}

/** A client that says exactly what a test wants. */
export interface RawClient {
  socket: Socket;
  /** Everything that the server has said. */
  said: () => string;
  /** Sends a line and waits for the whole reply. @returns the reply; '' when the connection ended instead */
  ask: (line: string) => Promise<string>;
  /** Sends octets and waits for nothing. */
  write: (octets: string | Buffer) => void;
  isOver: () => boolean;
}

/** Whether the replies end with a complete one: `250 `, not `250-`. */
const REPLY = /(?:^|\r\n)\d{3} [^\r\n]*\r\n$/;

/** Connects and waits for the greeting. */
export async function openClient(port: number, from = '127.0.0.1'): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  let said = '';
  let isOver = false;
  let heard: () => void = () => undefined;
  const more = () => new Promise<void>((resolve) => (heard = resolve));
  socket.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
    heard();
  });
  socket
    .on('error', () => undefined)
    .on('close', () => {
      isOver = true;
      heard();
    });
  await more();
  return {
    socket,
    said: () => said,
    async ask(line) {
      const before = said.length;
      socket.write(`${line}\r\n`);
      while (!REPLY.test(said.slice(before)) && !isOver) await more();
      return said.slice(before).trim();
    },
    write: (octets) => void socket.write(octets),
    isOver: () => isOver,
  };
}

/** The argument of AUTH PLAIN (RFC 4616). */
export const plain = (key: string, user = 'everpost') => Buffer.from(`\0${user}\0${key}`).toString('base64');

/** Connects, greets and logs in. */
export async function logIn(port: number, key: string, from?: string): Promise<RawClient> {
  const client = await openClient(port, from);
  await client.ask('EHLO client.test');
  await client.ask(`AUTH PLAIN ${plain(key)}`);
  return client;
}

/** Sends a message over a connection that is logged in. @returns the last reply */
export async function submit(client: RawClient, to: string[], content: string): Promise<string> {
  for (const line of ['MAIL FROM:<www-data@web.internal>', ...to.map((each) => `RCPT TO:<${each}>`), 'DATA']) {
    const reply = await client.ask(line);
    if (!/^[23]/.test(reply)) return reply;
  }
  return client.ask(`${content.replace(/\r?\n/g, '\r\n').replace(/^\./gm, '..')}\r\n.`);
}
