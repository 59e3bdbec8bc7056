import { z } from 'zod';
import type { StepType } from './automation-status.ts';
import { customDataSchema } from '../contacts/custom-data-schema.ts';
import { isEmailAddress, normalizeAddress } from '../emails/email-address.ts';
import { LIMITS } from '../limits.ts';
import { filterConditionSchema, type Filter, type FilterCondition } from '../filters/filter-condition.ts';
import { splitWebhookUrl } from './webhook-url.ts';

const MINUTE_MS = 60_000;
const UNIT_MS = { minutes: MINUTE_MS, hours: 60 * MINUTE_MS, days: 24 * 60 * MINUTE_MS } as const;
const DELAY_MS_MAX = 365 * UNIT_MS.days;
const TIMEOUT_SECONDS_MAX = 365 * 24 * 60 * 60;
const TEXT_LENGTH_MAX = 500;
const URL_LENGTH_MAX = 2_000;
const HEADERS_MAX = 50;
const HEADER_LENGTH_MAX = 4_000;

/** The name of an event that starts an automation or ends a wait; those of Everpost itself included. */
export const eventNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.eventNameLength)
  .meta({ examples: ['signed_up', 'email.open', 'segment.vip.entry'] });

const triggerConfig = z.object({ eventName: eventNameSchema });

/** An address, or a template that prints one; what it prints is checked when the step runs. */
const customEmailSchema = z
  .string()
  .trim()
  .min(1)
  .max(TEXT_LENGTH_MAX)
  .refine((text) => text.includes('{{') || isEmailAddress(normalizeAddress(text)), {
    error: 'Must be an email address, or a placeholder that prints one',
    params: { code: 'invalid_string' },
  });

const sendEmailConfig = z.object({
  templateId: z.uuid().nullish(),
  recipient: z
    .object({ type: z.enum(['CONTACT', 'CUSTOM']), customEmail: customEmailSchema.nullish() })
    .refine((recipient) => recipient.type !== 'CUSTOM' || recipient.customEmail, {
      error: 'customEmail is required when the recipient is CUSTOM',
      path: ['customEmail'],
    })
    .optional(),
});

const delayConfig = z
  .object({ amount: z.number().positive(), unit: z.enum(['minutes', 'hours', 'days']) })
  .refine((delay) => delay.amount * UNIT_MS[delay.unit] <= DELAY_MS_MAX, {
    error: 'A delay may last 365 days at most',
    path: ['amount'],
    params: { code: 'too_big' },
  });

const waitForEventConfig = z.object({
  eventName: eventNameSchema,
  timeout: z
    .number()
    .min(1)
    .max(TIMEOUT_SECONDS_MAX)
    .nullish()
    .meta({ description: 'Seconds; without it the wait has no end' }),
});

/** The tree that stands for one filter alone. */
function treeOf(filter: unknown) {
  return { logic: 'AND', groups: [{ filters: [filter] }] };
}
/** How deep the filter lies in that tree. */
const SINGLE_FILTER_DEPTH = 4;

/** A tree as `{ condition }`, or one filter in its place; kept in the form it was written in. */
const conditionConfig = z
  .record(z.string(), z.unknown())
  .transform((config, context): { condition: FilterCondition } | Filter => {
    const isTree = config['condition'] !== undefined;
    const result = filterConditionSchema.safeParse(isTree ? config['condition'] : treeOf(config), {
      reportInput: true,
    });
    if (!result.success) {
      for (const issue of result.error.issues) {
        const path = isTree ? ['condition', ...issue.path] : issue.path.slice(SINGLE_FILTER_DEPTH);
        context.issues.push({ ...issue, path, input: issue.input } as (typeof context.issues)[number]);
      }
      return z.NEVER;
    }
    const [filter] = result.data.groups[0]?.filters ?? [];
    return isTree || !filter ? { condition: result.data } : filter;
  });

/** RFC 9110 section 5.6.2. */
const headerNameSchema = z.string().regex(/^[!#$%&'*+.^_`|~\dA-Za-z-]{1,100}$/, 'Not the name of a header');
/** These are Everpost's to set: they frame the message, or say who signed it. */
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
]);

const webhookConfig = z.object({
  url: z
    .string()
    .trim()
    .min(1)
    .max(URL_LENGTH_MAX)
    .refine((url) => splitWebhookUrl(url) !== undefined, {
      error:
        'Must be an http or https URL without credentials; placeholders may stand behind the host, or one that prints a whole URL at the start',
      params: { code: 'invalid_string' },
    }),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  headers: z
    .record(
      headerNameSchema.refine((name) => !OWN_HEADERS.has(name.toLowerCase()), 'This header is set by Everpost'),
      z.string().max(HEADER_LENGTH_MAX),
    )
    .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, `At most ${HEADERS_MAX} headers`)
    .optional(),
  body: z.unknown().optional(),
});

interface ContactUpdateConfig {
  data?: Record<string, unknown>;
  updates?: Record<string, unknown>;
  subscribed?: boolean;
  subscriptionAction?: 'none' | 'subscribe' | 'unsubscribe';
}

const updateContactConfig = z
  .object({
    data: customDataSchema.optional(),
    updates: customDataSchema.optional(),
    subscribed: z.boolean().optional(),
    subscriptionAction: z.enum(['none', 'subscribe', 'unsubscribe']).optional(),
  })
  .refine((config) => Object.keys(readContactUpdate(config)).length > 0, {
    error: 'Needs data, subscribed, or both',
    path: ['data'],
  });

const exitConfig = z.object({ reason: z.string().trim().max(TEXT_LENGTH_MAX).nullish() });

/** The shape of each step's `config`, as callers write it. */
export const STEP_CONFIGS = {
  TRIGGER: triggerConfig,
  SEND_EMAIL: sendEmailConfig,
  DELAY: delayConfig,
  WAIT_FOR_EVENT: waitForEventConfig,
  CONDITION: conditionConfig,
  WEBHOOK: webhookConfig,
  UPDATE_CONTACT: updateContactConfig,
  EXIT: exitConfig,
} as const satisfies Record<StepType, z.ZodType>;

export type StepConfig<Type extends StepType> = z.infer<(typeof STEP_CONFIGS)[Type]>;

/** A step's configuration as stored: whichever of the above fits its type. */
export type StoredConfig = Record<string, unknown>;

/** Reads a stored configuration, which was checked when it was written. */
export function readConfigOf<Type extends StepType>(type: Type, config: StoredConfig): StepConfig<Type> {
  return STEP_CONFIGS[type].parse(config) as StepConfig<Type>;
}

/** How long a DELAY lasts, in milliseconds. */
export function delayMs({ amount, unit }: StepConfig<'DELAY'>): number {
  return Math.round(amount * UNIT_MS[unit]);
}

/** The tree of a CONDITION, whichever form it was written in. */
export function conditionTree(config: StepConfig<'CONDITION'>): FilterCondition {
  return 'condition' in config ? config.condition : { logic: 'AND', groups: [{ filters: [config] }] };
}

/** What an UPDATE_CONTACT changes, whichever names it was written with. */
export function readContactUpdate(config: ContactUpdateConfig): {
  data?: Record<string, unknown>;
  subscribed?: boolean;
} {
  const { subscriptionAction } = config;
  const action =
    subscriptionAction === undefined || subscriptionAction === 'none' ? undefined : subscriptionAction === 'subscribe';
  const data = config.data ?? config.updates;
  return {
    ...(data && { data }),
    ...((config.subscribed ?? action) !== undefined && { subscribed: config.subscribed ?? action }),
  };
}
