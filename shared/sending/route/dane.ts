import { createHash, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto';
import type { TlsaData } from 'dns-packet';

const DANE_TA = 2;
const DANE_EE = 3;
const HASHES = ['', 'sha256', 'sha512'] as const;
const CHAIN_MAX = 10;

/** Whether a record can be used for SMTP (RFC 7672 sections 2.2 and 3.1.3): its parameters are known, and its data are what they say. */
export function isUsable({ usage, selector, matchingType, certificate }: TlsaData): boolean {
  if (![DANE_TA, DANE_EE].includes(usage) || selector > 1 || matchingType > 2) return false;
  if (matchingType > 0) return certificate.length === (matchingType === 1 ? 32 : 64);
  return (selector === 0 ? certificateOf : publicKeyOf)(certificate) !== undefined;
}

function certificateOf(der: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(der);
  } catch {
    return undefined;
  }
}

function publicKeyOf(key: Buffer): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function matches({ selector, matchingType, certificate }: TlsaData, candidate: X509Certificate): boolean {
  const content = selector === 0 ? candidate.raw : candidate.publicKey.export({ type: 'spki', format: 'der' });
  const hash = HASHES[matchingType];
  return certificate.equals(hash ? createHash(hash).update(content).digest() : content);
}

const isCurrent = ({ validFromDate, validToDate }: X509Certificate, nowMs: number): boolean =>
  validFromDate.getTime() <= nowMs && nowMs < validToDate.getTime();

const issued = (issuer: X509Certificate, subject: X509Certificate): boolean =>
  subject.checkIssued(issuer) && subject.verify(issuer.publicKey);

/**
 * Whether the chain from the server's certificate leads to one that a record of usage 2 names. Each link must be signed
 * and current, and the server's certificate must have one of the names; its common name counts where it has no DNS names
 * (RFC 7672 section 3.2.3).
 */
function leadsToAnchor(
  records: readonly TlsaData[],
  chain: readonly X509Certificate[],
  names: readonly string[],
  nowMs: number,
): 'certificate-host-mismatch' | 'certificate-expired' | 'validation-failure' | undefined {
  const [leaf] = chain;
  if (!leaf) return 'validation-failure';
  const given = records.flatMap((record) => {
    const whole = record.matchingType === 0 && record.selector === 0 ? certificateOf(record.certificate) : undefined;
    return whole ? [whole] : [];
  });
  const candidates = [...chain.slice(1), ...given];
  const path = [leaf];
  for (let last = leaf; path.length <= CHAIN_MAX;) {
    if (records.some((record) => matches(record, last))) {
      if (!path.every((each) => isCurrent(each, nowMs))) return 'certificate-expired';
      const options = { subject: 'default', partialWildcards: false } as const;
      return names.some((name) => leaf.checkHost(name, options) !== undefined)
        ? undefined
        : 'certificate-host-mismatch';
    }
    const next = candidates.find((each) => !path.includes(each) && issued(each, last));
    if (!next) break;
    path.push(next);
    last = next;
  }
  return 'validation-failure';
}

const SHA_256 = 1;
const SHA_512 = 2;

/** Leaves out digests beside which there is a stronger one of the same kind (RFC 7671 section 9). */
function withoutWeaker(records: readonly TlsaData[]): TlsaData[] {
  const isStronger = (record: TlsaData, than: TlsaData): boolean =>
    record.matchingType === SHA_512 && record.usage === than.usage && record.selector === than.selector;
  return records.filter((each) => each.matchingType !== SHA_256 || !records.some((other) => isStronger(other, each)));
}

/**
 * Checks the certificates of a server against TLSA records (RFC 7672 section 3). A record of usage 3 names the server's
 * own key or certificate, and neither its names nor its dates matter.
 * @param chain in DER, the server's own certificate first
 * @param names the name of the host, at which the records are, and the domain of the recipient
 * @returns the result type of RFC 8460; undefined when a record matches
 */
export function checkDane(
  records: readonly TlsaData[],
  chain: readonly Buffer[],
  names: readonly string[],
  nowMs: number,
): 'certificate-host-mismatch' | 'certificate-expired' | 'validation-failure' | undefined {
  const certificates = chain.flatMap((der) => certificateOf(der) ?? []);
  const [leaf] = certificates;
  const usable = withoutWeaker(records.filter(isUsable));
  if (leaf && usable.some((record) => record.usage === DANE_EE && matches(record, leaf))) return undefined;
  const anchors = usable.filter(({ usage }) => usage === DANE_TA);
  return leadsToAnchor(anchors, certificates, names, nowMs);
}
