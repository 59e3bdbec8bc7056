import { redactText } from '../pure/redact.ts';

const DEPTH_MAX = 5;
const ERRORS_MAX = 5;
const STACK_LINES_MAX = 20;

/**
 * What is kept of an error beside its name and its place: codes and names of things, which no person chose. Of
 * PostgreSQL that leaves out `detail`, `where`, `hint`, `query` and parameters, of SMTP the server's words.
 */
const KEPT_FIELDS = [
  ...['code', 'errno', 'syscall', 'statusCode', 'responseCode', 'enhancedCode'],
  ...['severity', 'schema', 'table', 'column', 'constraint', 'routine'],
] as const;

/** Classes of SQLSTATE whose messages quote data: data exceptions, and violated constraints. */
const QUOTES_DATA = /^2[23][\dA-Z]{3}$/;

/** A field of anything: an error may be a proxy, or have getters that throw. */
function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key];
  } catch {
    return undefined;
  }
}

function messageOf(error: object, code: unknown): string {
  const message = read(error, 'message');
  if (typeof message !== 'string') return '';
  // The ORM puts the statement before the message, with its parameters.
  const isStatement = /^(?:select|insert|update|delete|with|begin|set)\b/i.test(message);
  const text = isStatement ? message.slice(message.lastIndexOf(' - ') + 3) : message;
  const quoted = typeof code === 'string' && QUOTES_DATA.test(code) ? text.replaceAll(/"[^"]*"?/g, '"…"') : text;
  return redactText(quoted);
}

/** The places, without the message that stands before them. */
function placesOf(error: object): string | undefined {
  const stack = read(error, 'stack');
  if (typeof stack !== 'string') return undefined;
  const places = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return places.slice(0, STACK_LINES_MAX).map(redactPlace).join('\n');
}

function redactPlace(line: string): string {
  return line.replaceAll(/[^\s@/]+@[^\s@/]+\.[^\s@/)]+(?=[\s)]|$)/g, '[address]').slice(0, 500);
}

/** An error as a log may hold it: its type, codes, message and places, and those of its causes. Never throws. */
export function describeError(error: unknown, depth = 0): unknown {
  if (typeof error !== 'object' || error === null) {
    return typeof error === 'string' ? redactText(error) : typeof error;
  }
  const code = read(error, 'code');
  const name = read(error, 'name');
  const described: Record<string, unknown> = {
    type: typeof name === 'string' ? redactText(name) : 'Error',
    message: messageOf(error, code),
  };
  for (const field of KEPT_FIELDS) {
    const value = read(error, field);
    if (typeof value === 'number') described[field] = value;
    if (typeof value === 'string' && value.length <= 200) described[field] = redactText(value);
  }
  const stack = placesOf(error);
  if (stack) described['stack'] = stack;
  if (depth >= DEPTH_MAX) return described;
  const cause = read(error, 'cause');
  if (cause !== undefined && cause !== null) described['cause'] = describeError(cause, depth + 1);
  const errors = read(error, 'errors');
  if (Array.isArray(errors)) {
    described['errors'] = errors.slice(0, ERRORS_MAX).map((inner: unknown) => describeError(inner, depth + 1));
  }
  return described;
}
