import type { Request, Response } from 'express';
import { z } from 'zod';
import { badRequest } from '../../shared/pure/app-error.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import type { Caller } from './authenticator.ts';
import { contentCodingOf } from './body-reader.ts';
import type { RequestAudit } from './context.ts';
import { keyKindOf, type Endpoint } from './endpoint.ts';
import { contentLengthOf, EARLY_BYTES_MAX, type JsonBody } from './json-body.ts';
import type { Load } from './load.ts';
import { FORM_BYTES_MAX, readMultipart } from './multipart-body.ts';

/** Templates and campaigns carry whole HTML documents. */
const BODY_BYTES_DEFAULT = 5 * 1024 * 1024;
/** The public key is in every page, so it may send no more than this. */
const PUBLIC_BODY_BYTES_MAX = 64 * 1024;

/** Largest JSON body of an endpoint, in bytes. */
export function bodyBytesMaxOf(definition: Endpoint): number {
  return keyKindOf(definition) === 'public' ? PUBLIC_BODY_BYTES_MAX : (definition.bodyBytesMax ?? BODY_BYTES_DEFAULT);
}

/** An authenticated request with its body, which is not validated yet. */
export interface Incoming {
  definition: Endpoint;
  caller: Caller;
  req: Request;
  res: Response;
  /** The record of the request, if it writes. */
  audit: RequestAudit | undefined;
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
  { definition, caller, req, res }: Omit<Incoming, 'body' | 'audit'>,
  json: JsonBody | undefined,
  load: Load,
): Promise<unknown> {
  const { multipart } = definition;
  const bytesMax = multipart ? FORM_BYTES_MAX : bodyBytesMaxOf(definition);
  const octets = expectedOctets(req, bytesMax);
  releaseAfter(res, await load.octets.take(caller.project.id, octets > EARLY_BYTES_MAX ? octets : 0));
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

/** Works for a request in a turn of its project: when it may use PostgreSQL, or another server. */
export function inTurn<Result>(
  { isGrouped, isRemote, isHeavy }: Endpoint,
  projectId: string,
  { groupedRequests, remoteSlots, heavySlots, slots }: Load,
  work: () => Promise<Result>,
): Promise<Result> {
  if (isGrouped) return groupedRequests.run(projectId, work);
  if (isRemote) return remoteSlots.run(projectId, work);
  if (!isHeavy) return slots.run(projectId, work);
  return heavySlots.run(projectId, () => slots.run(projectId, work));
}

/** @throws AppError when the client has closed the connection while its request waited: nobody would read the answer */
export function assertStillThere(req: Request): void {
  if (req.socket.destroyed) throw badRequest('The client has closed the connection');
}
