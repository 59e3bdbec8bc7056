import { z } from 'zod';
import { domainNameSchema } from '../../shared/domain/domains/domain-name.ts';
import type { Key } from '../../shared/domain/projects/key.entity.ts';
import { KEY_ROLES } from '../../shared/pure/key-roles.ts';
import { LIMITS } from '../../shared/pure/limits.ts';

/** The key that made a request. */
export const ownKeySchema = z
  .object({
    id: z.uuid(),
    name: z.string().meta({ examples: ['Shop server'] }),
    role: z.enum(KEY_ROLES).meta({ description: 'What it may call' }),
  })
  .meta({ id: 'OwnKey', description: 'The key that made the request' });

export const keySchema = ownKeySchema
  .extend({
    senderDomains: z.array(z.string()).nullable().meta({ description: 'The only domains that it may send from' }),
    expiresAt: z.iso.datetime().nullable().meta({ description: 'From when on it is refused; null means never' }),
    lastUsedAt: z.iso.datetime().nullable().meta({ description: 'When it was last used, to the minute' }),
    isCurrent: z.boolean().meta({ description: 'Whether it made this request' }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Key', description: 'A key, without the key itself' });

export const createdKeySchema = keySchema
  .extend({ key: z.string().meta({ description: 'The key itself, shown here only', examples: ['sk_…'] }) })
  .meta({ id: 'CreatedKey', description: 'A new key' });

/** What a request shows of a key. */
export function keyView(key: Key, currentId: string): z.infer<typeof keySchema> {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    senderDomains: key.senderDomains ?? null,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    isCurrent: key.id === currentId,
    createdAt: key.createdAt.toISOString(),
    updatedAt: key.updatedAt.toISOString(),
  };
}

const nameSchema = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.keyNameLength)
  .meta({ description: 'Where the key is used', examples: ['Shop server'] });
const domainsSchema = z.array(domainNameSchema).min(1).max(LIMITS.senderDomainsPerKey).nullable();
const domainsMeta = {
  description: 'The only domains that a send key may send from; null means all of the project',
  examples: [['mail.example.com']],
};
const endSchema = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .nullable();
const endMeta = {
  description: 'From when on the key is refused; null means never',
  examples: ['2027-01-01T00:00:00Z'],
};

export const createKeyBody = z.object({
  name: nameSchema,
  role: z.enum(KEY_ROLES).meta({ description: 'What it may call; it never changes' }),
  senderDomains: domainsSchema.default(null).meta(domainsMeta),
  expiresAt: endSchema.default(null).meta(endMeta),
});

export const updateKeyBody = z.object({
  name: nameSchema.optional(),
  senderDomains: domainsSchema.optional().meta(domainsMeta),
  expiresAt: endSchema.optional().meta(endMeta),
});
