import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { isReturnPathHost } from '../pure/emails/return-path.ts';
import { parseCodecKeys, type CodecKey } from './codec-keys.ts';
import { CHECKS } from '../pure/schema-messages.ts';
import { tracingOf, tracingVariables, type TracingConfig } from './tracing/tracing-config.ts';
import { domainOf, emailAddressSchema } from '../pure/emails/email-address.ts';
import { DELIVERY_RETRY_SECONDS_DEFAULT } from '../pure/emails/delivery-retry.ts';
import { domainNames, hosts, list, nameServers, networks } from './config-lists.ts';
import { isNetwork } from './webhook/allowed-networks.ts';
import { WEBHOOK_RETRY_SECONDS_DEFAULT } from '../pure/webhooks/webhook-retry.ts';

const PORT_FAULT = 'Must be a number from 0 to 65535';
const port = z.string().regex(/^\d+$/, PORT_FAULT).transform(Number).pipe(z.number().max(65_535, PORT_FAULT));
const days = z.coerce.number().int().min(0).max(36_500);
/** Keys of the payload codec, `id:base64,…`; an empty list while the codec is off. */
const codecKeys = z.string().transform((text, context): CodecKey[] => {
  try {
    return parseCodecKeys(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'is not usable' });
    return z.NEVER;
  }
});

/** A link with a wrong signature is checked against each of them. */
const PREVIOUS_SECRETS_MAX = 10;

/** Temporal joins the two with a dot or a colon: the name may contain neither, and the build no colon. */
const DEPLOYMENT_NAME = /^[A-Za-z0-9][\w-]{0,63}$/;
const BUILD_ID = /^[A-Za-z0-9][\w.+-]{0,127}$/;

/** The variables. docs/configuration.md says what each of them means. */
const environmentSchema = z.object({
  PORT: port.default(3000),
  HOST: z.string().default('0.0.0.0'),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  CONSOLE: z.stringbool().default(true),
  DOCS: z.stringbool().default(true),
  ADMIN_HOSTS: hosts.default([]),
  DATABASE_URL: z
    .string({ error: 'is required, for example postgres://user:password@host:5432/everpost' })
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://'),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(2).max(500).default(20),
  API_STATEMENT_TIMEOUT_SECONDS: z.coerce.number().min(1).max(600).default(15),
  SMTP_URL: list
    .refine(
      (urls) => urls.every((url) => /^(?:smtps?|mx):\/\//.test(url)),
      'must begin with smtp://, smtps:// or mx://',
    )
    .default([]),
  SMTP_CONNECTIONS: z.coerce.number().int().min(1).max(500).default(20),
  SHAPING_FILE: z.string().min(1).optional(),
  DNS_SERVERS: nameServers.default([]),
  DNSSEC_SERVERS: nameServers.default([]),
  DNS_BLOCKLISTS: domainNames.default([]),
  TLS_REPORT_FROM: emailAddressSchema.optional(),
  APP_SECRET: z
    .string({ error: 'is required: at least 32 random characters, it signs links' })
    .min(32, 'needs at least 32 characters'),
  KEY_MARK: z.optional(z.string().regex(/^[a-z0-9]{1,8}$/, 'takes 1 to 8 lower-case letters and digits')),
  APP_SECRETS_PREVIOUS: z
    .string()
    .transform((text) => text.split(/(?<!\\),/).map((secret) => secret.replaceAll('\\,', ',').trim()))
    .transform((secrets) => secrets.filter((secret) => secret !== ''))
    .refine(
      (secrets) => secrets.every((secret) => secret.length >= 32),
      'need at least 32 characters each; a comma inside of one is written \\,',
    )
    .refine((secrets) => secrets.length <= PREVIOUS_SECRETS_MAX, `must be at most ${PREVIOUS_SECRETS_MAX}`)
    .default([]),
  API_RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(1000),
  API_CONNECTIONS_MAX: z.coerce.number().int().min(1).default(5_000),
  API_KEYLESS_RATE_PER_SECOND: z.coerce.number().int().min(0).default(200),
  API_PROXY_SOURCES: networks.default([]),
  IDEMPOTENCY_TTL_HOURS: z.coerce.number().positive().default(24),
  ATTACHMENTS_MAX_BYTES: z.coerce.number().int().positive().default(10_485_760),
  MESSAGE_MAX_BYTES: z.coerce.number().int().positive().default(41_943_040),
  EMAIL_HEADERS_ALLOWED: list.transform((names) => names.map((name) => name.toLowerCase())).default([]),
  HSTS_SUBDOMAINS: z.stringbool().default(false),
  EMAIL_RATE_PER_SECOND: z.coerce.number().int().min(0).default(0),
  DELIVERY_RETRY_SECONDS: list
    .transform((items) => items.map(Number))
    .pipe(z.array(z.number().positive()).min(1))
    .default([...DELIVERY_RETRY_SECONDS_DEFAULT]),
  COMPLAINT_RATE_MAX: z.coerce.number().min(0).max(100).default(0.3),
  COMPLAINT_RATE_MIN_EMAILS: z.coerce.number().int().min(1).default(1_000),
  DELIVERY_PAUSE_SECONDS: z.coerce.number().positive().default(15),
  WEBHOOK_ALLOWED_NETWORKS: list
    .pipe(z.array(z.string().refine(isNetwork, 'Must be addresses or networks such as 10.0.3.0/24, comma-separated')))
    .default([]),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: z.stringbool().default(false),
  WEBHOOK_ALLOW_HTTP: z.stringbool().default(false),
  WEBHOOK_RETRY_SECONDS: list
    .transform((items) => items.map(Number))
    .pipe(z.array(z.number().positive()).min(1))
    .default([...WEBHOOK_RETRY_SECONDS_DEFAULT]),
  WEBHOOK_DISABLE_DAYS: z.coerce.number().positive().max(365).default(5),
  SUBMISSION_PORT: port.optional(),
  SUBMISSION_TLS_PORT: port.optional(),
  SUBMISSION_TLS_KEY_FILE: z.string().optional(),
  SUBMISSION_TLS_CERT_FILE: z.string().optional(),
  INBOUND_SMTP_PORT: port.optional(),
  INBOUND_DOMAIN: z.string().trim().toLowerCase().optional(),
  INBOUND_TLS_KEY_FILE: z.string().optional(),
  INBOUND_TLS_CERT_FILE: z.string().optional(),
  INBOUND_PROXY_PROTOCOL: z.stringbool().default(false),
  INBOUND_PROXY_SOURCES: networks.default([]),
  FBL_SOURCES: networks.default([]),
  OPERATOR_EMAIL: emailAddressSchema.optional(),
  DELIVERY_RECEIPTS: z.stringbool().default(true),
  RETENTION_EMAIL_CONTENT_DAYS: days.default(30),
  RETENTION_ATTACHMENTS_DAYS: days.default(7),
  RETENTION_JOBS_DAYS: days.default(30),
  RETENTION_WEBHOOKS_DAYS: days.default(7),
  RETENTION_EMAILS_DAYS: days.default(0),
  RETENTION_EVENTS_DAYS: days.default(0),
  RETENTION_EXECUTIONS_DAYS: days.default(0),
  RETENTION_CONSENTS_DAYS: days.default(0),
  RETENTION_ERASED_CONTACTS_DAYS: days.default(0),
  RETENTION_AUDIT_DAYS: days.default(365),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  METRICS_PORT: port.optional(),
  HEALTH_PORT: port.optional(),
  METRICS_HOST: z.string().default('127.0.0.1'),
  WORKER_TASK_QUEUES: list.default([]),
  WORKER_DEPLOYMENT: z.optional(z.string().regex(DEPLOYMENT_NAME, 'takes letters, digits, - and _')),
  WORKER_BUILD_ID: z.optional(
    z.string().regex(BUILD_ID, 'takes letters, digits, dots, + - and _, 128 characters at most'),
  ),
  TEMPORAL_ADOPT: z.stringbool().default(false),
  TEMPORAL_CODEC_KEYS: codecKeys.default([]),
  TEMPORAL_CODEC_TOKEN: z.optional(z.string().min(32, 'needs at least 32 characters')),
  TEMPORAL_UI_ORIGIN: list.default([]),
  TEMPORAL_UI_URL: z
    .url({ protocol: /^https?$/ })
    .regex(/\/namespaces\/[^/?#]+\/*$/, 'must end with /namespaces/ and the name of the namespace')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  RESULTS_FOLDER: z.string().min(1).default('.everpost/results'),
  WORKFLOW_BUNDLE: z.string().optional(),
  ...tracingVariables,
});

/** The names of all variables, apart from those that Temporal and OpenTelemetry read by themselves. */
export const VARIABLES = Object.keys(environmentSchema.shape);

type Variables = z.infer<typeof environmentSchema>;

function checkCombinations(values: Variables, context: z.RefinementCtx): void {
  if (values.INBOUND_PROXY_PROTOCOL && values.INBOUND_PROXY_SOURCES.length === 0) {
    context.addIssue({
      code: 'custom',
      path: ['INBOUND_PROXY_SOURCES'],
      message: 'is required together with INBOUND_PROXY_PROTOCOL',
    });
  }
  if (values.SUBMISSION_TLS_PORT !== undefined && values.SUBMISSION_TLS_CERT_FILE === undefined) {
    const message = 'is required together with SUBMISSION_TLS_PORT';
    context.addIssue({ code: 'custom', path: ['SUBMISSION_TLS_CERT_FILE'], message });
  }
  const { OPERATOR_EMAIL: operator, INBOUND_DOMAIN: inbound } = values;
  const operatorDomain = domainToASCII(domainOf(operator ?? ''));
  if (operator !== undefined && (operatorDomain === domainToASCII(inbound ?? '') || isReturnPathHost(operatorDomain))) {
    context.addIssue({
      code: 'custom',
      path: ['OPERATOR_EMAIL'],
      message: 'must not be at INBOUND_DOMAIN or at a bounce.* domain: forwarded mail would come back',
    });
  }
  for (const [one, other] of [
    ['INBOUND_TLS_KEY_FILE', 'INBOUND_TLS_CERT_FILE'],
    ['SUBMISSION_TLS_KEY_FILE', 'SUBMISSION_TLS_CERT_FILE'],
    ['WORKER_DEPLOYMENT', 'WORKER_BUILD_ID'],
  ] as const) {
    if ((values[one] === undefined) === (values[other] === undefined)) continue;
    const [missing, present] = values[one] === undefined ? [one, other] : [other, one];
    context.addIssue({ code: 'custom', path: [missing], message: `is required together with ${present}` });
  }
}

/** The configuration of a process, read once from the environment. */
export type Config = Variables & {
  /** Where recipients reach it. */
  publicUrl: string;
  /** Where programs call the API. */
  apiUrl: string;
  tracing: TracingConfig;
};

/** The configuration is not usable. One message lists every faulty variable, without values, which may be secret. */
export class ConfigError extends Error {}

/** A variable that is missing or wrong. The message does not show the value, which may be secret. */
export interface ConfigFault {
  variable: string;
  message: string;
}

/** Checks variables. An empty variable counts as not set. */
function check<T>(schema: z.ZodType<T>, environment: NodeJS.ProcessEnv): { values: T } | { faults: ConfigFault[] } {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const result = schema.safeParse(present, CHECKS);
  if (result.success) return { values: result.data };
  return { faults: result.error.issues.map(({ path, message }) => ({ variable: path.join('.'), message })) };
}

/** The URL of the API: PUBLIC_URL, or the first admin host where that is none of them. */
function apiUrlOf({ ADMIN_HOSTS: [first, ...others] }: Pick<Config, 'ADMIN_HOSTS'>, publicUrl: string): string {
  const { protocol, hostname } = new URL(publicUrl);
  return first === undefined || [first, ...others].includes(hostname) ? publicUrl : `${protocol}//${first}`;
}

/** The configuration of an environment, or all its faults. */
export function inspectConfig(environment: NodeJS.ProcessEnv): { config: Config } | { faults: ConfigFault[] } {
  const checked = check(environmentSchema.superRefine(checkCombinations), environment);
  if ('faults' in checked) return checked;
  const config = checked.values;
  const publicUrl = (config.PUBLIC_URL ?? `http://localhost:${config.PORT}`).replace(/\/+$/, '');
  return { config: { ...config, publicUrl, apiUrl: apiUrlOf(config, publicUrl), tracing: tracingOf(config) } };
}

/**
 * Reads and checks the environment. `@temporalio/envconfig` reads the variables of Temporal (`TEMPORAL_ADDRESS`,
 * `TEMPORAL_NAMESPACE`, …), as Temporal's own tools do.
 * @throws ConfigError naming all variables that are missing or wrong
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const inspected = inspectConfig(environment);
  if ('config' in inspected) return inspected.config;
  const faults = inspected.faults.map(({ variable, message }) => `  ${variable}: ${message}`);
  throw new ConfigError(`The configuration is not usable:\n${faults.join('\n')}`);
}

/** A warning about links over plain HTTP; undefined for https and for addresses of this machine. */
export function publicUrlWarning({ publicUrl }: Pick<Config, 'publicUrl'>): string | undefined {
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:' || /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return undefined;
  return (
    'PUBLIC_URL is not https: mail programs do not offer one-click unsubscribing (RFC 8058), ' +
    'and others can read links in transit'
  );
}

/**
 * Reads some of the variables, for commands that need nothing else.
 * @throws ConfigError naming the first that is wrong
 */
function readPart<T>(schema: z.ZodType<T>, environment: NodeJS.ProcessEnv): T {
  const checked = check(schema, environment);
  if ('values' in checked) return checked.values;
  const [fault] = checked.faults;
  throw new ConfigError(`${fault?.variable}: ${fault?.message}`);
}

/**
 * Reads APP_SECRET and its earlier values; undefined without APP_SECRET.
 * @throws ConfigError when one of them is too short
 */
export function readAppSecrets(
  environment: NodeJS.ProcessEnv,
): Pick<Config, 'APP_SECRET' | 'APP_SECRETS_PREVIOUS'> | undefined {
  if (!environment['APP_SECRET']) return undefined;
  return readPart(environmentSchema.pick({ APP_SECRET: true, APP_SECRETS_PREVIOUS: true }), environment);
}

/** Reads one variable of an environment, or its default. @throws ConfigError */
export function readVariable<Name extends keyof Variables>(
  name: Name,
  environment: NodeJS.ProcessEnv,
): Variables[Name] {
  const mask: { [Each in keyof Variables]?: true } = { [name]: true };
  return readPart(environmentSchema.pick(mask) as unknown as z.ZodType<Variables>, environment)[name];
}
