import type { DnsAnswer, DnsResolver } from '../../platform/dns/resolver.ts';

/** What DNS says about whether a domain takes mail. */
export interface MailDomain {
  /** The name has name servers, of its own or of the zone it lies in, or other records. */
  exists: boolean;
  hasWebsite: boolean;
  /** `null` is the null MX of RFC 7505: a domain that says it takes no mail. */
  mx: 'present' | 'none' | 'null';
  /** A DNS question that the result depends on got no answer. */
  isUnanswered: boolean;
}

/** How many zones above a name are asked for, the name itself included. */
const ZONES_MAX = 4;

function mxOf(answer: DnsAnswer<{ exchange: string }>): MailDomain['mx'] {
  if (answer.kind !== 'found') return 'none';
  return answer.records.some(({ exchange }) => exchange !== '' && exchange !== '.') ? 'present' : 'null';
}

/** The name and those above it down to two labels, nearest first. */
function zonesOf(domain: string): string[] {
  const labels = domain.split('.');
  return labels
    .slice(0, -1)
    .map((_, index) => labels.slice(index).join('.'))
    .slice(0, ZONES_MAX);
}

/** Asks everything at the same time, so that the slowest answer is the wait. */
export async function lookUpMailDomain(resolver: DnsResolver, domain: string): Promise<MailDomain> {
  const [mx, addresses, ...servers] = await Promise.all([
    resolver.mx(domain),
    resolver.addresses(domain),
    ...zonesOf(domain).map((zone) => resolver.ns(zone)),
  ]);
  const [own] = servers;
  const isInZone = own?.kind === 'absent' && !own.isNameUnknown && servers.some(({ kind }) => kind === 'found');
  const exists = own?.kind === 'found' || isInZone || mx.kind === 'found' || addresses.kind === 'found';
  const isMailUnknown = mx.kind === 'failed' || (mx.kind === 'absent' && addresses.kind === 'failed');
  return {
    exists,
    hasWebsite: addresses.kind === 'found',
    mx: mxOf(mx),
    isUnanswered: exists ? isMailUnknown : servers.some(({ kind }) => kind === 'failed') || isMailUnknown,
  };
}

/** Whether mail is delivered to a domain: by MX, or without any by its address records (RFC 5321 section 5.1). */
export function takesMail(domain: MailDomain): boolean {
  return (
    domain.exists && (domain.mx === 'present' || (domain.mx === 'none' && domain.hasWebsite && !domain.isUnanswered))
  );
}
