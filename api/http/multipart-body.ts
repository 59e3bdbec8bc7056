import type { Request } from 'express';
import busboy from 'busboy';
import { AppError, badRequest, validationError } from '../../shared/pure/app-error.ts';

/** Room for the frame around the file: part headers, boundaries, a few plain fields. */
const FRAME_BYTES_MAX = 64 * 1024;

/** A form with one file, in place of a JSON body. */
export interface MultipartDeclaration {
  /** The name of the form field that carries the file. */
  field: string;
  /** Largest file in bytes. */
  fileBytesMax: number;
}

export interface UploadedFile {
  content: Buffer;
}

function tooLarge(limitBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', { details: { limitBytes } });
}

function createParser(req: Request, fileBytesMax: number): busboy.Busboy {
  try {
    // The limit is one above what is allowed: a file of exactly that size is reported as cut, too.
    const limits = { fileSize: fileBytesMax + 1, files: 2, fields: 20, parts: 30, fieldSize: FRAME_BYTES_MAX };
    return busboy({ headers: req.headers, limits });
  } catch {
    throw badRequest('The request is not a well-formed multipart form');
  }
}

/**
 * Reads the file of a multipart form (RFC 7578) into memory; other fields are passed over.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, BAD_REQUEST for a malformed form, VALIDATION_ERROR when
 *   the file is not there
 */
export async function readMultipart(req: Request, declaration: MultipartDeclaration): Promise<UploadedFile> {
  const { field, fileBytesMax } = declaration;
  if (!req.is('multipart/form-data')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: 'The request body must be multipart/form-data' });
  }
  const parser = createParser(req, fileBytesMax);
  let bytes = 0;
  let chunks: Buffer[] | undefined;

  const file = await new Promise<Buffer | undefined>((resolve, reject) => {
    const fail = (error: AppError): void => {
      req.unpipe(parser);
      req.resume();
      reject(error);
    };
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > fileBytesMax + FRAME_BYTES_MAX) fail(tooLarge(fileBytesMax));
    });
    req.once('aborted', () => fail(badRequest('The request ended before its body was complete')));
    parser.on('file', (name, stream) => {
      if (name !== field || chunks) {
        stream.resume();
        return;
      }
      const received: Buffer[] = [];
      chunks = received;
      stream.on('data', (chunk: Buffer) => received.push(chunk));
      stream.once('limit', () => fail(tooLarge(fileBytesMax)));
      // The parser says the same of itself; a file stream without a listener would end the process.
      stream.once('error', () => undefined);
    });
    parser.once('error', () => fail(badRequest('The request is not a well-formed multipart form')));
    parser.once('close', () => resolve(chunks && Buffer.concat(chunks)));
    req.pipe(parser);
  });
  if (!file) {
    throw validationError([
      { field, message: `A file in the form field "${field}" is required`, code: 'invalid_type' },
    ]);
  }
  return { content: file };
}
