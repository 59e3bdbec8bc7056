import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { baseProperties } from '../database/base-properties.ts';

/** A domain that a project sends from. Its private key is no property, so that it is loaded only to sign. */
export const SenderDomainEntity = defineEntity({
  name: 'SenderDomain',
  tableName: 'sender_domain',
  properties: {
    ...baseProperties,
    projectId: p.uuid(),
    domain: p.text(),
    /** Whether mail may be sent from it: `trusted` or `dnsVerified`. */
    verified: p.boolean().default(false),
    verifiedAt: p.datetime(3).nullable(),
    /** By the operator's word, without a look at DNS; no check takes it back. */
    trusted: p.boolean().default(false),
    /** All required records were there at the last checks. Only then is its mail signed. */
    dnsVerified: p.boolean().default(false),
    /** Whether the return-path records are required: so when the instance took inbound mail as the domain was added. */
    returnPath: p.boolean().default(false),
    lastCheckedAt: p.datetime(3).nullable(),
    /** The purposes of the records that were there at the last check. */
    recordsFound: p.array().default([]),
    dkimSelector: p.text().nullable(),
    dkimPublicKey: p.text().nullable(),
  },
});
export type SenderDomain = InferEntity<typeof SenderDomainEntity>;
