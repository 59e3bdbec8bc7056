import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { baseProperties } from '../base-properties.ts';

export const SenderDomainEntity = defineEntity({
  name: 'SenderDomain',
  tableName: 'sender_domain',
  properties: {
    ...baseProperties,
    projectId: p.uuid(),
    domain: p.text(),
    verified: p.boolean().default(false),
    verifiedAt: p.datetime(3).nullable(),
    lastCheckedAt: p.datetime(3).nullable(),
  },
});
export type SenderDomain = InferEntity<typeof SenderDomainEntity>;
