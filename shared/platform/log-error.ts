import { redactText } from '../pure/redact.ts';

const DEPTH_MAX = 5;
const ERRORS_MAX = 5;
const STACK_LINES_MAX = 20;

/**
 * Fields of an error that a log keeps beside its name, message and stack: codes and names of database objects. Of
 * PostgreSQL this leaves out `detail`, `where`, `hint`, `query` and parameters; of SMTP the reply of the server.
 */
const KEPT_FIELDS = [
  'code',
  'errno',
  'syscall',
  'statusCode',
  'responseCode',
  'enhancedCode',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
] as const;

/** Values of SQLSTATE whose messages quote data: data exceptions, and violated constraints. */
const DATA_QUOTING_STATE = /^2[23][\dA-Z]{3}$/;

/** Reads a field of any value: an error may be a proxy, or have getters that throw. */
function readField(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function messageOf(error: object, code: unknown): string {
  const message = readField(error, 'message');
  if (typeof message !== 'string') return '';
  // The ORM puts the statement before the message, with its parameters.
  const isStatement = /^(?:select|insert|update|delete|with|begin|set)\b/i.test(message);
  const text = isStatement ? message.slice(message.lastIndexOf(' - ') + 3) : message;
  const quoted = typeof code === 'string' && DATA_QUOTING_STATE.test(code) ? text.replaceAll(/"[^"]*"?/g, '"…"') : text;
  return redactText(quoted);
}

/** The lines of the stack, without the message before them. */
function stackOf(error: object): string | undefined {
  const stack = readField(error, 'stack');
  if (typeof stack !== 'string') return undefined;
  const lines = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return lines.slice(0, STACK_LINES_MAX).map(redactStackLine).join('\n');
}

function redactStackLine(line: string): string {
  return line.replaceAll(/[^\s@/]+@[^\s@/]+\.[^\s@/)]+(?=[\s)]|$)/g, '[address]').slice(0, 500);
}

/** Describes an error for a log: its type, codes, message and stack, and those of its causes. Never throws. */
export function describeError(error: unknown, depth = 0): unknown {
  if (typeof error !== 'object' || error === null) return typeof error === 'string' ? redactText(error) : typeof error;
  const code = readField(error, 'code');
  const name = readField(error, 'name');
  const described: Record<string, unknown> = {
    type: typeof name === 'string' ? redactText(name) : 'Error',
    message: messageOf(error, code),
  };
  for (const field of KEPT_FIELDS) {
    const value = readField(error, field);
    if (typeof value === 'number') described[field] = value;
    if (typeof value === 'string' && value.length <= 200) described[field] = redactText(value);
  }
  const stack = stackOf(error);
  if (stack) described['stack'] = stack;
  if (depth >= DEPTH_MAX) return described;
  const cause = readField(error, 'cause');
  if (cause !== undefined && cause !== null) described['cause'] = describeError(cause, depth + 1);
  const errors = readField(error, 'errors');
  if (Array.isArray(errors)) {
    described['errors'] = errors.slice(0, ERRORS_MAX).map((inner: unknown) => describeError(inner, depth + 1));
  }
  return described;
}
