import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { redactText } from '../pure/redact.ts';
import { describeError } from './log-error.ts';

export type Logger = PinoLogger;

/** Fields whose values never reach a log, at any depth: secrets, personal data, content. */
const HIDDEN_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'password',
  'secret',
  'secretkey',
  'apikey',
  'token',
  'email',
  'address',
  'toaddress',
  'name',
  'subject',
  'html',
  'text',
  'body',
  'content',
  'data',
  'headers',
]);
const DEPTH_MAX = 4;
const ITEMS_MAX = 100;

/** Makes a value fit for a log: without hidden fields, and without addresses and tokens in texts. */
function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return describeError(value);
  if (value instanceof Date) return value;
  if (depth === DEPTH_MAX) return '[deep]';
  if (Array.isArray(value)) return value.slice(0, ITEMS_MAX).map((item) => redactValue(item, depth + 1));
  return redactFields(value, depth + 1);
}

function redactFields(fields: object, depth: number): Record<string, unknown> {
  const redacted: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields).slice(0, ITEMS_MAX)) {
    if (key === 'err') redacted[key] = describeError(value);
    else redacted[key] = HIDDEN_FIELDS.has(key.toLowerCase()) ? '[redacted]' : redactValue(value, depth);
  }
  return redacted;
}

/**
 * Creates a logger that writes JSON lines to standard output. Everything logged passes one filter: ids stay; addresses,
 * secrets and content do not, whatever an error carries.
 */
export function createLogger(options: { level: string; name: string }, destination?: DestinationStream): Logger {
  return pino(
    {
      level: options.level,
      base: { service: options.name },
      serializers: { err: (error: unknown) => error },
      formatters: { log: (fields) => redactFields(fields, 0) },
      hooks: {
        logMethod(args, method) {
          // Without this, pino would use the text of an error that is logged alone as the message, unfiltered.
          const [first, ...rest] = args as unknown[];
          const fields = first instanceof Error ? { err: first } : first;
          const texts = rest.map((item) => (typeof item === 'string' ? redactText(item) : item));
          method.apply(this, [
            typeof fields === 'string' ? redactText(fields) : fields,
            ...(first instanceof Error && texts.length === 0 ? ['an error'] : texts),
          ] as unknown as Parameters<typeof method>);
        },
      },
    },
    destination ?? pino.destination(1),
  );
}
