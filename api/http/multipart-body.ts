import busboy from 'busboy';
import type { Request, Response } from 'express';
import { AppError, badRequest, validationError } from '../../shared/pure/app-error.ts';
import { createBodyReader } from './body-reader.ts';
import { contentLengthOf, PATIENCE } from './json-body.ts';

const FILE_BYTES_MAX = 5 * 1024 * 1024;
/** The most octets around the file: part headers, boundaries, a few plain fields. */
const FRAME_BYTES_MAX = 64 * 1024;
/** Fields of a form beside its file; further ones are ignored. */
const FIELDS_MAX = 500;
/** The most octets of a form with its file. */
export const FORM_BYTES_MAX = FILE_BYTES_MAX + FRAME_BYTES_MAX;

/** A form with one file, in place of a JSON body. */
export interface MultipartDeclaration {
  /** The name of the form field that carries the file. */
  field: string;
  /** The name of a field with text that may stand beside the file, any number of times, and what it says. */
  texts?: { field: string; description: string; examples: string[] };
}

export interface UploadedFile {
  content: Buffer;
  /** The values of the field with text, in their order. */
  texts: string[];
}

function tooLarge(): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', { details: { limitBytes: FILE_BYTES_MAX } });
}

function malformed(): AppError {
  return badRequest('The request is not a well-formed multipart form');
}

function createParser(req: Request): busboy.Busboy {
  try {
    // One above the largest file, because busboy reports a file of exactly the limit as truncated, too.
    const limits = {
      fileSize: FILE_BYTES_MAX + 1,
      files: 2,
      fields: FIELDS_MAX,
      parts: FIELDS_MAX + 10,
      fieldSize: FRAME_BYTES_MAX,
    };
    return busboy({ headers: req.headers, limits });
  } catch {
    throw malformed();
  }
}

function createFormReader(req: Request, { field, texts: declared }: MultipartDeclaration) {
  const parser = createParser(req);
  let file: Buffer[] | undefined;
  const texts: string[] = [];
  let failure: AppError | undefined;
  const closed = new Promise<void>((resolve) => {
    // The listeners stay: the parser may report several faults, and one without a listener would end the process.
    parser.on('error', () => {
      failure ??= malformed();
      resolve();
    });
    parser.on('close', resolve);
  });
  parser.on('field', (name, text) => {
    if (name === declared?.field) texts.push(text);
  });
  parser.on('file', (name, stream) => {
    stream.on('error', () => (failure ??= malformed()));
    if (name !== field || file) {
      if (name === field) failure ??= validationError([{ field, message: 'Must be one file', code: 'too_big' }]);
      stream.resume();
      return;
    }
    const received: Buffer[] = [];
    file = received;
    stream.on('data', (chunk: Buffer) => received.push(chunk));
    stream.on('limit', () => (failure ??= tooLarge()));
  });

  function assertWellFormed(): void {
    if (failure) throw failure;
  }
  return {
    /** Takes the next octets. @throws AppError */
    take: (chunk: Buffer) => {
      parser.write(chunk);
      assertWellFormed();
    },
    /** Ends the form. @returns its file; undefined when it has none under that name @throws AppError */
    async end(): Promise<UploadedFile | undefined> {
      parser.end();
      await closed;
      assertWellFormed();
      return file && { content: Buffer.concat(file), texts };
    },
    destroy: () => parser.destroy(),
  };
}

/**
 * Reads the file of a multipart form (RFC 7578) into memory, and the field with text that the endpoint declares; other
 * fields are ignored.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, BAD_REQUEST for a malformed form,
 *   VALIDATION_ERROR when there is no file
 */
export async function readMultipart(
  req: Request,
  res: Response,
  declaration: MultipartDeclaration,
): Promise<UploadedFile> {
  const { field } = declaration;
  if (!req.is('multipart/form-data')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', {
      message: `The request body must be multipart/form-data with the file in its field "${field}"`,
    });
  }
  if ((contentLengthOf(req) ?? 0) > FORM_BYTES_MAX) throw tooLarge();
  const form = createFormReader(req, declaration);
  try {
    const reader = createBodyReader(req, res, form.take);
    if (!(await reader.read(FORM_BYTES_MAX, PATIENCE))) throw tooLarge();
    const file = await form.end();
    if (file) return file;
  } finally {
    form.destroy();
  }
  throw validationError([{ field, message: `A file in the form field "${field}" is required`, code: 'invalid_type' }]);
}
