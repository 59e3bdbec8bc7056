import { z } from 'zod';
import type { DataPatch } from './contacts/custom-data.ts';
import { model } from './model.ts';

const FIELDS_MAX = 500;
const FIELD_LENGTH_MAX = 200;

/** What requests with the public key may do. It stands in pages, so everybody has it. A part left out is allowed. */
export const publicKeyRulesSchema = model(
  'PublicKeyRules',
  'What the public key may do; null means everything that it can do',
  {
    fields: z
      .array(z.string().min(1).max(FIELD_LENGTH_MAX))
      .max(FIELDS_MAX)
      .nullable()
      .default(null)
      .meta({ description: 'Keys of `data` that are stored on the contact; null means all', examples: [['plan']] }),
    subscribed: z
      .boolean()
      .default(true)
      .describe('Whether `subscribed`, `topics` and `trackingAllowed` of a request are followed'),
    resubscribe: z
      .boolean()
      .default(true)
      .describe('Whether a request subscribes a contact again that has opted out, or left a topic'),
    dataTargets: z
      .boolean()
      .default(true)
      .describe('Whether steps may call a host, or write to an address, that contact data or an event names'),
  },
);

export type PublicKeyRules = z.infer<typeof publicKeyRulesSchema>;

/** The keys of a request's `data` that the rules keep off the contact. The event has them all the same. */
function unstoredKeys(rules: PublicKeyRules, keys: string[]): string[] {
  const { fields } = rules;
  return fields === null ? [] : keys.filter((key) => !fields.includes(key));
}

/** Takes out of a patch what the rules keep off the contact. */
export function ruledPatch(rules: PublicKeyRules, patch: DataPatch): DataPatch {
  const stored = Object.assign(Object.create(null), patch.stored) as Record<string, unknown>;
  for (const key of unstoredKeys(rules, Object.keys(stored))) Reflect.deleteProperty(stored, key);
  const unremoved = new Set(unstoredKeys(rules, patch.removed));
  return { ...patch, stored, removed: patch.removed.filter((key) => !unremoved.has(key)) };
}

/** The fields of a request's body that have no effect on the contact because of the rules. */
export function ruledOutFields(
  rules: PublicKeyRules,
  body: { subscribed?: unknown; topics?: unknown; trackingAllowed?: unknown; data?: unknown },
): string[] {
  const keys = typeof body.data === 'object' && body.data !== null ? Object.keys(body.data) : [];
  const ignored = (['subscribed', 'topics', 'trackingAllowed'] as const).filter(
    (field) => body[field] !== undefined && !rules.subscribed,
  );
  return [...ignored, ...unstoredKeys(rules, keys).map((key) => `data.${key}`)];
}
