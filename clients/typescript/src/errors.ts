import type { components } from './schema.ts';

type Schemas = components['schemas'];

/** What is wrong with one field: `field` is a dot path such as `attachments.0.filename`. */
export type FieldError = Schemas['FieldError'];

/** The codes that the API answers with. */
type ApiErrorCode = {
  [Name in keyof Schemas]: Schemas[Name] extends { code: infer Code extends string; requestId: string } ? Code : never;
}[keyof Schemas];

/**
 * `CONNECTION_FAILED`: no answer came in time. `UNEXPECTED_ANSWER`: the answer is not from Everpost, but perhaps from a
 * proxy. `MISSING_KEY`: the client has no key of the kind that the endpoint takes. `FIELDS_IGNORED`: the request was
 * carried out without some of its fields, and the client is strict.
 */
export type ErrorCode = ApiErrorCode | 'CONNECTION_FAILED' | 'UNEXPECTED_ANSWER' | 'MISSING_KEY' | 'FIELDS_IGNORED';

interface ErrorFields {
  status?: number;
  code: ErrorCode;
  errors?: FieldError[];
  suggestion?: string | undefined;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  details?: Record<string, unknown>;
  cause?: unknown;
}

/** Thrown when there is no answer, or one that is not 2xx. */
export class EverpostError extends Error {
  override readonly name = 'EverpostError';
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly code: ErrorCode;
  /** The faulty fields of a 422. */
  readonly errors: FieldError[];
  /** What to do about the error. */
  readonly suggestion: string | undefined;
  /** Names the request in the log of the API. */
  readonly requestId: string | undefined;
  /** How many seconds to wait before the next try. */
  readonly retryAfter: number | undefined;
  /** Details for programs, different for each code. */
  readonly details: Record<string, unknown>;
  /**
   * True when this request was carried out before: by an earlier try whose answer was lost, or by an earlier call with
   * the same `idempotencyKey`. Nothing is left to do.
   */
  isAlreadyDone = false;

  constructor(message: string, fields: ErrorFields) {
    super(message, { cause: fields.cause });
    this.status = fields.status ?? 0;
    this.code = fields.code;
    this.errors = fields.errors ?? [];
    this.suggestion = fields.suggestion;
    this.requestId = fields.requestId;
    this.retryAfter = fields.retryAfter;
    this.details = fields.details ?? {};
  }
}

/** Seconds, or the moment of an HTTP date (RFC 9110, 10.2.3). */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

type Envelope = { error?: string | Partial<Schemas['ValidationError']> } | null | undefined;

/**
 * The error of an answer that is not 2xx.
 * @param body its JSON, undefined when it has none
 */
export function errorOf(response: Response, body: unknown): EverpostError {
  const { status } = response;
  const error = typeof body === 'object' ? (body as Envelope)?.error : undefined;
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const retryAfter = readRetryAfter(response.headers.get('retry-after'));
  // Three endpoints answer a missing field in the flat form that the interface fixes for them.
  if (typeof error === 'string')
    return new EverpostError(error, { status, code: 'BAD_REQUEST', requestId, retryAfter });
  if (error?.code === undefined) {
    const message = `The answer with status ${status} is not one of Everpost`;
    return new EverpostError(message, { status, code: 'UNEXPECTED_ANSWER', requestId, retryAfter });
  }
  const { code, message = code, ...fields } = error;
  const faults = fields.errors?.map((fault) => `${fault.field}: ${fault.message}`) ?? [];
  return new EverpostError(faults.length > 0 ? faults.join('; ') : message, {
    ...fields,
    status,
    code,
    requestId: fields.requestId ?? requestId,
    retryAfter,
  });
}
