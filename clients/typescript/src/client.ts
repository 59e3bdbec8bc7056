import { EverpostError, errorOf } from './errors.ts';
import { methodsOf } from './methods.ts';
import type {
  Answer,
  ItemOf,
  ListPath,
  Method,
  Operation,
  OptionsArgument,
  PathOf,
  SendOptions,
} from './operations.ts';
import { eachItem } from './paging.ts';
import { rowsOf } from './rows.ts';
import { isRepeatable, KEYED_PATHS, withRetries } from './retry.ts';
import { ROUTES } from './routes.ts';
import type {
  AcceptedEmail,
  AddressVerification,
  IgnoredField,
  SendEmailRequest,
  SubscribeRequest,
  TrackRequest,
  TrackResult,
} from './schema.ts';

export interface EverpostOptions {
  /** The URL of the API, such as `https://mail.example.com`. */
  url: string;
  /** `sk_…`, for everything but `track`. It belongs on a server. */
  secretKey?: string | undefined;
  /** `pk_…`, for `track`. A web page may contain it. */
  publicKey?: string | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** How often a request is tried again. 5 when left out, which takes about 15 seconds. */
  maxRetries?: number;
  /** Called once with each field of a request that had no effect. It writes to the console when left out. */
  onWarning?: (message: string) => void;
  /** Throws FIELDS_IGNORED instead, although the request was carried out; `error.details.answer` is its answer. */
  strict?: boolean;
  /** How long one try may take. 30,000 when left out. */
  timeoutMs?: number;
}

/** The outcome of `send`. */
export interface Sent {
  /** One for each recipient, in the order of `to`; empty when `isAnswerLost`. */
  emails: AcceptedEmail[];
  timestamp: string;
  /** The fields of the request that had no effect. */
  warnings: IgnoredField[];
  /**
   * The emails were accepted before, and this call has sent nothing: by an earlier try whose answer was lost, or by an
   * earlier call with the same `idempotencyKey`. `emails.list` finds them.
   */
  isAnswerLost: boolean;
}

/** Options of any operation, without their types. */
interface AnyOptions extends SendOptions {
  params?: Record<string, string | number>;
  query?: object;
  body?: unknown;
}

interface JsonAnswer {
  response: Response;
  /** Undefined when there is none. */
  json: unknown;
}

const PUBLIC_PATHS = ['/v1/track', '/v1/subscribe'];
/** `onWarning` is not called more often than this. */
const SHOWN_MAX = 100;

function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @throws TypeError when a value would lead to another path */
function fillPath(path: string, params: Record<string, string | number> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = String(params[name] ?? '');
    if (['', '.', '..'].includes(value)) throw new TypeError(`${path} needs a value for ${name}`);
    return encodeURIComponent(value);
  });
}

function queryText(query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, unknown][]) {
    const values = Array.isArray(value) ? value : [value ?? []].flat();
    for (const each of values) parameters.append(name, String(each));
  }
  const text = parameters.toString();
  return text && `?${text}`;
}

function checkKey(key: string | undefined, prefix: string, option: string): void {
  if (key !== undefined && !key.startsWith(prefix))
    throw new TypeError(`${option} is a key that begins with ${prefix}`);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The error of a failed connection. @throws the reason of the caller's signal */
function connectionFault(cause: unknown, signal: AbortSignal | undefined, timeout: AbortSignal): EverpostError {
  signal?.throwIfAborted();
  const message = timeout.aborted ? 'No answer came in time' : 'The connection failed before the answer came';
  return new EverpostError(message, { code: 'CONNECTION_FAILED', cause });
}

/** A client of the API. Every method throws EverpostError when the answer is not 2xx. */
export class Everpost {
  readonly #options: EverpostOptions;
  readonly #url: string;
  readonly #shown = new Set<string>();

  readonly contacts = methodsOf(this, ROUTES.contacts);
  readonly topics = methodsOf(this, ROUTES.topics);
  readonly templates = methodsOf(this, ROUTES.templates);
  readonly campaigns = methodsOf(this, ROUTES.campaigns);
  readonly segments = methodsOf(this, ROUTES.segments);
  readonly workflows = methodsOf(this, ROUTES.workflows);
  readonly events = methodsOf(this, ROUTES.events);
  readonly emails = methodsOf(this, ROUTES.emails);
  readonly suppressions = methodsOf(this, ROUTES.suppressions);
  readonly domains = methodsOf(this, ROUTES.domains);
  readonly activity = methodsOf(this, ROUTES.activity);
  readonly webhooks = methodsOf(this, ROUTES.webhooks);
  readonly projects = methodsOf(this, ROUTES.projects);
  readonly keys = methodsOf(this, ROUTES.keys);
  readonly audit = methodsOf(this, ROUTES.audit);

  constructor(options: EverpostOptions) {
    this.#options = options;
    this.#url = new URL(options.url).href.replace(/\/+$/, '');
    checkKey(options.secretKey, 'sk_', 'secretKey');
    checkKey(options.publicKey, 'pk_', 'publicKey');
  }

  /** Sends a transactional email to each recipient. It is sent once, whatever breaks. */
  async send(email: SendEmailRequest, options: SendOptions = {}): Promise<Sent> {
    try {
      const { data, warnings = [] } = await this.request('POST', '/v1/send', { ...options, body: email });
      return { ...data, warnings, isAnswerLost: false };
    } catch (error) {
      if (!(error instanceof EverpostError && error.isAlreadyDone)) throw error;
      const timestamp = String(error.details['originalRequestAt']);
      return { emails: [], timestamp, warnings: [], isAnswerLost: true };
    }
  }

  /**
   * Tracks an event of a contact, with the public key. It is stored once, whatever breaks.
   * @returns undefined when it was stored before: by an earlier try whose answer was lost, or by an earlier call with the
   *   same `idempotencyKey`
   */
  async track(event: TrackRequest, options: SendOptions = {}): Promise<TrackResult | undefined> {
    try {
      return (await this.request('POST', '/v1/track', { ...options, body: event })).data;
    } catch (error) {
      if (!(error instanceof EverpostError && error.isAlreadyDone)) throw error;
      return undefined;
    }
  }

  /**
   * Asks for newsletters as the form of a page does, with the public key. The person gets an email and is subscribed when
   * they confirm. It may be repeated: an address gets few emails a day.
   */
  async subscribe(subscription: SubscribeRequest): Promise<void> {
    await this.request('POST', '/v1/subscribe', { body: subscription });
  }

  /** Checks whether email to an address can arrive. */
  async verify(email: string): Promise<AddressVerification> {
    return (await this.request('POST', '/v1/verify', { body: { email } })).data;
  }

  /**
   * Calls any endpoint.
   * @param path as in the reference, with its placeholders: `/contacts/{id}`
   * @returns the JSON of the answer as in the reference, undefined for a 204
   */
  async request<M extends Method, Path extends PathOf<M>>(
    method: M,
    path: Path,
    ...[options]: OptionsArgument<Operation<M, Path>>
  ): Promise<Answer<Operation<M, Path>>> {
    return (await this.#perform(method, path, options ?? {})) as Answer<Operation<M, Path>>;
  }

  /** The items of a list, page after page: `for await (const contact of everpost.list('/contacts')) …` */
  list<Path extends ListPath>(
    path: Path,
    ...[options]: OptionsArgument<Operation<'GET', Path>>
  ): AsyncGenerator<ItemOf<Path>> {
    const any: AnyOptions = options ?? {};
    return eachItem((position) =>
      this.#perform('GET', path, { ...any, query: { ...any.query, ...position } }),
    ) as AsyncGenerator<ItemOf<Path>>;
  }

  /**
   * The octets of a file, such as `/contacts/export` as CSV. A file that is not complete ends with an error.
   * @param path as in the reference, with its placeholders
   */
  async download(path: string, options: AnyOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#open('GET', path, options);
  }

  /** The rows of a file of JSON lines. @throws EverpostError CONNECTION_FAILED when the file is not complete */
  async *rows(method: 'GET' | 'POST', path: string, options: AnyOptions): AsyncGenerator {
    const { query, body } = options;
    const form = { format: 'jsonl' };
    const asked = method === 'GET' ? { query: { ...query, ...form } } : { body: { ...(body as object), ...form } };
    yield* rowsOf(await this.#open(method, path, { ...options, ...asked }));
  }

  async #open(method: Method, path: string, options: AnyOptions): Promise<ReadableStream<Uint8Array>> {
    const { url, init } = this.#requestOf(method, path, options);
    const { maxRetries = 5 } = this.#options;
    const rules = {
      method,
      path,
      mayRepeat: isRepeatable(method, path, undefined),
      maxRetries,
      signal: options.signal,
    };
    const { body } = await withRetries(async () => {
      // The limit of time is for the beginning of the answer: the rest may take hours.
      const begun = new AbortController();
      const timer = setTimeout(() => begun.abort(), this.#options.timeoutMs ?? 30_000);
      const response = await this.#fetch(url, init, options.signal, begun.signal).finally(() => clearTimeout(timer));
      if (!response.ok) throw errorOf(response, readJson(await response.text()));
      return response;
    }, rules);
    return body ?? new Blob([]).stream();
  }

  #key(path: string): string {
    const name = PUBLIC_PATHS.includes(path) ? 'publicKey' : 'secretKey';
    const key = this.#options[name];
    if (key === undefined) throw new EverpostError(`${path} needs the option ${name}`, { code: 'MISSING_KEY' });
    return key;
  }

  #requestOf(method: Method, path: string, options: AnyOptions) {
    const { body } = options;
    const isForm = body instanceof FormData;
    const idempotencyKey = options.idempotencyKey ?? (KEYED_PATHS.includes(path) ? newIdempotencyKey() : undefined);
    const url = `${this.#url}${fillPath(path, options.params)}${queryText(options.query)}`;
    const init: RequestInit = {
      method,
      headers: {
        Authorization: `Bearer ${this.#key(path)}`,
        ...(body !== undefined && !isForm && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    };
    return { url, init, idempotencyKey };
  }

  async #perform(method: Method, path: string, options: AnyOptions): Promise<unknown> {
    const { signal } = options;
    const { url, init, idempotencyKey } = this.#requestOf(method, path, options);
    try {
      const attempt = async () => {
        const answer = await this.#attempt(url, init, signal);
        this.#warn(`${method} ${path}`, answer);
        return answer.json;
      };
      return await withRetries(attempt, {
        method,
        path,
        mayRepeat: isRepeatable(method, path, idempotencyKey),
        maxRetries: this.#options.maxRetries ?? 5,
        signal,
      });
    } catch (error) {
      // An earlier try has deleted the record.
      if (method === 'DELETE' && error instanceof EverpostError && error.isAlreadyDone) return undefined;
      throw error;
    }
  }

  /** Says which fields of a request had no effect. */
  #warn(request: string, { response, json }: JsonAnswer): void {
    const fields = response.headers.get('everpost-ignored-fields')?.split(', ') ?? [];
    const messages = fields.map((field) => `${request}: ${field} does not exist here and had no effect`);
    if (this.#options.strict && messages.length > 0) {
      const details = { fields, answer: json };
      throw new EverpostError(messages.join('; '), { status: response.status, code: 'FIELDS_IGNORED', details });
    }
    for (const message of messages) {
      if (this.#shown.has(message) || this.#shown.size >= SHOWN_MAX) continue;
      this.#shown.add(message);
      const { onWarning = console.warn } = this.#options; // eslint-disable-line no-console -- the default for people
      onWarning(`Everpost: ${message}`);
    }
  }

  async #fetch(
    url: string,
    init: RequestInit,
    signal: AbortSignal | undefined,
    timeout: AbortSignal,
  ): Promise<Response> {
    const call = this.#options.fetch ?? fetch;
    try {
      return await call(url, { ...init, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    } catch (cause) {
      throw connectionFault(cause, signal, timeout);
    }
  }

  /** One try. @throws EverpostError, or the reason of the caller's signal */
  async #attempt(url: string, init: RequestInit, signal: AbortSignal | undefined): Promise<JsonAnswer> {
    const timeout = AbortSignal.timeout(this.#options.timeoutMs ?? 30_000);
    const response = await this.#fetch(url, init, signal, timeout);
    const text = await response.text().catch((cause: unknown) => {
      throw connectionFault(cause, signal, timeout);
    });
    const json = readJson(text);
    if (!response.ok) throw errorOf(response, json);
    if (json === undefined && text !== '') {
      const { status } = response;
      throw new EverpostError('The answer is not JSON', { status, code: 'UNEXPECTED_ANSWER' });
    }
    return { response, json };
  }
}
