import type { Response } from 'express';

/** A reply that is sent piece by piece. */
export interface StreamedReply {
  headers: Readonly<Record<string, string>>;
  pieces: AsyncIterator<string | Buffer>;
  /** The octets that reading a piece may hold in memory, where that is much. */
  pieceBytes: number;
}

/** Resolves when the client has read what was written, or has gone. */
async function untilRead(res: Response): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      res.off('drain', end);
      res.off('close', end);
      resolve();
    };
    res.once('drain', end);
    res.once('close', end);
  });
}

/**
 * Sends a reply no faster than the client reads it, so one piece is in memory at a time. Each piece waits for its turn.
 * @throws the error of reading a piece; the connection is closed then, which tells the client that the rest is missing
 */
export async function sendPieces(
  res: Response,
  { headers, pieces }: StreamedReply,
  inTurn: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Promise<void> {
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  if (res.req.method === 'HEAD') {
    res.end();
    return;
  }
  try {
    while (!res.destroyed) {
      const piece = await inTurn(() => pieces.next());
      if (piece.done) break;
      if (!res.write(piece.value)) await untilRead(res);
    }
    res.end();
  } catch (error) {
    res.destroy();
    throw error;
  }
}
