import type { Response } from 'express';

/** A reply that is sent piece by piece. */
export interface StreamedReply {
  headers: Readonly<Record<string, string>>;
  pieces: AsyncIterator<string | Buffer>;
  /** Whether it is a file of rows, of which a part looks like a whole file. */
  isRows?: true;
  /** Whether it may take hours, and counts among the exports of the project. */
  isExport?: true;
  /** The octets that reading a piece may hold in memory, where that is much. */
  pieceBytes: number;
}

/** How slowly an answer may be read: the grace is for every part of it, the speed for large ones. */
const READ_GRACE_MS = 30_000;
const READ_BYTES_PER_MS = 50;

/** How long a client may take to read so many octets, in milliseconds. */
export function readingTimeMs(octets: number): number {
  return READ_GRACE_MS + octets / READ_BYTES_PER_MS;
}

/** Resolves when the client has read what was written, or has gone. One that does not read is disconnected. */
async function untilRead(res: Response): Promise<void> {
  if (res.closed) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => res.destroy(), readingTimeMs(res.writableLength));
    const end = (): void => {
      clearTimeout(timer);
      res.off('drain', end);
      res.off('close', end);
      resolve();
    };
    res.once('drain', end);
    res.once('close', end);
  });
}

/**
 * Sends a reply no faster than the client reads it, so one piece is in memory at a time.
 * @param next the next piece
 * @throws the error of reading a piece. If something was sent before, the connection is closed, which tells the client
 *   that the rest is missing
 */
export async function sendPieces(
  res: Response,
  headers: StreamedReply['headers'],
  next: () => Promise<IteratorResult<string | Buffer>>,
): Promise<void> {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (res.req.method === 'HEAD') {
    res.end();
    return;
  }
  try {
    while (!res.destroyed) {
      const piece = await next();
      if (piece.done) break;
      if (piece.value.length > 0 && !res.write(piece.value)) await untilRead(res);
    }
    res.end();
  } catch (error) {
    if (res.headersSent) res.destroy();
    throw error;
  }
}
