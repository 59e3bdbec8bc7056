import { pino, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** Field names whose values never reach a log, wherever they stand in the first three levels of a record. */
const SECRET_FIELDS = [
  'authorization',
  'password',
  'secret',
  'secretKey',
  'apiKey',
  'token',
  'html',
  'body',
  'content',
];

/** Structured logs as JSON lines on standard output. */
export function createLogger(options: { level: string; name: string }): Logger {
  return pino({
    name: options.name,
    level: options.level,
    base: { service: options.name },
    redact: {
      paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
      censor: '[redacted]',
    },
    serializers: { err: pino.stdSerializers.err },
  });
}
