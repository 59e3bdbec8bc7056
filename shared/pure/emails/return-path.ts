/** The label below a sender domain that bounces return to; its own label, so that the domain's own MX stays. */
const RETURN_PATH_LABEL = 'bounce';

/** The domain of the envelope sender of mail from a verified domain. */
export function returnPathDomain(domain: string): string {
  return `${RETURN_PATH_LABEL}.${domain}`;
}

/** Whether a host is, by its name, where bounces of a sender domain return to. */
export function isReturnPathHost(host: string): boolean {
  return host.startsWith(`${RETURN_PATH_LABEL}.`);
}
