import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import { contentCodingOf, createBodyReader, type BodyReader, type Patience } from './body-reader.ts';
import { parseJson } from './json-parser.ts';
import { createJsonScanner } from './json-scanner.ts';
import { Octets } from './octets.ts';
import { countParsed } from './guests.ts';

/** The most that is read before the key is checked. It bounds what a client without a key can cost. */
export const EARLY_BYTES_MAX = 64 * 1024;
const EARLY_PATIENCE: Patience = { graceMs: 5_000, bytesPerSecond: Infinity };
/** How slow a caller with a valid key may be. */
export const PATIENCE: Patience = { graceMs: 15_000, bytesPerSecond: 8 * 1024 };

/** What an endpoint declares about its body. */
export interface JsonBodyLimits {
  /** Largest body in bytes, after decompression. */
  bytesMax: number;
  /** Where base64 stands, as a path in which `*` is any key. A large text there is read into a Buffer. */
  base64At?: readonly string[];
}

/** The length of a body by the header Content-Length; undefined without one. */
export function contentLengthOf(req: Request): number | undefined {
  const text = req.headers['content-length'];
  return text === undefined ? undefined : Number(text);
}

function hasBody(req: Request): boolean {
  return req.headers['transfer-encoding'] !== undefined || (contentLengthOf(req) ?? 0) > 0;
}

const TYPE_SHOWN_MAX = 100;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;

/** JSON is UTF-8 (RFC 8259 section 8.1), and ASCII is a subset of it. */
function assertJsonType(req: Request): void {
  const given = req.headers['content-type'];
  const charset = CHARSET.exec(given ?? '')?.[1]?.toLowerCase() ?? 'utf-8';
  if (!req.is(['application/json', 'application/*+json']) || !['utf-8', 'utf8', 'us-ascii'].includes(charset)) {
    const sent = given === undefined ? 'without a Content-Type' : `as ${given.slice(0, TYPE_SHOWN_MAX)}`;
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', {
      message: `The request body must be application/json in UTF-8; it was sent ${sent}`,
    });
  }
}

/**
 * Creates the JSON body of a request. Before the key is checked, at most `EARLY_BYTES_MAX` octets are read and none are
 * decompressed. After that, the limits of the endpoint apply.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE
 */
export function createJsonBody(req: Request, res: Response, limits: JsonBodyLimits) {
  const isPresent = hasBody(req);
  if (isPresent) assertJsonType(req);
  const octets = new Octets();
  const scanner = createJsonScanner();
  let reader: BodyReader | undefined;
  let isParsed = false;
  let value: unknown;
  /** A fault of a body that is JSON; only callers with a key are told. */
  let refusal: AppError | undefined;

  /** Reads the body and parses it if it has at most `bytesMax` octets. @returns whether it has */
  async function readUpTo(bytesMax: number, patience: Patience): Promise<boolean> {
    reader ??= createBodyReader(req, res, (chunk) => {
      scanner.push(chunk);
      octets.push(chunk);
    });
    if (!(await reader.read(bytesMax, patience))) return false;
    value = octets.length === 0 ? {} : await parseJson(octets, scanner.largeTexts, limits.base64At);
    isParsed = true;
    return true;
  }

  return {
    /**
     * Reads a small uncompressed body, so that one that is not JSON is refused even without a key. Does not read others.
     * @throws AppError BAD_REQUEST
     */
    async readEarly() {
      const length = contentLengthOf(req) ?? 0;
      if (!isPresent || length > EARLY_BYTES_MAX || contentCodingOf(req) !== undefined) return;
      countParsed(req, contentLengthOf(req) ?? EARLY_BYTES_MAX);
      try {
        await readUpTo(Math.min(EARLY_BYTES_MAX, limits.bytesMax), EARLY_PATIENCE);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
        refusal = error;
      }
    },
    /**
     * The parsed body; `{}` when there is none.
     * @throws AppError BAD_REQUEST, REQUEST_TIMEOUT, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, VALIDATION_ERROR for one
     *   with too many values
     */
    async read(): Promise<unknown> {
      if (!isPresent) return {};
      const tooLarge = () => new AppError('PAYLOAD_TOO_LARGE', { details: { limitBytes: limits.bytesMax } });
      if ((contentLengthOf(req) ?? 0) > limits.bytesMax) throw tooLarge();
      if (refusal) throw refusal;
      if (isParsed) return value;
      if (!(await readUpTo(limits.bytesMax, PATIENCE))) throw tooLarge();
      // Other requests get their turn of the event loop between parsing and validation.
      await nextTurn();
      return value;
    },
  };
}

export type JsonBody = ReturnType<typeof createJsonBody>;
