import type { Request, Response } from 'express';
import { AppError, badRequest } from '../../shared/pure/app-error.ts';
import { createBodyReader } from '../http/body-reader.ts';

/** A form with all topics and a comment has some 15 kB. */
const FORM_BYTES_MAX = 32 * 1024;
const PATIENCE = { graceMs: 5_000, bytesPerSecond: Infinity };

/** What browsers may send a form as. */
export const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** The fields with text of a multipart form (RFC 7578). */
async function partsOf(content: Buffer, type: string): Promise<URLSearchParams> {
  try {
    const form = await new globalThis.Response(content, { headers: { 'content-type': type } }).formData();
    const fields = [...form].flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' ? [[name, value]] : [],
    );
    return new URLSearchParams(fields);
  } catch {
    throw badRequest('The request is not a well-formed multipart form');
  }
}

/**
 * The fields of a form that a browser has sent. A body of another type has none.
 * @throws AppError PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, BAD_REQUEST for a body that breaks off
 */
export async function readFormBody(req: Request, res: Response): Promise<URLSearchParams> {
  const type = req.is(FORM_TYPES);
  if (type === false || type === null) return new URLSearchParams();
  const chunks: Buffer[] = [];
  const reader = createBodyReader(req, res, (chunk) => void chunks.push(chunk));
  if (!(await reader.read(FORM_BYTES_MAX, PATIENCE))) throw new AppError('PAYLOAD_TOO_LARGE');
  const content = Buffer.concat(chunks);
  if (type === 'multipart/form-data') return partsOf(content, req.get('content-type') ?? '');
  return new URLSearchParams(content.toString());
}
