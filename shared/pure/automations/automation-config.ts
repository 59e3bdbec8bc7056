import { z } from 'zod';
import type { StepType } from './automation-status.ts';
import { atMost } from '../bounded-schema.ts';
import { customDataSchema } from '../contacts/custom-data-schema.ts';
import { isEmailAddress, normalizeAddress } from '../emails/email-address.ts';
import { LIMITS } from '../limits.ts';
import { filterConditionSchema, filterSchema, type Filter, type FilterCondition } from '../filters/filter-condition.ts';
import { CHECKS } from '../schema-messages.ts';
import { topicChoicesSchema, type TopicChoices } from '../topics.ts';
import { splitWebhookUrl } from './webhook-url.ts';
import { model } from '../model.ts';

const MINUTE_MS = 60_000;
const UNIT_MS = { minutes: MINUTE_MS, hours: 60 * MINUTE_MS, days: 24 * 60 * MINUTE_MS } as const;
const DELAY_MS_MAX = 365 * UNIT_MS.days;
const TIMEOUT_SECONDS_MAX = 365 * 24 * 60 * 60;
const TEXT_LENGTH_MAX = 500;
const URL_LENGTH_MAX = 2_000;
const HEADERS_MAX = 50;
const HEADER_LENGTH_MAX = 4_000;

/** The name of an event that starts an automation or ends a wait; system events are allowed. */
export const eventNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.eventNameLength)
  .meta({ examples: ['signed_up', 'email.open', 'segment.vip.entry'] });

const humanOnlySchema = z.optional(z.boolean()).meta({
  description: 'Whether events of machines are left out: opens and clicks with `isMachine`',
  examples: [true],
});

export const triggerConfigSchema = z.object({ eventName: eventNameSchema, humanOnly: humanOnlySchema });

/** What starts an automation, as callers write it. */
export function triggerConfigOf(automation: { triggerEvent: string; triggerHumanOnly: boolean }): {
  eventName: string;
  humanOnly?: true;
} {
  const { triggerEvent: eventName, triggerHumanOnly } = automation;
  return { eventName, ...(triggerHumanOnly && { humanOnly: true }) };
}

const triggerConfig = triggerConfigSchema.meta({
  id: 'TriggerConfig',
  description: 'The config of the TRIGGER step, which every workflow has',
});

/** An address, or a template that prints one. The printed address is checked when the step runs. */
const customEmailSchema = z
  .string()
  .trim()
  .min(1)
  .max(TEXT_LENGTH_MAX)
  .refine((text) => text.includes('{{') || isEmailAddress(normalizeAddress(text)), {
    error: 'Must be an email address, or a placeholder that prints one',
    params: { code: 'invalid_string' },
  });

const sendEmailConfig = model('SendEmailConfig', 'The config of a SEND_EMAIL step', {
  templateId: z.uuid().nullish().describe('The template; it may stand beside `config` instead'),
  topicId: z
    .uuid()
    .nullish()
    .meta({
      description: 'What the email is about; the topic of the template when left out',
      examples: ['0198c0de-0000-7000-8000-000000000001'],
    }),
  recipient: z
    .object({
      type: z.enum(['CONTACT', 'CUSTOM']).describe('The contact of the execution, or another address'),
      customEmail: customEmailSchema.nullish().describe('The address for CUSTOM, or a placeholder that prints one'),
    })
    .refine((recipient) => recipient.type !== 'CUSTOM' || recipient.customEmail, {
      error: 'customEmail is required when the recipient is CUSTOM',
      path: ['customEmail'],
    })
    .meta({ id: 'SendEmailRecipient', description: 'Whom the email goes to; the contact when left out' })
    .optional(),
});

const delayConfig = z
  .object({
    amount: z
      .number()
      .positive()
      .meta({ description: 'How many units; fractions are allowed', examples: [1.5] }),
    unit: z.enum(['minutes', 'hours', 'days']).describe('What `amount` counts'),
  })
  .refine((delay) => delay.amount * UNIT_MS[delay.unit] <= DELAY_MS_MAX, {
    error: 'A delay may last 365 days at most',
    path: ['amount'],
    params: { code: 'too_big' },
  })
  .meta({ id: 'DelayConfig', description: 'The config of a DELAY step, at most 365 days' });

const waitForEventConfig = model('WaitForEventConfig', 'The config of a WAIT_FOR_EVENT step', {
  eventName: eventNameSchema,
  humanOnly: humanOnlySchema,
  timeout: z
    .number()
    .min(1)
    .max(TIMEOUT_SECONDS_MAX)
    .nullish()
    .meta({ description: 'Seconds; without it the wait has no end', examples: [86_400] }),
});

/** A condition that consists of one filter. */
function treeOf<Value>(filter: Value) {
  return { logic: 'AND' as const, groups: [{ filters: [filter] }] };
}
/** The length of the path to the filter in that tree: `groups.0.filters.0`. */
const SINGLE_FILTER_DEPTH = 4;

/** One of the two forms of a CONDITION; the other is a single filter. */
export const filterTreeSchema = model('FilterTree', 'A tree of filters', { condition: filterConditionSchema });

/** Whether the config of a CONDITION has the form of a tree. */
function isConditionTree(config: StoredConfig): boolean {
  return config['condition'] !== undefined;
}

/** A tree as `{ condition }`, or a single filter. The config keeps the form in which the caller wrote it. */
const conditionConfig = z
  .record(z.string(), z.unknown())
  .transform((config, context): { condition: FilterCondition } | Filter => {
    const isTree = isConditionTree(config);
    const result = filterConditionSchema.safeParse(isTree ? config['condition'] : treeOf(config), CHECKS);
    if (!result.success) {
      for (const issue of result.error.issues) {
        const path = isTree ? ['condition', ...issue.path] : issue.path.slice(SINGLE_FILTER_DEPTH);
        context.issues.push({ ...issue, path, input: issue.input } as (typeof context.issues)[number]);
      }
      return z.NEVER;
    }
    const [filter] = result.data.groups[0]?.filters ?? [];
    return isTree || !filter ? { condition: result.data } : filter;
  })
  .meta({
    id: 'ConditionConfig',
    override: ({ jsonSchema }: { jsonSchema: Record<string, unknown> }) => {
      for (const key of ['type', 'propertyNames', 'additionalProperties']) Reflect.deleteProperty(jsonSchema, key);
      jsonSchema.description = 'The config of a CONDITION step: a tree of filters, or one filter in its place';
      jsonSchema.anyOf = [{ $ref: '#/components/schemas/FilterTree' }, { $ref: '#/components/schemas/Filter' }];
    },
  });

/** RFC 9110 section 5.6.2. */
const headerNameSchema = z.string().regex(/^[!#$%&'*+.^_`|~\dA-Za-z-]{1,100}$/, 'Must be the name of a header');
/** Headers that only Everpost sets: they frame the request, or carry its signature. */
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

const webhookConfig = model('WebhookConfig', 'The config of a WEBHOOK step', {
  url: z
    .string()
    .trim()
    .min(1)
    .max(URL_LENGTH_MAX)
    .refine((url) => splitWebhookUrl(url) !== undefined, {
      error:
        'Must be an http or https URL without credentials; placeholders may stand behind the host, or one that prints a whole URL at the start',
      params: { code: 'invalid_string' },
    })
    .meta({
      description: 'Where to call; placeholders may stand behind the host',
      examples: ['https://crm.example.com/hook'],
    }),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST').describe('The method of the request'),
  headers: atMost(
    HEADERS_MAX,
    z.record(
      headerNameSchema.refine((name) => !OWN_HEADERS.has(name.toLowerCase()), 'This header is set by Everpost'),
      z.string().max(HEADER_LENGTH_MAX),
    ),
  )
    .optional()
    .meta({
      description: 'Headers of the request; values may hold placeholders',
      examples: [{ 'X-Source': 'everpost' }],
    }),
  body: z
    .unknown()
    .optional()
    .describe('The body; texts in it may hold placeholders. Contact, workflow, execution and event when left out'),
});

interface ContactUpdateConfig {
  data?: Record<string, unknown>;
  updates?: Record<string, unknown>;
  subscribed?: boolean;
  subscriptionAction?: 'none' | 'subscribe' | 'unsubscribe';
  topics?: TopicChoices;
}

/** The value of `subscribed` that each `subscriptionAction` stands for. */
const SUBSCRIBED_BY = { none: undefined, subscribe: true, unsubscribe: false } as const;

const updateContactConfig = z
  .object({
    data: customDataSchema.optional(),
    updates: customDataSchema.optional().describe('Another name for `data`'),
    subscribed: z.boolean().optional().describe('Whether the contact is subscribed from now on'),
    subscriptionAction: z
      .enum(['none', 'subscribe', 'unsubscribe'])
      .optional()
      .describe('Another way to say `subscribed`'),
    topics: topicChoicesSchema.optional(),
  })
  .refine((config) => Object.keys(readContactUpdate(config)).length > 0, {
    error: 'Must have data, subscribed or topics',
    path: ['data'],
  })
  .meta({
    id: 'UpdateContactConfig',
    description: 'The config of an UPDATE_CONTACT step: data, subscribed and topics, at least one of them',
  });

const exitConfig = model('ExitConfig', 'The config of an EXIT step', {
  reason: z
    .string()
    .trim()
    .max(TEXT_LENGTH_MAX)
    .nullish()
    .meta({ description: 'Kept as the `exitReason` of the execution', examples: ['has bought'] }),
});

/** The shape of each step's `config`, as callers write it. Unknown keys are dropped. */
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

/** A step's config as stored; the step's type tells its shape. */
export type StoredConfig = Record<string, unknown>;

/** The form of a config that names the keys which a step of this type knows. */
export function configForm(type: StepType, config: StoredConfig): z.ZodType {
  if (type !== 'CONDITION') return STEP_CONFIGS[type];
  return isConditionTree(config) ? filterTreeSchema : filterSchema;
}

/** Reads a stored config. It was validated when it was written, so a fault throws. */
export function readConfigOf<Type extends StepType>(type: Type, config: StoredConfig): StepConfig<Type> {
  return STEP_CONFIGS[type].parse(config) as StepConfig<Type>;
}

/** How long a DELAY lasts, in milliseconds. */
export function delayMs({ amount, unit }: StepConfig<'DELAY'>): number {
  return Math.round(amount * UNIT_MS[unit]);
}

/** The tree of a CONDITION, in whichever form its config is. */
export function conditionTree(config: StepConfig<'CONDITION'>): FilterCondition {
  return 'condition' in config ? config.condition : treeOf(config);
}

/** The changes of an UPDATE_CONTACT step, whichever of the two names its config uses for each. */
export function readContactUpdate(config: ContactUpdateConfig): {
  data?: Record<string, unknown>;
  subscribed?: boolean;
  topics?: TopicChoices;
} {
  const data = config.data ?? config.updates;
  const subscribed = config.subscribed ?? SUBSCRIBED_BY[config.subscriptionAction ?? 'none'];
  return {
    ...(data && { data }),
    ...(subscribed !== undefined && { subscribed }),
    ...(config.topics && { topics: config.topics }),
  };
}
