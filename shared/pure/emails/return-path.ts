/** The subdomain of a sender domain to which bounces return. Its MX differs from that of the domain, which stays. */
const RETURN_PATH_LABEL = 'bounce';

/** The domain of the envelope sender of email from a verified domain. */
export function returnPathDomain(domain: string): string {
  return `${RETURN_PATH_LABEL}.${domain}`;
}

/** Whether a host has the form of a return-path domain. */
export function isReturnPathHost(host: string): boolean {
  return host.startsWith(`${RETURN_PATH_LABEL}.`);
}
