import type { z } from 'zod';
import type { ErrorCode } from '../../shared/pure/error-catalogue.ts';
import type { RequestContext } from './context.ts';
import type { CsvReply } from './csv-reply.ts';
import type { MultipartDeclaration } from './multipart-body.ts';

export interface Reply {
  status: number;
  data?: unknown;
  /** Stands beside `data` in the envelope. */
  message?: string;
  /** Instead of `data`. */
  csv?: CsvReply;
}

interface ReplyDeclaration {
  description: string;
  schema?: z.ZodType;
  /** Comes as a table too. */
  csv?: true;
}

/** A required field whose absence is answered in the flat form `{ error }` with status 400. */
export interface FlatRequirement {
  message: string;
  isMet: (body: Record<string, unknown>) => boolean;
}

/**
 * An endpoint is data: who may call it, what it takes, what it answers. Authentication, rate limit, idempotency,
 * validation, envelope and the OpenAPI document all read this declaration.
 */
export interface Endpoint<Params = unknown, Query = unknown, Body = unknown> {
  operationId: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express path; parameters as `:id`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** The kind of key that may call it. */
  key: 'secret' | 'public';
  /** Whether an Idempotency-Key header is honoured. */
  idempotent?: boolean;
  params?: z.ZodType<Params>;
  /** Status of a malformed path id: the document wants 422 on campaigns, 404 elsewhere. */
  badIdIs?: ErrorCode;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  /** The body in the document, for a body that takes more than one schema to check. */
  documentedBody?: z.ZodType;
  /** Largest body in bytes; the default fits everything but attachments. */
  bodyBytesMax?: number;
  /** Where a body holds base64, as a path in which `*` is any key: a large text there arrives as a Buffer. */
  base64At?: readonly string[];
  /** Waits mostly for other servers, hardly for PostgreSQL. */
  isRemote?: boolean;
  /** Its requests share statements: each group takes one turn at PostgreSQL, and not each request. */
  isGrouped?: boolean;
  /** May read a large part of what its project has: few of these are under way for a project at a time. */
  cost?: 'heavy';
  /** Takes a form with a file instead of JSON; the handler's `body` is an `UploadedFile`. */
  multipart?: MultipartDeclaration;
  flatRequirements?: FlatRequirement[];
  /** `{ success, data }` around the reply, or the bare resource. */
  envelope?: boolean;
  replies: Record<number, ReplyDeclaration>;
  /** Codes this endpoint can answer in addition to those of every endpoint. */
  errors?: readonly ErrorCode[];
  /**
   * Emails, events, campaigns, executions or jobs that a successful answer has left to workflows, by their ids: the trace of
   * the request goes on there. A traced request is one transaction.
   */
  subjects?: (data: never, params: Params) => string[];
  handle: (context: RequestContext<Params, Query, Body>) => Promise<Reply>;
}

/** Declares an endpoint; the types of the handler's input follow from the schemas. */
export function endpoint<Params = unknown, Query = unknown, Body = unknown>(
  declaration: Endpoint<Params, Query, Body>,
): Endpoint {
  return declaration as unknown as Endpoint;
}

/** 200 with a body. */
export function ok(data: unknown, message?: string): Reply {
  return { status: 200, data, message };
}

/** 201 with a body. */
export function created(data: unknown): Reply {
  return { status: 201, data };
}

/** 204. */
export function noContent(): Reply {
  return { status: 204 };
}
