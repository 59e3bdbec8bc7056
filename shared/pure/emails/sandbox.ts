/** The behaviours of sandbox addresses. The local part of an address names one. */
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

/** RFC 6761 section 6.2 reserves `.test`, so no mail server will ever have this domain. */
const SANDBOX_DOMAIN = 'sandbox.everpost.test';

/** The sandbox domains of an installation. Email to their addresses gets its outcome without a mail server. */
export function sandboxDomains(inboundDomain: string | undefined): string[] {
  return inboundDomain === undefined ? [SANDBOX_DOMAIN] : [SANDBOX_DOMAIN, `sandbox.${inboundDomain.toLowerCase()}`];
}

/**
 * What becomes of an email to a sandbox address. A `+` and the text after it are ignored. Undefined for an address
 * outside the sandbox; `unknown` for one that names no behaviour.
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
