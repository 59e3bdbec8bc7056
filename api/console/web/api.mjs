/** @typedef {{ field: string, message: string }} FieldFault */

/** The secret key. It is kept nowhere else, and is gone when the page closes. */
let secretKey = '';

/** Sets the secret key for all calls. @param {string} key */
export function useKey(key) {
  secretKey = key;
}

/** The operations that the key may call, such as `POST /campaigns/:id/send`. @type {ReadonlySet<string>} */
let operations = new Set();

/** Sets what `may` answers for. @param {string[]} names */
export function useOperations(names) {
  operations = new Set(names);
}

/**
 * Whether the key may call an operation. What it may not call is not offered.
 * @param {string | undefined} operation undefined for what needs none
 */
export const may = (operation) => operation === undefined || operations.has(operation);

/** @type {(() => void) | undefined} */
let keyEnded;

/** Calls a function when the key is refused while somebody works. @param {() => void} listener */
export function onKeyEnded(listener) {
  keyEnded = listener;
}

/** An error with the message of the API, if there was an answer. */
export class ApiError extends Error {
  /**
   * @param {{ message: string, status?: number, code?: string, suggestion?: string, requestId?: string, faults?:
   *   FieldFault[] }} fields
   */
  constructor({ message, status = 0, code = '', suggestion = '', requestId = '', faults = [] }) {
    super(message);
    this.status = status;
    this.code = code;
    this.suggestion = suggestion;
    this.requestId = requestId;
    this.faults = faults;
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return /** @type {unknown} */ (JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * @param {Response} response
 * @param {any} body
 */
function errorOf(response, body) {
  const { status } = response;
  const requestId = response.headers.get('X-Request-ID') ?? '';
  if (typeof body?.error === 'string') return new ApiError({ message: body.error, status, requestId });
  const error = body?.error;
  if (typeof error?.message !== 'string') {
    const suggestion = 'Something between this page and the API may have answered in its place. Retry';
    return new ApiError({ message: `The answer has status ${status} and no explanation`, status, suggestion });
  }
  const { message, code, suggestion, errors: faults = [] } = error;
  return new ApiError({ message, status, code, suggestion, requestId, faults });
}

/**
 * Calls the API.
 * @param {string} method
 * @param {string} path with its query
 * @param {{ body?: unknown, signal?: AbortSignal, headers?: Record<string, string> }} [options]
 * @returns {Promise<any>} the answer without its envelope; undefined when it is empty
 * @throws {ApiError}
 */
export async function call(method, path, { body, signal, headers = {} } = {}) {
  /** @type {Response} */
  let response;
  let text;
  try {
    response = await fetch(path, {
      method,
      headers: {
        Authorization: `Bearer ${secretKey}`,
        // The record of who did what says that it was the console.
        'Everpost-Console': '1',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    const suggestion = 'Look at the network and whether the API runs, then try again';
    throw new ApiError({ message: 'The API cannot be reached', suggestion });
  }
  const answer = text === '' ? undefined : parsed(text);
  if (response.status === 401) keyEnded?.();
  if (!response.ok) throw errorOf(response, answer);
  const isEnvelope = answer && typeof answer === 'object' && 'success' in answer && 'data' in answer;
  return isEnvelope ? answer.data : answer;
}

/**
 * What an action does that is one request: it calls the API, then `onDone`, and says what was done.
 * @param {[method: string, path: string, body?: unknown]} request
 * @param {string} said
 * @param {() => void} [onDone]
 */
export const doing =
  ([method, path, body], said, onDone) =>
  async () => {
    await call(method, path, { body });
    onDone?.();
    return said;
  };

/**
 * Reads a path. A query with an address goes into a body, because proxies write URLs to their logs.
 * @param {string} path with its query
 * @param {{ signal?: AbortSignal }} options
 * @returns {Promise<any>} as `call`
 */
export function read(path, options) {
  const [list, query] = path.split('?');
  const values = new URLSearchParams(query);
  // Names of templates are no secret, and have no such endpoint.
  if (list === '/templates' || (!values.has('address') && !values.has('search'))) return call('GET', path, options);
  return call('POST', `${list}/search`, { ...options, body: Object.fromEntries(values) });
}

/**
 * A path with a query; undefined and empty values are left out.
 * @param {string} path
 * @param {Record<string, string | number | undefined>} values
 */
export function withQuery(path, values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  if (query === '') return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}
