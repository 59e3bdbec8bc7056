interface DatabaseFault {
  code?: string;
  constraint?: string;
  detail?: string;
  message?: string;
  cause?: unknown;
}

/**
 * Errors of the socket, and PostgreSQL's classes 08 (connection), 53 (resources) and 57P (operator intervention). A
 * server that is read-only (25006) has been replaced by another one, or soon will be.
 */
const UNREACHABLE_CODES =
  /^(?:E(?:CONN(?:REFUSED|RESET|ABORTED)|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE|(?:HOST|NET)(?:UNREACH|DOWN))|08...|53...|57P..|25006)$/;
/** A statement, a wait for a lock, a pause in a transaction or a transaction took longer than the session allows. */
const TOO_SLOW_CODES = /^(?:57014|55P03|25P03|25P04)$/;
/** Deadlock and serialization failure. */
const CONFLICT_CODES = /^(?:40P01|40001)$/;
/** The driver raises these without a code. */
const UNAVAILABLE_MESSAGES =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|to avoid wraparound data loss|error establishing an SSL connection|Client has encountered a connection error|Pool is closed|driver has already been destroyed/i;
const CAUSE_DEPTH_MAX = 5;

/** An error and its causes, from the outermost to the first. */
function* causes(error: unknown): Generator<DatabaseFault> {
  let current = error;
  for (let depth = 0; depth < CAUSE_DEPTH_MAX && typeof current === 'object' && current !== null; depth++) {
    yield current;
    if (current instanceof AggregateError) current = current.errors[0];
    else current = (current as DatabaseFault).cause;
  }
}

function hasCode(error: unknown, codes: RegExp): boolean {
  for (const fault of causes(error)) {
    if (fault.code !== undefined && codes.test(fault.code)) return true;
  }
  return false;
}

/**
 * Whether an error says that PostgreSQL cannot serve right now: it cannot be reached, did not answer in time, or other
 * sessions blocked it. Nothing of the transaction was done, unless the connection broke during its COMMIT.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (hasCode(error, UNREACHABLE_CODES) || isTooSlow(error) || isConflict(error)) return true;
  for (const fault of causes(error)) {
    if (fault.message !== undefined && UNAVAILABLE_MESSAGES.test(fault.message)) return true;
  }
  return false;
}

/** Whether an error is that of a condition of `selectIf`, which is a division by zero. */
export function isUnmet(error: unknown): boolean {
  return hasCode(error, /^22012$/);
}

/** PostgreSQL's own codes (SQLSTATE). */
const SQLSTATE = /^(?:\d[0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/;
/**
 * Classes of codes that speak of the values in a statement: cardinality, data, integrity, too large, and what our own
 * functions refuse.
 */
const VALUE_CODES = /^(?:21|22|23|44|54|P0)...$/;

/** A statement took too long whose cost its caller chose, with a condition for example. */
class CallersCostError extends Error {}

/** Runs a statement whose cost its caller chose. Its time-out is then not a fault of the database. */
export async function atCallersCost<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    throw new CallersCostError('The statement took too long', { cause: error });
  }
}

/** Whether a statement took too long whose cost its caller chose. */
export function isCallersCost(error: unknown): boolean {
  return error instanceof CallersCostError;
}

/**
 * Whether an error is a fault of the database, which an operator or time will mend, and not one of the values in the
 * statement: PostgreSQL is away, locked, slow, full, read-only or damaged, or it lacks a table or a privilege. Work
 * that meets it waits without an end, because repetitions can prove nothing about the work.
 */
export function isDatabaseFault(error: unknown): boolean {
  if (isCallersCost(error)) return false;
  return isDatabaseUnavailable(error) || (hasCode(error, SQLSTATE) && !hasCode(error, VALUE_CODES));
}

/** Whether PostgreSQL refused a value of the statement: the same statement without that value can succeed. */
export function isRefusedValue(error: unknown): boolean {
  return hasCode(error, VALUE_CODES);
}

/** What is wrong with the database, in the words of its driver, with the code. Such faults do not name values. */
export function databaseFaultReason(error: unknown): string {
  const code = errorCodes(error).at(-1);
  const message = errorMessage(error);
  return code === undefined || message === code ? message : `${message} (${code})`;
}

/**
 * Whether PostgreSQL itself reported the error, so the transaction was certainly undone, and can serve other
 * transactions. Not so when it is shutting down or overloaded.
 */
export function isUndoneByServer(error: unknown): boolean {
  return hasCode(error, SQLSTATE) && !hasCode(error, UNREACHABLE_CODES);
}

/** Codes of an error and of what caused it. */
export function errorCodes(error: unknown): string[] {
  return [...causes(error)].flatMap(({ code }) => (code === undefined ? [] : [code]));
}

/** The message of the root cause of an error; its code when the message is empty. */
export function errorMessage(error: unknown): string {
  const messages = [...causes(error)].map(({ message, code }) => message || code);
  return messages.findLast((message) => message !== undefined) ?? 'it does not answer';
}

/**
 * Why PostgreSQL cannot serve right now, in the words of its driver; undefined for an error that says something else.
 */
export function unavailabilityReason(error: unknown): string | undefined {
  return isDatabaseUnavailable(error) ? errorMessage(error) : undefined;
}

/** Whether PostgreSQL ended a statement because it ran too long, not because it waited for a lock. */
export function isStatementTimeout(error: unknown): boolean {
  return hasCode(error, /^57014$/);
}

/** Whether PostgreSQL ended a statement or a transaction because it took longer than its session allows. */
export function isTooSlow(error: unknown): boolean {
  return hasCode(error, TOO_SLOW_CODES);
}

/**
 * Whether PostgreSQL ended a transaction because of another one: both waited for each other, or the other one changed
 * what this one had read. Nothing of it was done, and a repetition can succeed.
 */
export function isConflict(error: unknown): boolean {
  return hasCode(error, CONFLICT_CODES);
}

/** Whether an error is the violation of the unique constraint or index of that name. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  for (const fault of causes(error)) {
    if (fault.code === '23505' && fault.constraint === constraint) return true;
  }
  return false;
}

/** The violation of the check constraint of that name; `detail` describes the row. Undefined for another error. */
export function findCheckViolation(error: unknown, constraint: string): { detail: string | undefined } | undefined {
  for (const fault of causes(error)) {
    if (fault.code === '23514' && fault.constraint === constraint) return { detail: fault.detail };
  }
  return undefined;
}
