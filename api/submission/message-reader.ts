import { isAscii } from 'node:buffer';
import type { SMTPServerDataStream } from 'smtp-server';
import type { Load } from '../http/load.ts';
import { Octets } from '../http/octets.ts';

const CR = 0x0d;
const LF = 0x0a;

function hasLoneLineEnd(chunk: Buffer): boolean {
  for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) if (chunk[at - 1] !== CR) return true;
  for (let at = chunk.indexOf(CR); at !== -1; at = chunk.indexOf(CR, at + 1)) if (chunk[at + 1] !== LF) return true;
  return false;
}

/**
 * Creates the function that makes CRLF of each lone CR and LF (RFC 5321 section 2.3.8). Servers read them differently,
 * so nothing could be smuggled past the next one. @param chunk undefined at the end
 */
export function createLineEnds(): (chunk: Buffer | undefined) => Buffer {
  let endsInCr = false;
  return (chunk) => {
    const given = endsInCr ? Buffer.concat([Buffer.of(CR), chunk ?? Buffer.of(LF)]) : (chunk ?? Buffer.alloc(0));
    endsInCr = chunk !== undefined && given.at(-1) === CR;
    const whole = endsInCr ? given.subarray(0, -1) : given;
    if (!hasLoneLineEnd(whole)) return whole;
    return Buffer.from(whole.toString('latin1').replace(/\r\n|\r|\n/g, '\r\n'), 'latin1');
  };
}

/** Small messages take no part of the memory that large ones share; the number of connections bounds them. */
const SMALL_BYTES = 64 * 1024;
const FIRST_SHARE_BYTES = 1024 * 1024;

export interface ReadMessage {
  /** With CRLF line ends; undefined when the message is too large. */
  raw: Buffer | undefined;
  isEightBit: boolean;
  /** Gives the memory back. */
  release: () => void;
}

export interface ReadOptions {
  projectId: string;
  octets: Load['octets'];
  bytesMax: number;
  /** The size that the client has announced; 0 for none. */
  announced: number;
}

/**
 * Gives the octets of a stream to `take`, and pauses it while a promise of `take` is open. Such a promise never rejects,
 * and the stream does not fail before it. An iterator would do the same at a higher cost for small messages.
 */
function readChunks(stream: SMTPServerDataStream, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    let taken: Promise<void> | undefined;
    let fault: Error | undefined;
    stream.on('end', resolve);
    stream.on('error', (error) => (fault = error));
    const fail = (): void => reject(fault ?? new Error('The message was broken off'));
    stream.on('close', () => {
      if (!stream.readableEnded) void Promise.resolve(taken).then(fail);
    });
    stream.on('data', (chunk: Buffer) => {
      taken = take(chunk);
      if (!taken) return;
      stream.pause();
      void taken.then(() => stream.resume());
    });
  });
}

/**
 * Reads a message. While memory is short, its octets stay in the socket of the client.
 * @throws AppError RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE when no memory becomes free in time
 */
export async function readMessage(stream: SMTPServerDataStream, options: ReadOptions): Promise<ReadMessage> {
  const { projectId, octets, bytesMax, announced } = options;
  const inCrlf = createLineEnds();
  const releases: (() => void)[] = [];
  let read = new Octets();
  let reserved = SMALL_BYTES;
  const seen = { isEightBit: false, isTooLarge: false };
  const failures: unknown[] = [];

  function release(): void {
    for (const give of releases.splice(0)) give();
  }

  function drop(): void {
    release();
    read = new Octets();
  }

  async function reserve(bytes: number): Promise<void> {
    const wanted = Math.min(Math.max(bytes, announced, FIRST_SHARE_BYTES, 2 * reserved), bytesMax);
    releases.push(await octets.take(projectId, wanted - (releases.length === 0 ? 0 : reserved)));
    reserved = wanted;
  }

  function push(lines: Buffer): void {
    seen.isEightBit ||= !isAscii(lines);
    read.push(lines);
  }

  /** What is not taken is read all the same, because the client listens only after the end. */
  function take(chunk: Buffer | undefined): Promise<void> | undefined {
    if (seen.isTooLarge || failures.length > 0) return undefined;
    const lines = inCrlf(chunk);
    const length = read.length + lines.length;
    seen.isTooLarge = length > bytesMax;
    if (seen.isTooLarge) drop();
    else if (length <= reserved) push(lines);
    else {
      return reserve(length).then(
        () => push(lines),
        (error: unknown) => {
          failures.push(error);
          drop();
        },
      );
    }
    return undefined;
  }

  try {
    await readChunks(stream, take);
    await take(undefined);
    for (const failure of failures) throw failure;
    const raw = seen.isTooLarge ? undefined : read.slice(0, read.length);
    return { raw, isEightBit: seen.isEightBit, release };
  } catch (error) {
    drop();
    throw error;
  }
}
