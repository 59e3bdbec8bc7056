import type { Request, Response } from 'express';
import { z } from 'zod';
import { badRequest } from '../../shared/pure/app-error.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import type { Caller } from './authenticator.ts';
import { contentCodingOf } from './body-reader.ts';
import type { Endpoint } from './endpoint.ts';
import { contentLengthOf, EARLY_BYTES_MAX, type JsonBody } from './json-body.ts';
import type { Load } from './load.ts';
import { FORM_BYTES_MAX, readMultipart } from './multipart-body.ts';

/** Templates and campaigns carry whole HTML documents. */
const BODY_BYTES_DEFAULT = 5 * 1024 * 1024;
/** The public key is in every page, so it may send no more than this. */
const PUBLIC_BODY_BYTES_MAX = 64 * 1024;

/** Largest JSON body of an endpoint, in bytes. */
export function bodyBytesMaxOf({ key, bodyBytesMax }: Endpoint): number {
  return key === 'public' ? PUBLIC_BODY_BYTES_MAX : (bodyBytesMax ?? BODY_BYTES_DEFAULT);
}

/** An authenticated request with its body, which is not validated yet. */
export interface Incoming {
  definition: Endpoint;
  caller: Caller;
  req: Request;
  res: Response;
  /** Parsed JSON, or an `UploadedFile`. */
  body: unknown;
}

/** Calls `release` when the client has read the answer, or its connection has closed. */
export function releaseAfter(res: Response, release: () => void): void {
  if (res.closed) release();
  else res.once('close', release);
}

/** The most octets that the body of a request can have. */
function expectedOctets(req: Request, bytesMax: number): number {
  const length = contentLengthOf(req);
  if (length === undefined && req.headers['transfer-encoding'] === undefined) return 0;
  return length === undefined || contentCodingOf(req) !== undefined ? bytesMax : Math.min(length, bytesMax);
}

/** Reads the body of an authenticated request. A large one waits until other large bodies leave enough memory. */
export async function readBody(
  { definition, caller, req, res }: Omit<Incoming, 'body'>,
  json: JsonBody | undefined,
  load: Load,
): Promise<unknown> {
  const { multipart } = definition;
  const bytesMax = multipart ? FORM_BYTES_MAX : bodyBytesMaxOf(definition);
  const octets = expectedOctets(req, bytesMax);
  const release = await load.octets.take(caller.project.id, octets > EARLY_BYTES_MAX ? octets : 0);
  releaseAfter(res, release);
  return multipart ? readMultipart(req, res, multipart) : json?.read();
}

/**
 * Reserves memory for the largest page, where the endpoint answers pages, and waits for it if necessary. Otherwise,
 * clients that ask for many pages and read none would fill the memory.
 * @returns a function that ends the reservation, to be called when the octets of the answer are counted
 */
export async function reservePage({ query }: Endpoint, projectId: string, load: Load): Promise<() => void> {
  const isPage = query instanceof z.ZodObject && 'limit' in query.shape;
  return isPage ? load.octets.take(projectId, LIMITS.pageBytes) : () => undefined;
}

/** Waits until a request may use PostgreSQL, or another server. @returns a function that ends its turn */
export async function takeTurn(definition: Endpoint, projectId: string, load: Load): Promise<() => void> {
  if (definition.isGrouped) return load.groupedSlots.take(projectId, 1);
  if (definition.isRemote) return load.remoteSlots.take(projectId, 1);
  if (!definition.isHeavy) return load.slots.take(projectId, 1);
  const releaseHeavy = await load.heavySlots.take(projectId, 1);
  try {
    const release = await load.slots.take(projectId, 1);
    return () => {
      release();
      releaseHeavy();
    };
  } catch (error) {
    releaseHeavy();
    throw error;
  }
}

/** @throws AppError when the client has closed the connection while its request waited: nobody would read the answer */
export function assertStillThere(req: Request): void {
  if (req.socket.destroyed) throw badRequest('The client has closed the connection');
}
