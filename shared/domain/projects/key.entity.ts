import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { KEY_ROLES } from '../../pure/key-roles.ts';
import { baseProperties } from '../../database/base-properties.ts';

export const KeyEntity = defineEntity({
  name: 'Key',
  tableName: 'api_key',
  properties: {
    ...baseProperties,
    projectId: p.uuid(),
    name: p.text(),
    role: p.enum(KEY_ROLES),
    /** SHA-256 of the key, hex. The key itself is shown once and never stored. */
    keyHash: p.text().unique(),
    /** Whether it is one of the two keys that come with the project. */
    isFirst: p.boolean().default(false),
    /** The only domains that it may send from, in their stored form; null means all of the project. */
    senderDomains: p.array().nullable(),
    expiresAt: p.datetime(3).nullable(),
    lastUsedAt: p.datetime(3).nullable(),
  },
});
export type Key = InferEntity<typeof KeyEntity>;
