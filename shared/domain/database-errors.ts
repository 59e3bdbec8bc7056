interface DatabaseFault {
  code?: string;
  constraint?: string;
  message?: string;
  cause?: unknown;
}

/** Errors of the socket, and PostgreSQL's classes 08 (connection), 53 (resources) and 57P (operator intervention). */
const UNAVAILABLE_CODES = /^(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|08...|53...|57P..)$/;
/** The driver raises these without a code. */
const UNAVAILABLE_MESSAGES =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Pool is closed|driver has already been destroyed/i;
const CAUSE_DEPTH_MAX = 5;

function* causes(error: unknown): Generator<DatabaseFault> {
  let current = error;
  for (let depth = 0; depth < CAUSE_DEPTH_MAX && typeof current === 'object' && current !== null; depth++) {
    yield current;
    if (current instanceof AggregateError) current = current.errors[0];
    else current = (current as DatabaseFault).cause;
  }
}

/** Whether an error says that PostgreSQL cannot be reached or cannot serve right now. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (const fault of causes(error)) {
    if (fault.code !== undefined && UNAVAILABLE_CODES.test(fault.code)) return true;
    if (fault.message !== undefined && UNAVAILABLE_MESSAGES.test(fault.message)) return true;
  }
  return false;
}

/** Whether PostgreSQL ended a transaction because it and another one waited for each other: nothing of it was done. */
export function isDeadlock(error: unknown): boolean {
  for (const fault of causes(error)) {
    if (fault.code === '40P01') return true;
  }
  return false;
}

/** Whether an error is the violation of the unique constraint or index of that name. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  for (const fault of causes(error)) {
    if (fault.code === '23505' && fault.constraint === constraint) return true;
  }
  return false;
}
