import type { Request, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import { createBodyReader } from '../http/body-reader.ts';

/** A form with all topics and a comment has some 15 kB. */
const FORM_BYTES_MAX = 32 * 1024;
const PATIENCE = { graceMs: 5_000, bytesPerSecond: Infinity };

/**
 * The fields of a form that a browser has sent (application/x-www-form-urlencoded). A body of another type has none.
 * @throws AppError PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, BAD_REQUEST for a body that breaks off
 */
export async function readFormBody(req: Request, res: Response): Promise<URLSearchParams> {
  if (!req.is('application/x-www-form-urlencoded')) return new URLSearchParams();
  const chunks: Buffer[] = [];
  const reader = createBodyReader(req, res, (chunk) => void chunks.push(chunk));
  if (!(await reader.read(FORM_BYTES_MAX, PATIENCE))) throw new AppError('PAYLOAD_TOO_LARGE');
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
