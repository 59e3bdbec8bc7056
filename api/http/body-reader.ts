import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, Response } from 'express';
import { AppError, badRequest } from '../../shared/pure/app-error.ts';

/** How long the transfer of a body may take. */
export interface Patience {
  /** Time that every body has, in milliseconds. */
  graceMs: number;
  /** The lowest average speed that is accepted after that. */
  bytesPerSecond: number;
}

/** A decompressor. `bytesWritten` counts the compressed octets that it has read. */
type Decoder = Transform & { readonly bytesWritten: number };

const CHUNK = { chunkSize: 64 * 1024 };
/** Decoders of the content codings that are understood (RFC 9110 section 8.4.1). */
const DECODERS = new Map<string, () => Decoder>([
  ['gzip', () => createGunzip(CHUNK)],
  ['x-gzip', () => createGunzip(CHUNK)],
  ['deflate', () => createInflate(CHUNK)],
  ['br', () => createBrotliDecompress(CHUNK)],
]);
const CHECK_MS = 1_000;
/** JSON is seldom compressed to a thirtieth of its size. A body that inflates a hundredfold is an attack. */
const INFLATION_MAX = 100;
/** The inflation of a body below this size is not checked. */
const INFLATED_FREELY_BYTES = 1024 * 1024;

/** The content coding of a body; undefined when it is not encoded. */
export function contentCodingOf(req: Request): string | undefined {
  const coding = req.headers['content-encoding']?.trim().toLowerCase();
  return coding === '' || coding === 'identity' ? undefined : coding;
}

function createDecoder(req: Request): Decoder | undefined {
  const coding = contentCodingOf(req);
  if (coding === undefined) return undefined;
  const create = DECODERS.get(coding);
  if (create) return create();
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: 'The body must be plain, gzip, deflate or br' });
}

/** Checks the speed of a body at intervals; calls `onTooSlow` while it is too low. @returns the timer to clear */
function watchSpeed(req: Request, patience: Patience, onTooSlow: () => void): NodeJS.Timeout {
  const startedAt = performance.now();
  const { bytesRead } = req.socket;
  return setInterval(
    () => {
      const elapsedMs = performance.now() - startedAt;
      const wanted = (elapsedMs / 1_000) * patience.bytesPerSecond;
      if (elapsedMs >= patience.graceMs && req.socket.bytesRead - bytesRead < wanted) onTooSlow();
    },
    Math.min(CHECK_MS, patience.graceMs),
  );
}

/**
 * Creates a reader that decompresses the body of a request and passes it to `consume` piece by piece. The first error
 * of the body, of the connection or of `consume` ends the reading, and later octets are ignored.
 * @param consume takes the next octets; `read` throws what it throws
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for an unknown content coding
 */
export function createBodyReader(req: Request, res: Response, consume: (chunk: Buffer) => void) {
  const decoder = createDecoder(req);
  const source: Readable = decoder ?? req;
  // A connection keeps its last request, with these functions, so they must let go of what they have read.
  let taker: typeof consume | undefined = consume;
  let bytes = 0;
  let bytesMax = 0;
  let isStarted = false;
  let isComplete = false;
  let failure: Error | undefined;
  let settle: (() => void) | undefined;

  function finish(): void {
    settle?.();
    settle = undefined;
  }

  function fail(error: unknown): void {
    failure ??= error instanceof Error ? error : new Error(String(error));
    taker = undefined;
    source.off('data', take);
    source.pause();
    if (decoder) {
      req.unpipe(decoder);
      decoder.destroy();
    }
    finish();
  }

  function take(chunk: Buffer): void {
    bytes += chunk.length;
    if (decoder && bytes > INFLATED_FREELY_BYTES && bytes > INFLATION_MAX * decoder.bytesWritten) {
      fail(new AppError('PAYLOAD_TOO_LARGE', { message: 'The request body is too large when it is decompressed' }));
      return;
    }
    try {
      taker?.(chunk);
    } catch (error) {
      fail(error);
      return;
    }
    if (bytes > bytesMax) {
      source.pause();
      finish();
    }
  }

  function start(): void {
    isStarted = true;
    if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();
    const onBrokenOff = () => fail(badRequest('The request ended before its body was complete'));
    // The error listeners are never removed: an error event without a listener would end the process.
    req.on('error', onBrokenOff);
    req.on('close', () => {
      if (!req.complete) onBrokenOff();
    });
    decoder?.on('error', () => fail(badRequest('The request body does not match its Content-Encoding')));
    source.on('end', () => {
      if (failure === undefined) isComplete = true;
      taker = undefined;
      finish();
    });
    source.on('data', take);
    if (decoder) req.pipe(decoder);
    if (req.destroyed) onBrokenOff();
  }

  return {
    /**
     * Reads until the body is complete or has more than `bytesMax` octets. The octets after those wait in the socket.
     * @returns whether the body is complete
     * @throws AppError REQUEST_TIMEOUT, PAYLOAD_TOO_LARGE for a body that inflates too much, BAD_REQUEST for a broken one
     */
    async read(max: number, patience: Patience): Promise<boolean> {
      bytesMax = max;
      if (failure === undefined && !isComplete && bytes <= bytesMax) {
        const tooSlow = () => fail(new AppError('REQUEST_TIMEOUT'));
        const watch = watchSpeed(req, patience, tooSlow);
        await new Promise<void>((resolve) => {
          settle = resolve;
          if (isStarted) source.resume();
          else start();
        });
        clearInterval(watch);
      }
      if (failure !== undefined) throw failure;
      return isComplete;
    },
  };
}

export type BodyReader = ReturnType<typeof createBodyReader>;
