import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { LANGUAGES } from '../../pure/languages/languages.ts';
import type { PublicKeyRules } from '../../pure/public-key-rules.ts';
import type { DoubleOptIn } from '../../pure/double-opt-in.ts';
import type { ProjectPools, ProjectRule } from '../../pure/traffic-rules.ts';
import { CLIENT_ADDRESSES, TRACKING_MODES } from '../../pure/project.ts';
import { baseProperties } from '../../database/base-properties.ts';

export const ProjectEntity = defineEntity({
  name: 'Project',
  tableName: 'project',
  properties: {
    ...baseProperties,
    name: p.text(),
    publicKey: p.text().unique(),
    /** SHA-256 of the secret key, hex. The key itself is shown once and never stored. */
    secretKeyHash: p.text().unique(),
    disabled: p.boolean().default(false),
    tracking: p.enum(TRACKING_MODES).default('MARKETING_ONLY'),
    /** Whether POST /v1/track accepts the secret key, too. */
    trackAcceptsSecretKey: p.boolean().default(false),
    /** The throttle of this project in emails a second; null means the instance's default, 0 means unlimited. */
    emailsPerSecond: p.integer().nullable(),
    /** What the public key may do; null means everything that it can do. */
    publicKeyRules: p.json().$type<PublicKeyRules>().nullable(),
    /** Whether subscriptions through forms have to be confirmed, and how; null means the defaults. */
    doubleOptIn: p.json().$type<DoubleOptIn>().nullable(),
    /** How much of a client's address the record of consent keeps. */
    clientAddresses: p.enum(CLIENT_ADDRESSES).default('SHORTENED'),
    /** The pool of sources of each stream of its mail. */
    pools: p.json().$type<ProjectPools>().nullable(),
    /** Its own traffic rules; those of the installation hold as well. */
    trafficRules: p.json().$type<ProjectRule[]>().nullable(),
    displayName: p.text().nullable(),
    postalAddress: p.text().nullable(),
    logoUrl: p.text().nullable(),
    /** `#rrggbb`. */
    brandColor: p.text().nullable(),
    /** The language for recipients whose own language is unknown. */
    language: p.enum(LANGUAGES).nullable(),
  },
});
export type Project = InferEntity<typeof ProjectEntity>;
