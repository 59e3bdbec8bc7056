import busboy from 'busboy';
import type { Request, Response } from 'express';
import { AppError, badRequest } from '../../shared/pure/app-error.ts';
import { createBodyReader } from '../http/body-reader.ts';

/** A form with all topics and a comment has some 15 kB. */
const FORM_BYTES_MAX = 32 * 1024;
const PATIENCE = { graceMs: 5_000, bytesPerSecond: Infinity };

/** What browsers may send a form as. */
export const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** The fields with text of a multipart form (RFC 7578). Files are left out. */
function partsOf(content: Buffer, { headers }: Request): Promise<URLSearchParams> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(badRequest('The request is not a well-formed multipart form'));
    try {
      const fields = new URLSearchParams();
      busboy({ headers, defParamCharset: 'utf8' })
        .on('field', (name, value) => fields.append(name, value))
        // The parser may report several faults, and one without a listener would end the process.
        .on('error', fail)
        .on('close', () => resolve(fields))
        .end(content);
    } catch {
      fail();
    }
  });
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
  if (type === 'multipart/form-data') return partsOf(content, req);
  return new URLSearchParams(content.toString());
}
