import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { baseProperties } from '../database/base-properties.ts';

/** A domain that a project sends from. Its private key is not a property, so it is loaded only for signing. */
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
    /** Set by the operator without a DNS check; no check takes it back. */
    trusted: p.boolean().default(false),
    /** All required records were found at the last checks. Only then is its email signed. */
    dnsVerified: p.boolean().default(false),
    /** Whether the return-path records are required: true if the instance took inbound mail when the domain was added. */
    returnPath: p.boolean().default(false),
    lastCheckedAt: p.datetime(3).nullable(),
    /** The purposes of the records that the last check found. */
    recordsFound: p.array().default([]),
    dkimSelector: p.text().nullable(),
    dkimPublicKey: p.text().nullable(),
  },
});
export type SenderDomain = InferEntity<typeof SenderDomainEntity>;
