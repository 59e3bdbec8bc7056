/** The behaviours of sandbox addresses; the part of the address before `@` names one. */
export const SANDBOX_BEHAVIOURS = [
  'delivered',
  'deferred',
  'bounced',
  'soft-bounced',
  'complained',
  'suppressed',
  'unsubscribed',
] as const;
export type SandboxBehaviour = (typeof SANDBOX_BEHAVIOURS)[number];

/** A domain that no mail server will ever have (RFC 6761 section 6.2). */
const SANDBOX_DOMAIN = 'sandbox.everpost.test';

/** The domains of an installation whose addresses are answered without a server. */
export function sandboxDomains(inboundDomain: string | undefined): string[] {
  return inboundDomain === undefined ? [SANDBOX_DOMAIN] : [SANDBOX_DOMAIN, `sandbox.${inboundDomain.toLowerCase()}`];
}

/**
 * What becomes of an email to an address, whatever stands behind a `+`; undefined where the address is no part of the
 * sandbox, and `unknown` where the sandbox has no such address.
 */
export function sandboxBehaviour(
  address: string,
  domains: readonly string[],
): SandboxBehaviour | 'unknown' | undefined {
  const at = address.lastIndexOf('@');
  if (!domains.includes(address.slice(at + 1).toLowerCase())) return undefined;
  const [name = ''] = address.slice(0, at).toLowerCase().split('+', 1);
  return SANDBOX_BEHAVIOURS.find((behaviour) => behaviour === name) ?? 'unknown';
}
