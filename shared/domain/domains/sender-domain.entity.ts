import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { baseProperties } from '../../database/base-properties.ts';

/** A domain that a project sends from. Its private key is not a property, so it is loaded only for signing. */
export const SenderDomainEntity = defineEntity({
  name: 'SenderDomain',
  tableName: 'sender_domain',
  properties: {
    ...baseProperties,
    projectId: p.uuid(),
    domain: p.text(),
    /** Whether email may be sent from the domain: it is `trusted` or `dnsVerified`. */
    verified: p.boolean().default(false),
    verifiedAt: p.datetime(3).nullable(),
    /** Set by the operator without a DNS check. No check changes it. */
    trusted: p.boolean().default(false),
    /** Whether the last checks found all required records. Only then is email of the domain signed. */
    dnsVerified: p.boolean().default(false),
    /** Whether the return-path records are required: the instance received mail when the domain was added. */
    returnPath: p.boolean().default(false),
    lastCheckedAt: p.datetime(3).nullable(),
    /** The purposes of the records that the last check found. */
    recordsFound: p.array().default([]),
    dkimSelector: p.text().nullable(),
    dkimPublicKey: p.text().nullable(),
  },
});
export type SenderDomain = InferEntity<typeof SenderDomainEntity>;
