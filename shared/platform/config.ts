import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { isReturnPathHost } from '../pure/emails/return-path.ts';
import { parseCodecKeys, type CodecKey } from './codec-keys.ts';
import { CHECKS } from '../pure/schema-messages.ts';
import { tracingOf, tracingVariables, type TracingConfig } from './tracing/tracing-config.ts';
import { domainOf, emailAddressSchema } from '../pure/emails/email-address.ts';
import { DELIVERY_RETRY_SECONDS_DEFAULT } from '../pure/emails/delivery-retry.ts';
import { hosts, list, networks } from './config-lists.ts';
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

const environmentSchema = z.object({
  PORT: port.default(3000).describe('port of the API'),
  HOST: z.string().default('0.0.0.0').describe('address the API listens on'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('address under which recipients reach the API, for links in mail'),
  CONSOLE: z.stringbool().default(true).describe('whether the API serves the console; off = it does not exist'),
  DOCS: z.stringbool().default(true).describe('whether the API serves the docs, the reference and /openapi.json'),
  ADMIN_HOSTS: hosts
    .default([])
    .describe(
      'host names, comma-separated, at which alone console, docs and calls with secret keys answer; empty = all',
    ),
  DATABASE_URL: z
    .string({ error: 'is required, for example postgres://user:password@host:5432/everpost' })
    .regex(/^postgres(ql)?:\/\//, 'must begin with postgres://'),
  DATABASE_POOL_SIZE: z.coerce
    .number()
    .int()
    .min(2)
    .max(500)
    .default(20)
    .describe('PostgreSQL connections per process'),
  API_STATEMENT_TIMEOUT_SECONDS: z.coerce
    .number()
    .min(1)
    .max(600)
    .default(15)
    .describe('longest statement of a request; PostgreSQL ends what takes longer'),
  SMTP_URL: list
    .refine(
      (urls) => urls.every((url) => /^(?:smtps?|mx):\/\//.test(url)),
      'must begin with smtp://, smtps:// or mx://',
    )
    .default([])
    .describe('SMTP servers, comma-separated = a pool; mx://?helo=…&source=… sends to the hosts of each domain itself'),
  SMTP_CONNECTIONS: z.coerce.number().int().min(1).max(500).default(20).describe('SMTP connections per worker'),
  SHAPING_FILE: z.string().min(1).optional().describe('traffic rules for providers, a JSON file; see docs/shaping.md'),
  DNS_SERVERS: list.default([]).describe('name servers as ip:port, comma-separated; empty = the system resolvers'),
  DNSSEC_SERVERS: list
    .default([])
    .describe(
      'name servers that validate DNSSEC, for mx:// and DANE; the way to them must be trusted; empty = no DANE',
    ),
  DNS_BLOCKLISTS: list
    .default([])
    .describe('blocklists such as zen.spamhaus.org that `everpost doctor` asks about the addresses of mx://'),
  TLS_REPORT_FROM: emailAddressSchema
    .optional()
    .describe(
      'address, at a sender domain, from which domains get the reports about TLS that they ask for; with mx://',
    ),
  APP_SECRET: z
    .string({ error: 'is required: at least 32 random characters, it signs links' })
    .min(32, 'needs at least 32 characters'),
  KEY_MARK: z
    .optional(z.string().regex(/^[a-z0-9]{1,8}$/, 'takes 1 to 8 lower-case letters and digits'))
    .describe('mark in new keys, sk_<mark>_…, by which a router finds the installation of a request'),
  APP_SECRETS_PREVIOUS: z
    .string()
    .transform((text) => text.split(/(?<!\\),/).map((secret) => secret.replaceAll('\\,', ',').trim()))
    .transform((secrets) => secrets.filter((secret) => secret !== ''))
    .refine(
      (secrets) => secrets.every((secret) => secret.length >= 32),
      'need at least 32 characters each; a comma inside of one is written \\,',
    )
    .refine((secrets) => secrets.length <= PREVIOUS_SECRETS_MAX, `must be at most ${PREVIOUS_SECRETS_MAX}`)
    .default([])
    .describe('earlier values of APP_SECRET, comma-separated: they still verify links and open stored secrets'),
  API_RATE_LIMIT_PER_MINUTE: z.coerce.number().int().min(1).default(1000).describe('requests per minute of a project'),
  API_CONNECTIONS_MAX: z.coerce
    .number()
    .int()
    .min(1)
    .default(5_000)
    .describe('HTTP connections per API process; above them those without a valid key are closed first'),
  API_KEYLESS_RATE_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(200)
    .describe('requests per second without a valid key, of one client address at one API process; 0 = unlimited'),
  API_PROXY_SOURCES: networks
    .default([])
    .describe('addresses and networks of proxies in front of the API, comma-separated: X-Forwarded-For names clients'),
  IDEMPOTENCY_TTL_HOURS: z.coerce.number().positive().default(24),
  ATTACHMENTS_MAX_BYTES: z.coerce.number().int().positive().default(10_485_760),
  MESSAGE_MAX_BYTES: z.coerce.number().int().positive().default(41_943_040),
  EMAIL_HEADERS_ALLOWED: list
    .transform((names) => names.map((name) => name.toLowerCase()))
    .default([])
    .describe('headers of /v1/send that are passed on although relays take orders by them; x-mc-* is a family'),
  HSTS_SUBDOMAINS: z
    .stringbool()
    .default(false)
    .describe('whether browsers that have seen the API use https for all subdomains of its host, too'),
  EMAIL_RATE_PER_SECOND: z.coerce
    .number()
    .int()
    .min(0)
    .default(0)
    .describe('emails per second of a project; 0 = unlimited'),
  DELIVERY_RETRY_SECONDS: list
    .transform((items) => items.map(Number))
    .pipe(z.array(z.number().positive()).min(1))
    .default([...DELIVERY_RETRY_SECONDS_DEFAULT])
    .describe(
      'pauses after each time a mail server defers an email (4xx), comma-separated; after the last it has failed',
    ),
  COMPLAINT_RATE_MAX: z.coerce
    .number()
    .min(0)
    .max(100)
    .default(0.3)
    .describe('percent of complaints at a provider in 7 days at which campaigns of a project hold; 0 = never'),
  COMPLAINT_RATE_MIN_EMAILS: z.coerce
    .number()
    .int()
    .min(1)
    .default(1_000)
    .describe('emails to a provider in 7 days before their rate of complaints counts'),
  DELIVERY_PAUSE_SECONDS: z.coerce
    .number()
    .positive()
    .default(15)
    .describe('pause before another try when no SMTP server answers, or the project is disabled'),
  WEBHOOK_ALLOWED_NETWORKS: list
    .pipe(z.array(z.string().refine(isNetwork, 'Must be addresses or networks such as 10.0.3.0/24, comma-separated')))
    .default([])
    .describe('networks beside the public internet that webhooks may reach, comma-separated'),
  WEBHOOK_ALLOW_PRIVATE_NETWORKS: z.stringbool().default(false),
  WEBHOOK_ALLOW_HTTP: z
    .stringbool()
    .default(false)
    .describe('whether webhook endpoints on the public internet may have an http URL'),
  WEBHOOK_RETRY_SECONDS: list
    .transform((items) => items.map(Number))
    .pipe(z.array(z.number().positive()).min(1))
    .default([...WEBHOOK_RETRY_SECONDS_DEFAULT])
    .describe('pauses after each time an endpoint does not take an event, comma-separated'),
  WEBHOOK_DISABLE_DAYS: z.coerce
    .number()
    .positive()
    .max(365)
    .default(5)
    .describe('days after which an endpoint that takes nothing at all is disabled'),
  SUBMISSION_PORT: port.optional().describe('port on which the API takes email by SMTP, with STARTTLS'),
  SUBMISSION_TLS_PORT: port.optional().describe('another such port, on which connections begin with TLS'),
  SUBMISSION_TLS_KEY_FILE: z.string().optional().describe('private key (PEM) for TLS of submission by SMTP'),
  SUBMISSION_TLS_CERT_FILE: z.string().optional().describe('certificate chain (PEM) for TLS of submission by SMTP'),
  INBOUND_SMTP_PORT: port.optional(),
  INBOUND_DOMAIN: z.string().optional(),
  INBOUND_TLS_KEY_FILE: z.string().optional().describe('private key (PEM) for STARTTLS of inbound mail'),
  INBOUND_TLS_CERT_FILE: z.string().optional().describe('certificate chain (PEM) for STARTTLS of inbound mail'),
  INBOUND_PROXY_PROTOCOL: z
    .stringbool()
    .default(false)
    .describe('whether forwarders say who their clients are (PROXY protocol, version 1 or 2)'),
  INBOUND_PROXY_SOURCES: networks
    .default([])
    .describe('addresses and networks of these forwarders, comma-separated; others are clients themselves'),
  FBL_SOURCES: networks
    .default([])
    .describe('addresses and networks of feedback loops, comma-separated: their complaints count without a signature'),
  OPERATOR_EMAIL: emailAddressSchema
    .optional()
    .describe('where mail of people to postmaster@ and abuse@ at INBOUND_DOMAIN is forwarded to'),
  DELIVERY_RECEIPTS: z
    .stringbool()
    .default(true)
    .describe('whether mail servers are asked to report deliveries, when inbound mail is taken'),
  RETENTION_EMAIL_CONTENT_DAYS: days
    .default(30)
    .describe('days that bodies and headers of sent email are kept; 0 = kept'),
  RETENTION_ATTACHMENTS_DAYS: days.default(7).describe('days that attachments of sent email are kept; 0 = kept'),
  RETENTION_JOBS_DAYS: days.default(30).describe('days that ended imports and bulk operations are kept; 0 = kept'),
  RETENTION_WEBHOOKS_DAYS: days.default(7).describe('days that the log of webhook deliveries is kept; 0 = kept'),
  RETENTION_EMAILS_DAYS: days.default(0).describe('days that records of email are kept; 0 = kept'),
  RETENTION_EVENTS_DAYS: days.default(0).describe('days that events are kept; 0 = kept'),
  RETENTION_EXECUTIONS_DAYS: days.default(0).describe('days that ended executions are kept; 0 = kept'),
  RETENTION_CONSENTS_DAYS: days
    .default(0)
    .describe('days that replaced entries of the record of consent are kept; 0 = as long as the contact'),
  RETENTION_ERASED_CONTACTS_DAYS: days.default(0).describe('days that hashes of deleted contacts are kept; 0 = kept'),
  RETENTION_AUDIT_DAYS: days.default(365).describe('days that the record of who did what is kept; 0 = kept'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  METRICS_PORT: port.optional().describe('Prometheus metrics of the process, at GET /metrics'),
  HEALTH_PORT: port.optional().describe('health of the worker: 200 while it takes work, else 503'),
  METRICS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('address that metrics, and the health of the worker, listen on'),
  WORKER_TASK_QUEUES: list.default([]).describe('task queues this worker serves; empty = all'),
  WORKER_DEPLOYMENT: z
    .optional(z.string().regex(DEPLOYMENT_NAME, 'takes letters, digits, - and _'))
    .describe('name of the worker deployment in Temporal; without it workers have no versions'),
  WORKER_BUILD_ID: z
    .optional(z.string().regex(BUILD_ID, 'takes letters, digits, dots, + - and _, 128 characters at most'))
    .describe('version of the workflow code of this worker, within WORKER_DEPLOYMENT'),
  TEMPORAL_ADOPT: z
    .stringbool()
    .default(false)
    .describe('whether another Temporal namespace is adopted instead of refused; `npm start` sets it'),
  TEMPORAL_CODEC_KEYS: codecKeys
    .default([])
    .describe('keys that encrypt what Temporal stores, id:base64 comma-separated; the first one encrypts'),
  TEMPORAL_CODEC_TOKEN: z
    .optional(z.string().min(32, 'needs at least 32 characters'))
    .describe('token of the endpoints /codec/decode and /codec/encode; without it they do not exist'),
  TEMPORAL_UI_ORIGIN: list.default([]).describe('origins of the Temporal UI that may call them, comma-separated'),
  TEMPORAL_UI_URL: z
    .url({ protocol: /^https?$/ })
    .regex(/\/namespaces\/[^/?#]+\/*$/, 'must end with /namespaces/ and the name of the namespace')
    .transform((url) => url.replace(/\/+$/, ''))
    .optional()
    .describe('page of the namespace in the Temporal UI, to which the console links'),
  RESULTS_FOLDER: z
    .string()
    .min(1)
    .default('.everpost/results')
    .describe('folder of a worker for results of sent mail that PostgreSQL cannot record before the worker stops'),
  WORKFLOW_BUNDLE: z.string().optional().describe('prebuilt workflow bundle'),
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
