import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawConnection {
  socket: Socket;
  /** What has been received so far. */
  received: () => string;
  /** Resolves when the connection is over, with everything received. */
  ended: Promise<string>;
}

/** Opens a connection for requests that are not valid HTTP. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  const received = () => Buffer.concat(chunks).toString('latin1');
  socket.on('data', (chunk) => chunks.push(chunk));
  // Only the end of the connection matters, not its error.
  socket.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(received())));
  await once(socket, 'connect');
  return { socket, received, ended };
}

/** Writes the data and half-closes the connection. @returns everything received until the connection was closed */
export async function sendRaw(url: string, data: string | Buffer): Promise<string> {
  const { socket, ended } = await openRaw(url);
  socket.end(data);
  return ended;
}

/** Writes the data. @returns everything received until the other side closed the connection */
export async function exchangeRaw(url: string, data: string): Promise<string> {
  const { socket, ended } = await openRaw(url);
  socket.write(data);
  return ended;
}

/** The status of an answer; undefined when there is none. */
export function statusOf(answer: string): number | undefined {
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1];
  return status === undefined ? undefined : Number(status);
}
