import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { AppError } from '../../shared/pure/app-error.ts';
import { contentCodingOf, createBodyReader, type BodyReader, type Patience } from './body-reader.ts';
import { parseJson } from './json-parser.ts';
import { createJsonScanner } from './json-scanner.ts';
import { createOctets } from './octets.ts';
import { countParsed } from './strangers.ts';

/** Read before the key is checked, and never inflated, so this bounds what a stranger may cost. */
export const EARLY_BYTES_MAX = 64 * 1024;
const EARLY_PATIENCE: Patience = { graceMs: 5_000, bytesPerSecond: Infinity };
/** The slowest that a caller with a key may be. */
export const PATIENCE: Patience = { graceMs: 15_000, bytesPerSecond: 8 * 1024 };

export interface JsonBody {
  /**
   * Reads a small plain body, so that a body that is not JSON is refused with or without a key. Other bodies are not read.
   * @throws AppError BAD_REQUEST
   */
  readEarly: () => Promise<void>;
  /**
   * The parsed body; `{}` when there is none.
   * @throws AppError BAD_REQUEST, REQUEST_TIMEOUT, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, VALIDATION_ERROR for one
   *   with too many values
   */
  read: () => Promise<unknown>;
}

/** What an endpoint says of its body. */
export interface JsonBodyLimits {
  /** Largest body in bytes, after it was inflated. */
  bytesMax: number;
  /** Where base64 stands, as a path in which `*` is any key. A large one is read as its octets. */
  base64At?: readonly string[];
}

/** The length of a body as its header says; undefined when it does not. */
export function contentLengthOf(req: Request): number | undefined {
  const text = req.headers['content-length'];
  return text === undefined ? undefined : Number(text);
}

function hasBody(req: Request): boolean {
  return req.headers['transfer-encoding'] !== undefined || (contentLengthOf(req) ?? 0) > 0;
}

const TYPE_SHOWN_MAX = 100;
const CHARSET = /;\s*charset\s*=\s*"?([^\s";]*)/i;

/** JSON is UTF-8 (RFC 8259 section 8.1); ASCII is a part of it. */
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
 * The JSON body of a request. A stranger can make us read `EARLY_BYTES_MAX` of it; only for a known key is more read or
 * inflated, and never more than the limits say.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE
 */
export function createJsonBody(req: Request, res: Response, limits: JsonBodyLimits): JsonBody {
  const isPresent = hasBody(req);
  if (isPresent) assertJsonType(req);
  const octets = createOctets();
  const scanner = createJsonScanner();
  let reader: BodyReader | undefined;
  let isParsed = false;
  let value: unknown;
  /** What else is wrong with the body; only callers with a key are told. */
  let refusal: AppError | undefined;

  /** @returns whether the body was complete within the bound, and so is parsed now */
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
    async read() {
      if (!isPresent) return {};
      const tooLarge = () => new AppError('PAYLOAD_TOO_LARGE', { details: { limitBytes: limits.bytesMax } });
      if ((contentLengthOf(req) ?? 0) > limits.bytesMax) throw tooLarge();
      if (refusal) throw refusal;
      if (isParsed) return value;
      if (!(await readUpTo(limits.bytesMax, PATIENCE))) throw tooLarge();
      // Parsing is one share of the time, validating another.
      await nextTurn();
      return value;
    },
  };
}
