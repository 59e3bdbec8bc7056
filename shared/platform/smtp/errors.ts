/** No server could be talked to. It says nothing about any message. */
export class SmtpUnavailableError extends Error {
  /** A code of the system or of ours where there is one, such as ECONNREFUSED, ETIMEDOUT, EAUTH. */
  readonly code: string | undefined;
  /** The server's words, for the operator's log. They stay out of `message`, which goes further. */
  readonly response: string | undefined;

  constructor(message: string, options: { code?: string | undefined; response?: string | undefined } = {}) {
    super(message);
    this.name = 'SmtpUnavailableError';
    this.code = options.code;
    this.response = options.response;
  }
}

/** The servers that may get a message cannot be talked to; others of the pool can. It says nothing about the message. */
export class NoOtherServerError extends Error {
  constructor() {
    super('No server that may take the message can be connected to');
    this.name = 'NoOtherServerError';
  }
}

/** Why a connection cannot be used any more. The message holds nothing that the server said. */
export class ConnectionFault extends Error {
  readonly code: string;
  /** The server's words, where it said something. */
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

/** A fault of the socket or of TLS in the same form. */
export function toFault(error: unknown): ConnectionFault {
  if (error instanceof ConnectionFault) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  return new ConnectionFault(code ?? 'ESOCKET', message === '' ? (code ?? 'the connection failed') : message);
}
