import { z } from 'zod';
import { domainNameSchema } from '../../shared/domain/domains/domain-name.ts';
import type { Key } from '../../shared/domain/projects/key.entity.ts';
import { lineSchema } from '../../shared/pure/brand.ts';
import { KEY_ROLES } from '../../shared/pure/key-roles.ts';
import { LIMITS } from '../../shared/pure/limits.ts';
import { model } from '../../shared/pure/model.ts';
import { viewOf } from '../http/view.ts';

export const ownKeySchema = model('OwnKey', 'The key that made the request', {
  id: z.uuid(),
  name: z.string().meta({ examples: ['Shop server'] }),
  role: z.enum(KEY_ROLES).describe('What it may call'),
});

export const keySchema = model('Key', 'A key, without the key itself', {
  ...ownKeySchema.shape,
  senderDomains: z.array(z.string()).nullable().describe('The only domains that it may send from'),
  expiresAt: z.iso.datetime().nullable().describe('From when on it is refused; null means never'),
  lastUsedAt: z.iso.datetime().nullable().describe('When it was last used, to the minute'),
  isCurrent: z.boolean().describe('Whether it made this request'),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const createdKeySchema = model('CreatedKey', 'A new key', {
  ...keySchema.shape,
  key: z.string().meta({ description: 'The key itself, shown here only', examples: ['sk_…'] }),
});

/** What a request shows of a key. */
export const keyView = viewOf(keySchema, ({ id }: Key, currentId: string) => ({ isCurrent: id === currentId }));

const nameSchema = lineSchema(LIMITS.keyNameLength).meta({
  description: 'Where the key is used',
  examples: ['Shop server'],
});
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
  role: z.enum(KEY_ROLES).describe('What it may call; it never changes'),
  senderDomains: domainsSchema.default(null).meta(domainsMeta),
  expiresAt: endSchema.default(null).meta(endMeta),
});

export const updateKeyBody = z.object({
  name: nameSchema.optional(),
  senderDomains: domainsSchema.optional().meta(domainsMeta),
  expiresAt: endSchema.optional().meta(endMeta),
});
