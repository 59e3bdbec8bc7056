import { dnsDomainOf } from '../../pure/emails/email-address.ts';

/** Domains with the same mail servers, by the provider's main domain. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'gmail.com': ['googlemail.com'],
  'outlook.com': ['hotmail.com', 'hotmail.co.uk', 'hotmail.de', 'hotmail.fr', 'hotmail.it', 'hotmail.es', 'live.com']
    .concat(['live.co.uk', 'live.de', 'live.fr', 'live.it', 'live.nl', 'msn.com', 'passport.com'])
    .concat(['outlook.de', 'outlook.fr', 'outlook.es', 'outlook.it']),
  'yahoo.com': [
    'aol.com',
    'ymail.com',
    'rocketmail.com',
    'yahoo.co.uk',
    'yahoo.de',
    'yahoo.fr',
    'yahoo.it',
    'yahoo.es',
  ],
  'icloud.com': ['me.com', 'mac.com'],
  'gmx.net': ['gmx.de', 'gmx.at', 'gmx.ch', 'gmx.com', 'web.de'],
};

const GROUP_NAMES: ReadonlySet<string> = new Set(Object.keys(GROUPS));
const PROVIDER_OF = new Map(
  Object.entries(GROUPS).flatMap(([provider, domains]) => domains.map((domain) => [domain, provider] as const)),
);

/** The provider of an address: the group that its domain belongs to, or the domain itself, as DNS has it. */
export function recipientProviderOf(address: string): string {
  const domain = dnsDomainOf(address);
  return PROVIDER_OF.get(domain) ?? domain;
}

/** Whether a provider has several domains that are known without a look-up. */
export function isProviderGroup(provider: string): boolean {
  return GROUP_NAMES.has(provider);
}

/**
 * The provider of an address, out of a bounded set for labels of metrics: `other` for every provider without a group.
 */
export function providerGroupOf(addressOrProvider: string): string {
  const provider = recipientProviderOf(addressOrProvider);
  return isProviderGroup(provider) ? provider : 'other';
}
