import type { SmtpOutcome } from './message.ts';

/** No server can be connected to. The error says nothing about any message. */
export class SmtpUnavailableError extends Error {
  /** A code of the system or of ours where there is one, such as ECONNREFUSED, ETIMEDOUT, EAUTH. */
  readonly code: string | undefined;
  /** The reply of the server, for the log. It stays out of `message`, which is shown in more places. */
  readonly response: string | undefined;
  /** Whether the upgrade to TLS failed, or the session after it, so that a connection without it may succeed. */
  readonly hasTlsFailed: boolean;

  constructor(
    message: string,
    options: { code?: string | undefined; response?: string | undefined; hasTlsFailed?: boolean } = {},
  ) {
    super(message);
    this.name = 'SmtpUnavailableError';
    this.code = options.code;
    this.response = options.response;
    this.hasTlsFailed = options.hasTlsFailed ?? false;
  }
}

/** No server of a destination has answered for some time, and others wait for its connections. */
export class SilentServerError extends SmtpUnavailableError {
  readonly silentMs: number;

  /** @param silentMs for how long, in milliseconds; Infinity for one that has not greeted */
  constructor(silentMs: number) {
    super('The mail server has not answered yet');
    this.name = 'SilentServerError';
    this.silentMs = silentMs;
  }
}

/**
 * The servers that may get a message cannot be connected to, while others of the pool can. The error says nothing about
 * the message.
 */
export class NoOtherServerError extends Error {
  constructor() {
    super('No server that may take the message can be connected to');
    this.name = 'NoOtherServerError';
  }
}

/** A message waited for a connection for so long that others may have used what it was permitted. It asks again. */
export class StalePermitError extends Error {
  override name = 'StalePermitError';
}

/** The sources that may carry a message reach no address of its mail hosts, while others of the pool do. */
export class NoWayError extends Error {
  /** The labels of the sources that reach none. */
  readonly relays: readonly string[];
  /** The outcome of the message when it may use no others. */
  readonly outcome: SmtpOutcome;

  constructor(relays: readonly string[], outcome: SmtpOutcome) {
    super('No source that may take the message reaches its mail hosts');
    this.name = 'NoWayError';
    this.relays = relays;
    this.outcome = outcome;
  }
}

/** The reason why a connection cannot be used any more. The message does not contain the reply of the server. */
export class ConnectionFault extends Error {
  readonly code: string;
  /** The reply of the server, if there was one. */
  readonly response: string | undefined;
  /** The code of the refusal (4xx or 5xx) that ended the connection. */
  readonly refusalCode: number | undefined;

  constructor(code: string, message: string, options: { response?: string; refusalCode?: number } = {}) {
    super(message);
    this.name = 'ConnectionFault';
    this.code = code;
    this.response = options.response;
    this.refusalCode = options.refusalCode;
  }
}

/** Turns an error of the socket or of TLS into a `ConnectionFault`. */
export function toFault(error: unknown): ConnectionFault {
  if (error instanceof ConnectionFault) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  return new ConnectionFault(code ?? 'ESOCKET', message === '' ? (code ?? 'the connection failed') : message);
}
