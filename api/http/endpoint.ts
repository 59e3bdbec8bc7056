import type { PublicKeyRules } from '../../shared/pure/public-key-rules.ts';
import { z } from 'zod';
import type { ErrorCode } from '../../shared/pure/error-catalogue.ts';
import { isPublicRole, type KeyRole, type NamedRole } from '../../shared/pure/key-roles.ts';
import type { RequestContext } from './context.ts';
import type { MultipartDeclaration } from './multipart-body.ts';
import type { StreamedReply } from './streamed-reply.ts';

/** What a call of an endpoint does; see `Endpoint.effect`. */
export type Effect = 'reads' | 'writes' | 'data';

export interface Reply {
  status: number;
  data?: unknown;
  /** Comes beside `data` in the envelope. */
  message?: string;
  /** Comes in place of `data`. */
  stream?: StreamedReply;
}

interface ReplyDeclaration {
  description: string;
  schema?: z.ZodType;
  /** Whether callers may ask for it as CSV, too. */
  csv?: true;
  /** One row of a file that is answered in place of JSON, as CSV or as JSON lines. */
  row?: z.ZodType;
}

/** A required field whose absence is answered in the flat form `{ error }` with status 400. */
export interface FlatRequirement {
  message: string;
  isMet: (body: Record<string, unknown>) => boolean;
}

/** Whether a required field is filled; a text of blanks is not. */
export function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '');
}

/** What is said of an endpoint beside its name, its route and its chapter. */
interface Declaration<Params, Query, Body> {
  summary: string;
  description?: string;
  /**
   * The roles of keys that may call it beside `full`, which may call everything that takes a secret key. Choose:
   * - `['track']` alone when pages and apps of visitors call it, with the public key;
   * - `['marketing', 'support', 'read']` for a read about people: contacts, their events, emails and subscriptions;
   * - `['marketing', 'read']` for any other read, and `['read']` for one of settings. Every read names `read`;
   * - `['marketing']` for a change of content, audiences, contacts, campaigns or automations;
   * - `['marketing', 'support']` for a change of one person's subscription, `['support']` for suppressions;
   * - `['send']` for what an application needs in order to send single emails;
   * - `[]` for settings, keys and webhooks of the project: only `full`.
   */
  roles: readonly NamedRole[] | readonly ['track'];
  /** The fields of a body that a role may send, where it may not send all. */
  fields?: Partial<Record<NamedRole, readonly string[]>>;
  /**
   * What a call does; without it, GET reads and the other methods write.
   * - `reads`: it changes nothing, for instance a search whose filters come in the body.
   * - `writes`: each call leaves a row in the record of who did what, whatever its outcome.
   * - `data`: applications call it by the thousand, so calls leave no such row; what they write says where it is from.
   */
  effect?: Effect;
  /** Whether calls leave such a row although they read: they hand out the data of many people. */
  isAudited?: true;
  /** Whether an Idempotency-Key header is honoured. */
  isIdempotent?: boolean;
  params?: z.ZodType<Params>;
  /** The error for a malformed id in the path; its status is 422 on campaigns and 404 elsewhere. */
  malformedIdCode?: ErrorCode;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  /** The body in the OpenAPI document, where `body` alone does not describe it. */
  documentedBody?: z.ZodType;
  /** Largest body in bytes; the default fits everything but attachments. */
  bodyBytesMax?: number;
  /** Where a body holds base64, as a path in which `*` is any key. The handler gets a large text there as a Buffer. */
  base64At?: readonly string[];
  /** Whether its requests wait mostly for other servers, hardly for PostgreSQL. */
  isRemote?: boolean;
  /** Whether its requests share statements: each group of them, not each request, takes a turn at PostgreSQL. */
  isGrouped?: boolean;
  /** Whether it may read a large part of the project's records. Few such requests of a project run at a time. */
  isHeavy?: boolean;
  /** Takes a form with a file instead of JSON; the handler's `body` is an `UploadedFile`. */
  multipart?: MultipartDeclaration;
  /** Whether it commits more than once, so that a fault in a later step does not undo an earlier one. */
  commitsInSteps?: true;
  flatRequirements?: FlatRequirement[];
  /** Whether the answer is `{ success, data }`, not the bare resource. */
  hasEnvelope?: boolean;
  /** Whether the envelope names the fields of the request that were ignored, because callers rarely look at headers. */
  hasWarnings?: boolean;
  /** The fields of a body that have no effect because of the project's rules for its public key. */
  ruledOut?: (rules: PublicKeyRules, body: object) => string[];
  replies: Record<number, ReplyDeclaration>;
  /** The codes that it can answer in addition to those of every endpoint. */
  errors?: readonly ErrorCode[];
  /**
   * The ids of the emails, events, campaigns, executions or jobs that a successful request leaves to workflows. The
   * workflows continue the trace of the request. A traced request is one transaction.
   */
  subjects?: (data: never, params: Params) => string[];
  handle: (context: RequestContext<Params, Query, Body>) => Promise<Reply>;
}

/**
 * An endpoint is data: who may call it, what it takes, what it answers. Authentication, rate limit, idempotency,
 * validation, envelope and the OpenAPI document all read this declaration.
 */
export interface Endpoint<Params = unknown, Query = unknown, Body = unknown> extends Declaration<Params, Query, Body> {
  operationId: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Express path; parameters as `:id`. */
  path: string;
  /** The chapter of the reference. */
  tag: string;
}

type Route = `${Uppercase<Endpoint['method']>} /${string}`;

/** The parameters of a path, as they are in a URL. */
type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

/** The names of the parameters that hold ids: `id`, and what ends in `Id`. */
function idsOf(path: string): string[] {
  return [...path.matchAll(/:(id|\w+Id)\b/g)].map(([, name = '']) => name);
}

/**
 * Returns what declares the endpoints of a chapter of the reference. The types of a handler's input follow from the
 * route and the schemas; a path needs a schema only for parameters that are no ids.
 * @param malformedIdCode the error of its endpoints for a malformed id in the path
 * @param withIdErrors further errors of its endpoints that have an id in the path
 */
export function endpointsOf(tag: string, malformedIdCode?: ErrorCode, withIdErrors: readonly ErrorCode[] = []) {
  return <Body = unknown, Query = unknown, const R extends Route = Route, Params = ParamsOf<R>>(
    operationId: string,
    route: R,
    declaration: Declaration<Params, Query, Body>,
  ): Endpoint => {
    const [method = '', path = ''] = route.split(' ');
    const ids = idsOf(path);
    const withIds = {
      params: z.object(Object.fromEntries(ids.map((name) => [name, z.uuid().toLowerCase()]))),
      malformedIdCode,
      ...declaration,
      errors: [...withIdErrors, ...(declaration.errors ?? [])],
    };
    const declared = ids.length > 0 ? withIds : declaration;
    return { ...declared, operationId, method: method.toLowerCase(), path, tag } as unknown as Endpoint;
  };
}

/** The reply 200 with a body. */
export function ok(data: unknown, message?: string): Reply {
  return { status: 200, data, message };
}

/** The reply 201 with a body. */
export function created(data: unknown): Reply {
  return { status: 201, data };
}

/** The reply 204, without a body, once something is done. */
export async function noContent(done?: Promise<unknown>): Promise<Reply> {
  await done;
  return { status: 204 };
}

/** Whether a call reads, writes, or passes data by the thousand. */
export function effectOf({ effect, method }: Pick<Endpoint, 'effect' | 'method'>): Effect {
  return effect ?? (method === 'get' ? 'reads' : 'writes');
}

/** The kind of key that an endpoint takes. */
export function keyKindOf({ roles }: Pick<Endpoint, 'roles'>): 'secret' | 'public' {
  return roles.some(isPublicRole) ? 'public' : 'secret';
}

/** All roles that may call an endpoint. */
export function rolesOf(definition: Pick<Endpoint, 'roles'>): KeyRole[] {
  return keyKindOf(definition) === 'public' ? [...definition.roles] : ['full', ...definition.roles];
}
